"""One page of all committed figures: each with its caption, the study it comes from and the command that draws it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from reident.base import DataError
from reident.runner._index import SAID, counts, read_comparison
from reident.runner._ledger import committed_ledgers, experiments_table, markdown
from reident.runner._parameters import notebook_title
from reident.runner.experiments import citation_of, experiments
from reident.studies.captions import caption, draw_all, title
from reident.studies.catalogue import available_studies
from reident.studies.study import Results, Study

__all__ = ["PAGE", "collect", "gallery", "verdicts", "write_gallery"]

#: The page's name in the folder of figures; a forge shows it with the folder.
PAGE = "README.md"


def gallery(folder: str | Path) -> str:
    """Return the page of the figures in `folder`, which has one folder a document, as Markdown.

    Raises
    ------
    DataError
        If a figure there belongs to no study, so that nobody could draw it again.
    """
    folder = Path(folder)
    parts = [
        "# Every figure",
        "Made by `reident gallery`, the figures by the command under each heading (with `--out` for another folder). "
        "Captions are made from the results that were drawn.",
    ]
    shown: set[Path] = set()
    for name, notebook in experiments().items():
        entries = list(_of_experiment(folder / name))
        shown.update(path for path, _ in entries)
        if entries:
            parts += [
                f"## {notebook_title(notebook)}",
                f"{citation_of(name)} Notebook [{notebook.stem[:2]}](../notebooks/{notebook.name}), claims in "
                f"[claims.csv]({name}/claims.csv).",
                f"```console\nreident figures {name}\n```",
                *(f"### {path.stem}\n\n{text}\n\n![{text}]({name}/{path.name})" for path, text in entries),
            ]
    for study in available_studies():
        entries = list(_entries(study, folder / study.stem))
        shown.update(path for path, _ in entries)
        if entries:
            parts += [
                f"## {study.title}",
                f"{study.document.citation} Study `{study.name}`, notebook "
                f"[{study.notebook[:2]}](../notebooks/{study.notebook}.ipynb).",
                *_provenance(study, folder),
                f"```console\nreident figures {study.name}\n```",
                *(_entry(path, text, folder) for path, text in entries),
            ]
    strangers = sorted(set(folder.glob("*/*.png")) - shown)
    if strangers:
        raise DataError(f"`folder` must hold figures of studies only, got {strangers[0]}: no function draws it")
    return "\n\n".join(parts) + "\n"


def collect(results: str | Path, folder: str | Path) -> list[str]:
    """Copy the figures, the comparison with print and the profile of every study in `results`; return their names.

    `results` is what `reident reproduce` wrote. A study that is not there keeps what `folder` has of it.
    """
    collected = []
    for name in experiments():
        source, target = Path(results) / name, Path(folder) / name
        if (source / "figures" / "captions.csv").is_file():
            target.mkdir(parents=True, exist_ok=True)
            for drawing in [*(source / "figures").iterdir(), source / "claims.csv"]:
                shutil.copyfile(drawing, target / drawing.name)
            collected.append(name)
    for study in available_studies():
        source, target = Path(results) / study.name, Path(folder) / study.stem
        if not (source / "study.json").is_file():
            continue
        target.mkdir(parents=True, exist_ok=True)
        for name in study.figures:
            for kind in ("png", "svg"):
                shutil.copyfile(source / "figures" / f"{name}.{kind}", target / f"{name}.{kind}")
        for kind, file in (("csv", "comparison.csv"), ("json", "study.json")):
            shutil.copyfile(source / file, target / f"{study.name}.{kind}")
        if (source / "frames").is_dir():
            run = Results.load(source)
            for drawn in draw_all(study, run):
                (target / f"{drawn.name}.txt").write_text(f"{caption(drawn)}\n", encoding="utf-8")
        collected.append(study.name)
    return collected


def _of_experiment(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the figures of an experiment with their findings, in the order of the notebook."""
    captions = read_comparison(folder / "captions.csv")
    for row in [] if captions is None else captions.to_dict("records"):
        yield folder / f"{row['figure']}.png", row["title"]


def verdicts(study: Study, folder: str | Path) -> str:
    """Say how many claims got which verdict in the study that the figures in `folder` were drawn from."""
    comparison = read_comparison(Path(folder) / study.stem / f"{study.name}.csv")
    found = counts(comparison)
    return ", ".join(f"{found[verdict]} {SAID.get(verdict, verdict)}" for verdict in sorted(found))


def _provenance(study: Study, folder: Path) -> Iterator[str]:
    described = folder / study.stem / f"{study.name}.json"
    if described.is_file():
        told = json.loads(described.read_text(encoding="utf-8"))
        yield (
            f"Profile `{told['profile']}`, seed {told['seed']}. Claims: {verdicts(study, folder)} "
            f"([each beside the reproduced one]({study.stem}/{study.name}.csv))."
        )


def _entries(study: Study, folder: Path) -> Iterator[tuple[Path, str]]:
    for name, draw in study.drawings().items():
        if (folder / f"{name}.png").is_file():
            kept = folder / f"{name}.txt"
            # The caption was made from the results; without one it is told what the figure shows.
            told = kept.read_text(encoding="utf-8").strip() if kept.is_file() else title(draw, study.words)
            yield folder / f"{name}.png", told


def _entry(path: Path, text: str, folder: Path) -> str:
    place = path.relative_to(folder).as_posix()
    return f"### {path.stem}\n\n{text} ([SVG]({place.removesuffix('.png')}.svg))\n\n![{text}]({place})"


#: Between these lines a README beside the folder of figures holds the matrix of the ledgers.
MARKS = ("<!-- ledgers -->\n", "<!-- end of ledgers -->\n")


def write_gallery(folder: str | Path) -> Path:
    """Write the page into the folder of figures, and the matrix into a README beside it that has its marks."""
    page = Path(folder) / PAGE
    text = gallery(folder)
    page.write_text(text, encoding="utf-8")
    readme = Path(folder).resolve().parent / PAGE
    if readme.is_file() and MARKS[0] in (held := readme.read_text(encoding="utf-8")):
        before, _, rest = held.partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        told = f"{markdown(committed_ledgers(folder))}\n{experiments_table(folder)}"
        readme.write_text(f"{before}{MARKS[0]}{told}{MARKS[1]}{after}", encoding="utf-8")
    return page
