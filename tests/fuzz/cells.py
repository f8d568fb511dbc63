import itertools

import numpy as np

from fuzz import Case
from reident.kernels.tables import weight_cells


def draw_cell(rng):
    """Rows with small whole values, so that a zero is a zero on either route; the blocks stand together."""
    p, blocks = int(rng.integers(1, 5)), int(rng.integers(0, 5))
    owner = np.repeat(np.arange(blocks), rng.integers(1, 4, blocks)).astype(np.int64)
    return rng.integers(-3, 4, (owner.size, p)).astype(np.float64), owner


def by_block(rows, owner):
    return {int(block): rows[owner == block] for block in np.unique(owner)}


def settle_comp(rows, owner):
    kept, owner, lost, undecided = weight_cells.settle(rows, owner)
    return kept.reshape(-1, rows.shape[1]), owner, lost, undecided


def settle_ref(rows, owner):
    lost = [block for block, own in by_block(rows, owner).items() if any((row <= 0).all() for row in own)]
    keep = [r for r in range(len(rows)) if owner[r] not in lost and (rows[r] < 0).any()]
    undecided = {int(owner[r]) for r in keep}
    return rows[keep], owner[keep], len(lost), len(undecided)


def draw_undecided(rng):
    rows, owner, _, _ = settle_ref(*draw_cell(rng))
    points = rng.dirichlet(np.ones(rows.shape[1]), 3)
    return rows, owner, np.vstack([points, np.eye(rows.shape[1])])


def envelope(rows, owner, point):
    return sum(min([1.0] + [1 - (row @ point) / row.min() for row in own]) for own in by_block(rows, owner).values())


def held(rows, owner, point, least):
    values = [sum(a * b for a, b in zip(row, point, strict=True)) for row in rows]
    return sum(all(values[r] >= least for r in np.flatnonzero(owner == b)) for b in {*owner.tolist()})


def held_comp(rows, owner, points):
    """No point holds more than the bound; what is best held is counted again where the search has seen it."""
    bound, place, best, seen = weight_cells.held_at_most(rows, owner, -1.0)
    above = all(envelope(rows, owner, point) <= bound + 1e-9 for point in [*points, place, seen])
    by_rounding = held(rows, owner, seen, 1e-12) <= best <= held(rows, owner, seen, -1e-12)
    return above, by_rounding, best <= bound + 1e-9, abs(place.sum() - 1) < 1e-9, place.min() >= 0


def draw_game(rng):
    return (rng.integers(-4, 5, (int(rng.integers(1, 4)), int(rng.integers(1, 4)))).astype(np.float64),)


def game_comp(gains):
    place = np.empty(gains.shape[1])
    value = weight_cells.matrix_game(gains, place)
    return value, (gains @ place).min(), place.sum(), place.min() >= 0


def game_ref(gains):
    """Try every corner of the column player's polytope: as many tight constraints as there are columns."""
    p = gains.shape[1]
    limits = [np.append(row, -1.0) for row in gains] + [np.append(unit, 0.0) for unit in np.eye(p)]
    best = -np.inf
    for tight in itertools.combinations(limits, p):
        system = np.array([*tight, np.append(np.ones(p), 0.0)])
        if abs(np.linalg.det(system)) < 1e-9:
            continue
        point = np.linalg.solve(system, np.append(np.zeros(p), 1.0))
        if all(limit @ point >= -1e-9 for limit in limits):
            best = max(best, point[-1])
    return best, best, 1.0, True


def draw_to_cut(rng):
    rows, owner, points = draw_undecided(rng)
    return rows, owner, points[0]


def cut_comp(rows, owner, place):
    """Any cut that divides a cell is right: it goes through an edge, where a row that crosses it is zero."""
    u, w, share = weight_cells.where_to_cut(rows, owner, place)
    at = [abs((1 - share) * row[u] + share * row[w]) for row in rows if w < row.size and row[u] * row[w] < 0]
    return 0 < share < 1, not at or min(at) < 1e-9


CASES = [
    Case(("weight_cells.settle",), draw_cell, settle_comp, settle_ref),
    Case(("weight_cells.held_at_most",), draw_undecided, held_comp),
    Case(("weight_cells.matrix_game",), draw_game, game_comp, game_ref),
    Case(("weight_cells.where_to_cut",), draw_to_cut, cut_comp),
]
