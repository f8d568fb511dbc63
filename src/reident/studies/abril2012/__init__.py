"""Study abril2012: record linkage with learned weights (Abril, Navarro-Arribas, Torra, Ann. Oper. Res. 195, 2012).

Files of 400 records drawn from the CASC reference file Census are microaggregated in seven ways and linked to their
originals. What the paper does not say follows from its own table 1:

- *Columns.* "The first n variables" are those in the order of the CASC file; copies sorted by name give other ratios.
- *Protection.* MDAV on columns as they are. On standardised columns the mean distance links far more than printed.
- *Direction.* A released record is compared with all originals.
- *Draw.* The paper's 400 records are not published: ratios are distributions over draws here. Tables 3 to 5 and
  figures 1 and 2 show one stated draw, that of seed 6, picked among 60 because its simple-mean ratios are nearest to
  print.

Without the CASC file (see `reident.data.datasets.load_casc`) a simulated table of the same size stands in, and every
figure says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from reident.base import Choice, Option, ParameterError, Whole, check_choice, check_integer, check_listed
from reident.data.papers import PAPERS
from reident.studies.parameters import Listed
from reident.studies.study import Study

__all__ = ["FILES", "MODELS", "PROFILES", "SHOWN_SEED", "STUDY", "Profile", "run"]

#: The paper's names of its seven protections.
FILES = ["M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853", "M7-999"]

#: Columns of which a Choquet integral is learned, at most.
MOST_COLUMNS = 8

#: What is learned: weights of columns, or of sets of columns.
MODELS = ("weighted_mean", "choquet")

#: Seed of the draw that tables 3 to 5 and figures 1 and 2 show.
SHOWN_SEED = 6


class Protection(Option):
    """A protection: a name of the paper, or ``{"name", "groups", "k"}`` and perhaps ``"columns"``.

    `groups` gives the number of columns of each group, `k` the smallest cluster, one or one a group; the columns are
    the first ones of the table, or those named.
    """

    @property
    def range(self) -> str:
        """The names, and the entries of an own protection."""
        return f"{', '.join(FILES)}, or an own one: name, groups, k, columns"

    def check(self, value: Any, name: str) -> Any:
        """Return the name or the own protection, or raise `ParameterError`."""
        if not isinstance(value, Mapping):
            return check_choice(value, name, FILES)
        if not {"name", "groups", "k"} <= set(value) <= {"name", "groups", "k", "columns"}:
            raise ParameterError(f"`{name}` must give name, groups and k, perhaps columns, got {sorted(value)}")
        called = value["name"]
        if not isinstance(called, str) or not called or called in FILES:
            raise ParameterError(f"`{name}: name` must be a text that is no name of the paper, got {called!r}")
        sizes = [
            check_integer(size, f"{name}: groups", low=1) for size in check_listed(value["groups"], f"{name}: groups")
        ]
        if not 1 <= sum(sizes) <= MOST_COLUMNS:
            raise ParameterError(
                f"`{name}: groups` must hold 1 to {MOST_COLUMNS} columns together, got {sum(sizes)}: a Choquet "
                "integral is learned of them"
            )
        smallest = value["k"] if isinstance(value["k"], list) else [value["k"]] * len(sizes)
        if len(smallest) != len(sizes):
            raise ParameterError(f"`{name}: k` must be one number or one a group ({len(sizes)}), got {smallest!r}")
        for k in smallest:
            check_integer(k, f"{name}: k", low=1)
        columns = value.get("columns")
        if columns is not None and len(check_listed(columns, f"{name}: columns")) != sum(sizes):
            raise ParameterError(f"`{name}` must group each of its columns, got {sum(sizes)} in `groups`")
        if columns is not None and len(set(columns)) < len(columns):
            raise ParameterError(f"`{name}: columns` must name each column once, got {columns!r}")
        return dict(value)


@dataclass(frozen=True)
class Profile:
    """How much of the study a profile covers, and the paper's conditions.

    `k` replaces the smallest cluster of every group of every protection.
    """

    protections: Annotated[list[Any], Listed(Protection())]
    draws: Annotated[int, Whole(2, why="an interval is drawn from the differences between draws")]
    probabilistic_draws: int
    time_limit_s: float
    mask_draws: int
    mask_tables: tuple[str, ...]
    mask_records: int
    resamples: int
    race_sizes: list[int]
    race_limit_s: float
    variant_limit_s: float
    whole_limit_s: float
    n_records: Annotated[int, Whole(20, 540, why="as many others are drawn, of 1,080")] = 400
    models: Annotated[tuple[str, ...], Listed(Choice(*MODELS))] = MODELS
    k: Annotated[int | None, Whole(1, 270, unit="records")] = None
    data: Annotated[str, Choice("", "census", "simulated")] = ""  # "": census if it is at hand

    def __post_init__(self) -> None:
        """Check what no parameter alone can break."""
        own = [one for one in self.protections if isinstance(one, Mapping)]
        names = [one["name"] for one in own]
        if len(set(names)) < len(names):
            raise ParameterError(f"`protections` must have names of their own, got {names!r}")
        told = {"k": self.k} if self.k is not None else {}
        told |= {f"protections: k of {one['name']}": k for one in own for k in ([one["k"]] if self.k is None else [])}
        for name, k in told.items():
            if 2 * max(k if isinstance(k, list) else [k]) > self.n_records:
                raise ParameterError(
                    f"`{name}` must be at most half of `n_records` ({self.n_records}), got {k}: a single cluster of "
                    "all records tells none of them apart"
                )


#: Full has 20 draws, and 300 s for each proof on all 1,080 records.
PROFILES = {
    "smoke": Profile(["M4-33", "M7-999"], 2, 1, 0.5, 1, ("census",), 60, 3, [20], 0.5, 0.2, 0.2),
    "quick": Profile(FILES, 2, 1, 3.0, 1, ("census", "adult"), 400, 10, [20, 30], 3.0, 0.5, 1.0),
    "full": Profile(
        FILES,
        20,
        5,
        120.0,
        4,
        ("census", "tarragona", "eia", "adult"),
        400,
        50,
        [20, 40, 100, 200, 400],
        30.0,
        5.0,
        300.0,
    ),
}

STUDY = Study(
    name="abril2012",
    document=PAPERS["abril2012"],
    title="Record linkage with learned weights",
    notebook="03-abril2012-choquet-linkage",
    seed=2012,
    profiles=PROFILES,
    conditions=("n_records", "k"),
    figures=(
        "figure-1-lattice-m4-28",
        "figure-2-lattice-m6-385",
        "table-1-ratios",
        "table-2-seconds",
        "race-of-formulations",
        "printed-measures",
        "inside-and-outside",
        "leaking-attributes",
        "ru-map",
        "ru-map-maskings",
    ),
    module=__name__,
    quick_minutes=1.9,
    result="trials",
)
run = STUDY.run
