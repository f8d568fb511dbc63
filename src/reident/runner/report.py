"""The whole reproduction as one static site: every run with its claims and figures, the errata, figures for print.

The site is made from the output folder of `reproduce`; no trial is computed again. It can be copied to any web server
or opened from the file system.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from reident.base import DataError, publish_folder
from reident.data.datasets import PAPERS, errata
from reident.pages import write_page
from reident.runner._execute import NOTEBOOK, PAGE, RECORD
from reident.runner._index import read_records, write_index
from reident.runner.experiments import PRINT, draw_again, experiments


def write_report(out: str | Path, site: str | Path, *, draw: bool = True) -> Path:
    """Write the site of all experiments that have been reproduced in `out` into `site`; return its ``index.html``.

    An earlier site is replaced, a folder with other files refused. With `draw` every figure is drawn again from the
    stored trials as PDF, into ``figures-for-print``.
    """
    out, site = Path(out), Path(site)
    names = [record["name"] for record in read_records(out) if record["name"] in experiments()]
    if not names:
        raise DataError(f"no experiment has been reproduced in {str(out)!r}: run `reident reproduce --out {out}` first")

    def fill(temporary: Path) -> None:
        for name in names:
            _copy_run(out / name, temporary / name)
            if draw:
                draw_again(name, out, temporary / PRINT / name, width_mm=170, formats=("pdf",))
        documents = [
            (PAPERS[str(stem)], rows.to_dict("records")) for stem, rows in errata().groupby("stem", sort=False)
        ]
        write_page(temporary / "errata.html", "errata", documents=documents)
        write_index(temporary, site=True)

    publish_folder(site, fill, replace=True, parameter="site")
    return site / "index.html"


def _copy_run(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in (NOTEBOOK, PAGE, RECORD, "claims.csv"):
        if (source / name).is_file():
            shutil.copy2(source / name, target / name)
    if (source / "figures").is_dir():
        shutil.copytree(source / "figures", target / "figures")
