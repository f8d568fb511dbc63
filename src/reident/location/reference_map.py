"""Attack. Locate the records and the secret points of a Lipschitz embedding from the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import shapely

from reident.base import FloatArray, Generator, IntArray, RNGLike, check_area, check_rng
from reident.location.alignment import best_motions
from reident.location.holdout_validation import HeldOut, by_record, certify, hide
from reident.location.local_maps import LocalMap
from reident.location.localisation import Localisation, check_known_places
from reident.location.population_density import PopulationDensity, hull_km2
from reident.location.reference_sets import HiddenCoordinates, check_release, check_table, recover_coordinates
from reident.location.registration import registration_attack
from reident.location.rounded_coordinates import is_fine
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places.points import degrees, unit_vectors

# Deviation, km, up to which an equation between unrounded numbers holds; with a step, its share up to which one does.
_EXACT_KM, _OF_STEP = 1e-6, 0.2
# With fine steps, whose values rest on fewer distances: the share; up to so many km the whole step; km at least.
_OF_FINE_STEP, _WHOLE_STEP_KM, _FINEST_KM = 0.5, 0.01, 3e-6
#: Step, km, above which no map is begun: with noise of 20 km one was, wrong and yet sure of itself.
COARSEST_STEP_KM = 5.0
_SLACK = 3.0  # steps by which a place may contradict a released distance, which is never longer than the true one
# Ranks of the records, by how close their neighbours lie, from which a map is begun: neither the tightest towns, whose
# records share all their references, nor the loneliest.
_RANKS = (0.04, 0.12, 0.2, 0.3, 0.45, 0.6, 0.01, 0.36, 0.25, 0.52, 0.08, 0.16, 0.7, 0.4, 0.8, 0.56)
_FEWEST = 8  # records of a map that is reported
_SCATTER = 0.01  # blur of an outline, as a share of the side of a square of its size


@dataclass(frozen=True, eq=False)
class ReferenceMap:
    """Places of records and secret points of a Lipschitz embedding, and the evidence for them.

    Attributes
    ----------
    positions : DataFrame
        One row a record, in the release's order and index: `lat_deg`, `lon_deg`; `explained`, the share of its hidden
        coordinates that its place explains; `p_value`, the probability that so many values agree at a place more than a
        metre and more than a step (with fine steps five) off, at least that of the map; nan where not located.
    references : DataFrame
        The secret points: `set` (a column of `coordinates`), `lat_deg`, `lon_deg`.
    frame : {"own", "area", "known"}
        Source of the motion: none (all is true up to one motion and mirror image), the outline, or a file.
    coordinates : HiddenCoordinates
        The recovered coordinates.
    held_out : float
        Share of the values withheld from the map that it explains; nan if there is none.
    n_held_out : int
        Number of these values.
    p_value : float
        Probability that so many would be explained were they values of other records, at random or of neighbours. A
        small one is evidence for the map as a whole up to a motion, not for the motion nor for each record.
    linkage : Localisation or None
        With a file: the result of `registration_attack` on the located records.
    """

    positions: pd.DataFrame
    references: pd.DataFrame
    frame: str
    coordinates: HiddenCoordinates
    held_out: float
    n_held_out: int
    p_value: float
    linkage: Localisation | None

    def __len__(self) -> int:
        """Return the number of located records."""
        return int(self.positions["lat_deg"].notna().sum())

    def is_certified(self, level: float = 0.01) -> bool:
        """Return whether the p-value is at most `level`."""
        return bool(self.p_value <= level)


def locate_by_reference_sets(
    release: Any,
    area: Any = None,
    known: Any = None,
    *,
    quasi: str | Sequence[str] = (),
    step_km: float | None = None,
    rng: RNGLike = None,
) -> ReferenceMap:
    """Locate the records of a Lipschitz embedding from its matrix alone.

    `recover_coordinates` gives each record's distances to the nearest place of the secret sets, up to sign and shift.
    One fit to a record and its thirteen nearest fixes places, signs and shifts; then circles round known references
    place further records, and circles round records further references. The map is right up to one motion and mirror
    image, which the outline of the area or a file fixes.

    Parameters
    ----------
    release : array_like of shape (n, n), MetricMicrodata, or tuple of DataFrame and array-like
        Released distances, km; nan for one that is missing. At least 14 records are needed to begin. Not modified.
    area : polygon, GeoSeries or GeoDataFrame, optional
        Where the reference places were drawn, a public border as a rule: records and references are moved inside. Of an
        area that a turn or a mirror image maps onto itself, the motion is one of several.
    known : DataFrame or GeoDataFrame, optional
        Known records with places, as for `registration_attack`, which then fixes the motion and links. It comes before
        `area`.
    quasi : str or sequence of str
        Columns that both tables share, for the links; the release must then be a table with distances. Without any,
        exact places link by themselves, with no certificate.
    step_km : float, optional
        Step to which the distances are rounded, as for `recover_coordinates`. Above 5 km no record is placed. Default:
        the numbers are exact.
    rng : Generator, int or None
        Drives which values are held out, and the registration.

    Returns
    -------
    ReferenceMap
        Without a place for any record where the matrix has no equal differences.

    Raises
    ------
    DataError, ParameterError
        If `release` holds no distance matrix, `area` no polygon, `step_km` is not above 0, or `known` or `quasi` break
        the rules of `registration_attack`.

    Notes
    -----
    Neither the number nor the size of the sets is used. A record is placed by at least four equations, two more than
    its unknowns, that hold to a millimetre; unrelated ones do so with a probability of about 1e-13. Of maps begun at
    several records the largest counts; records that share no reference with it stay unlocated. Rounded or noisy
    distances have no exact equalities and give no place without `step_km`; with it, more equations are required, and a
    record nearer to others than released distances allow, which are never longer than the true ones, is dropped.

    A certified map may hold a wrong record: read the p-value of each. Of 21,427 records of rounded and noisy releases
    certified at .05, on fresh files, 5 lay more than a step off, in two maps of a few records.

    Beyond Kroll and Schnell (2016), whose recommended setting (20 sets of 30 places) it opens.

    Examples
    --------
    >>> from shapely import box
    >>> from reident import embed_distances
    >>> rng = np.random.default_rng(3)
    >>> lat, lon = rng.uniform(50, 52, 80), rng.uniform(8, 11, 80)
    >>> released = embed_distances(
    ...     lat, lon, n_reference_sets=15, reference_set_size=3, area=box(8, 50, 11, 52), rng=1
    ... )
    >>> found = locate_by_reference_sets(released, rng=1)
    >>> len(found), found.is_certified()
    (80, True)
    """
    distances = check_release(release)
    table = check_table(release, len(distances))
    outline = None if area is None else check_area(area)
    if known is not None:
        check_known_places(known)
    rng = check_rng(rng)
    coordinates = recover_coordinates(distances, step_km)
    tol = _tolerance_km(step_km, len(distances))
    filled = np.isfinite(coordinates.values_km).sum(axis=0)
    columns = np.flatnonzero(filled >= max(_FEWEST, len(distances) // 40))
    values = np.ascontiguousarray(coordinates.values_km[:, columns].T)
    withheld, unseen = hide(values, tol, rng)
    island, certificate = None, HeldOut()
    if step_km is None or step_km <= COARSEST_STEP_KM:
        island = _largest_map(np.where(unseen, np.nan, values), distances, tol)
    if island is not None:
        certificate = certify(island, values, withheld, rng)
        island.values = values
        island.grow()
        island.forget_unconfirmed()
        if step_km is not None:
            island.forget_contradicted(_SLACK * step_km)
    if island is None or len(island) < _FEWEST:
        island, certificate = None, HeldOut()
    frame, linkage = "own", None
    if island is not None and known is not None:
        frame, linkage = "known", _register(island, table, known, quasi, rng)
    elif island is not None and outline is not None:
        frame = "area"
        island.turn(_motion_inside(np.concatenate([island.x[island.located], island.flat_references()]), outline))
    positions, references = _tables(island, certificate.p_value, table.index, columns)
    return ReferenceMap(positions, references, frame, coordinates, *certificate, linkage)


def _tolerance_km(step_km: float | None, n: int) -> float:
    """Return the deviation, km, up to which an equation between recovered values holds."""
    if step_km is None:
        return _EXACT_KM
    if is_fine(step_km, n):
        return max(min(step_km, max(_WHOLE_STEP_KM, _OF_FINE_STEP * step_km)), _FINEST_KM)
    return _OF_STEP * step_km


def _largest_map(values: FloatArray, distances: FloatArray, tol: float = _EXACT_KM) -> LocalMap | None:
    """Return the largest of the local maps grown from several seeds; None if none has enough records."""
    n = len(distances)
    far = np.where(np.isnan(distances), np.inf, distances)
    order = np.argsort(np.sort(far, axis=1)[:, min(13, n - 1)], kind="stable")
    largest, is_tried = None, np.zeros(n, dtype=np.bool_)
    for rank in _RANKS:
        rest = order[~is_tried[order]]
        if not rest.size:
            break
        centre = rest[int(rank * rest.size)]
        is_tried[centre] = True
        new = LocalMap(values, distances, tol)
        if not new.seed(centre):
            continue
        new.grow()
        if len(new) >= _FEWEST:
            is_tried |= new.located
            largest = new if largest is None or len(new) > len(largest) else largest
            if len(largest) > 0.98 * n:
                break
    return largest


def _motion_inside(points: FloatArray, outline: Any) -> FloatArray:
    """Return the motion, perhaps with a mirror, that brings unit vectors inside an outline."""
    border = unit_vectors(*shapely.get_coordinates(outline).T[::-1])
    density = PopulationDensity(None, outline, scatter_km=_SCATTER * hull_km2(border) ** 0.5)
    return best_motions(points, density)[0][1]


def _register(
    island: LocalMap, table: pd.DataFrame, known: Any, quasi: str | Sequence[str], rng: Generator
) -> Localisation:
    """Turn a local map, in place, onto a known file; return the registration."""
    x = island.x[island.located]
    km = gaps_km(x[:, None], x[None])
    km = (km + km.T) / 2
    np.fill_diagonal(km, 0.0)
    linkage = registration_attack((table[island.located], km), known, quasi=quasi, rng=rng)
    found = unit_vectors(linkage.positions["lat_deg"], linkage.positions["lon_deg"])
    if np.isfinite(found).all():
        island.turn(procrustes(x, found))
    return linkage


def _tables(
    island: LocalMap | None, p_value: float, index: pd.Index, columns: IntArray
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of records and of references."""
    records, references = np.full((len(index), 4), np.nan), np.empty((0, 3))
    if island is not None:
        rows = island.located
        deviation, _ = island.deviations()
        n_asked = np.maximum(np.isfinite(deviation).sum(axis=0), 1)
        explained = (np.abs(deviation) < island.tol).sum(axis=0) / n_asked
        p_values = np.maximum(by_record(island), p_value)
        records[rows] = np.column_stack([*degrees(island.x), explained, p_values])[rows]
        references = np.column_stack([np.repeat(columns, island.counts), *degrees(island.flat_references())])
    positions = pd.DataFrame(records, index, ["lat_deg", "lon_deg", "explained", "p_value"])
    return positions, pd.DataFrame(references, columns=["set", "lat_deg", "lon_deg"]).astype({"set": int})
