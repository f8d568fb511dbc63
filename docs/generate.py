"""Write the pages of the site that are made from the package: methods, API, claims, errata, notebooks.

Nothing is computed: methods come from the registry, claims from the committed files, notebooks as they are or, where
`results` holds an executed one, with its outputs. Run by `make docs`.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import shutil
from pathlib import Path

import pandas as pd

import reident
from reident.data.datasets import errata
from reident.methods._entry import Entry
from reident.methods.registry import describe, entries
from reident.runner import notebook_title, read_claims
from reident.runner.experiments import experiments

#: Subpackages with public names of their own.
SUBPACKAGES = ("cliques", "data", "location", "networks", "places", "queries", "tables", "workbench")

ROOT = Path(__file__).resolve().parents[1]
ROLES = {"anonymiser": "Anonymisers", "attack": "Attacks", "metric": "Utilities"}


def write(folder: Path, results: Path) -> None:
    """Write all generated pages into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("methods", "api", "notebooks"):
        (folder / part).mkdir(parents=True)
    write_methods(folder / "methods")
    write_api(folder / "api")
    write_claims(folder)
    write_notebooks(folder / "notebooks", results)
    for name in ("CONTRIBUTING", "CHANGELOG", "GUIDE"):
        (folder / f"{name.lower()}.md").write_text(as_page((ROOT / f"{name}.md").read_text(encoding="utf-8")))
    for page in ("figures/README.md", "data/README.md"):
        text = as_page((ROOT / page).read_text(encoding="utf-8"))
        (folder / f"{Path(page).parent.name}.md").write_text(text)
    shutil.copytree(ROOT / "figures", folder / "figures", ignore=shutil.ignore_patterns("*.py", "*.csv", "__pycache__"))


def as_page(text: str) -> str:
    """Return a page of the repository for the site: its pictures and cells are there, other files are plain text."""
    text = re.sub(r"!\[([^\]]*)\]\((?!http)(?:figures/)?([\w/.-]+\.png)\)", r"![\1](figures/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!http|#)[^)]+\)", r"\1", text)


def write_methods(folder: Path) -> None:
    """Write a page for each method, and the list of them."""
    lines = ["# Methods", "", "Every method by name, as `reident methods` lists them.", ""]
    for role, heading in ROLES.items():
        chosen = entries(role)
        for entry in chosen:
            (folder / f"{role}-{entry.name}.md").write_text(method_page(entry), encoding="utf-8")
        lines += [f"## {heading}", "", "| method | for | purpose |", "|---|---|---|"]
        lines += [f"| [{entry.name}]({role}-{entry.name}.md) | {entry.data} | {entry.label} |" for entry in chosen]
        lines += ["", "```{toctree}", ":hidden:", ""]
        lines += [f"{entry.name} ({entry.data}) <{role}-{entry.name}>" for entry in chosen] + ["```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def method_page(entry: Entry) -> str:
    """Return the page of a method: purpose, parameters, and its function's documentation."""
    about = describe(entry)
    rows = [
        f"| `{row['name']}` | {row['type']} | {row['range']} | {row['unit']} | {row['default']} |".replace("None", "")
        for row in about["parameters"]
    ]
    table = ["| parameter | type | range | unit | default |", "|---|---|---|---|---|", *rows] if rows else []
    call = str(about["call"])
    public = call.count(".") < 3
    return "\n".join(
        [
            f"# {entry.name}",
            "",
            f"{about['label']}: {about['role']} for {about['kind']}. Source: {about['source']}.",
            "",
            *([f"Guarantee: {about['guarantee']}", ""] if about.get("guarantee") else []),
            f'By name: `risk_utility(data, ...)` with `"{entry.name}"`; in full `reident methods {entry.name}`.',
            "",
            *table,
            "",
            *(
                ["```{eval-rst}", f".. autofunction:: {call}", "   :no-index:", "```", ""]
                if public
                else [f"Called: `{call}`", ""]
            ),
        ]
    )


def write_api(folder: Path) -> None:
    """Write a page for each subpackage with its public names, and an index with a line for each."""
    lines = ["# API", "", "Start with `open_dataset`, `protect`, `evaluate`, `assess` and `check`.", ""]
    pages = ["reident", *(f"reident.{name}" for name in SUBPACKAGES)]
    for page in pages:
        package = importlib.import_module(page)
        names = sorted(set(package.__all__) - (set() if page == "reident" else set(reident.__all__)))
        parts = [f"# {page}", "", "```{eval-rst}"]
        for name in names:
            thing = getattr(package, name)
            kind = "autoclass" if inspect.isclass(thing) else "autofunction" if callable(thing) else "autodata"
            parts += ["", f".. {kind}:: {page}.{name}", *(["   :members:"] if kind == "autoclass" else [])]
        (folder / f"{page}.md").write_text("\n".join([*parts, "```", ""]), encoding="utf-8")
        lines += [f"## [{page}]({page}.md)", "", _first_line(package), "", "| name | purpose |", "|---|---|"]
        lines += [f"| `{name}` | {_first_line(getattr(package, name))} |" for name in names] + [""]
    lines += ["```{toctree}", ":hidden:", "", *pages, "```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def _first_line(thing: object) -> str:
    """Return the first line of a documentation, for a cell of a table."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def write_claims(folder: Path) -> None:
    """Write every claim with its verdict, and the errata."""
    about = "How a claim is decided, and which rules were changed after a run: [verdicts](../verdicts.md)."
    parts = ["# Every claim", "", about, ""]
    for name, notebook in experiments().items():
        claims = read_claims(ROOT / "figures" / name)
        if claims is None:
            continue
        listed = claims[["item", "place", "verdict", "published", "reproduced", "margin", "n", "data", "note"]]
        parts += [f"## {notebook_title(notebook)}", "", *_table(listed), ""]
    (folder / "claims.md").write_text("\n".join(parts), encoding="utf-8")
    heading = ["# Errata", "", "Slips of the documents, and the values used here instead.", ""]
    (folder / "errata.md").write_text("\n".join([*heading, *_table(errata().astype(str)), ""]), encoding="utf-8")


def _table(frame: pd.DataFrame) -> list[str]:
    """Return a table as lines of Markdown."""
    rows = [[str(value).replace("|", "\\|").replace("\n", " ") for value in row] for row in frame.to_numpy()]
    return ["| " + " | ".join(row) + " |" for row in ([*frame.columns], ["---"] * frame.shape[1], *rows)]


def write_notebooks(folder: Path, results: Path) -> None:
    """Copy the notebooks, executed where `results` holds one."""
    executed = {path.stem: results / name / "notebook.ipynb" for name, path in experiments().items()}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        run = executed.get(path.stem, results / path.stem / "notebook.ipynb")
        notebook = json.loads((run if run.is_file() else path).read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if "injected-parameters" in cell.get("metadata", {}).get("tags", []):
                cell["metadata"]["tags"].append("remove-cell")  # they name the folder of one machine
            cell["outputs"] = [out for out in cell.get("outputs", []) if out.get("name") != "stderr"]
            if cell["cell_type"] != "code":
                del cell["outputs"]
        (folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    arguments = parser.parse_args()
    write(arguments.folder, arguments.results)
