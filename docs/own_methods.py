"""Write the tables of own-methods.md, of what the package says: what a method is given, and what it must return."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from numpydoc.docscrape import NumpyDocString

from reident.methods import CALLS
from reident.methods.forms import FORMS
from reident.methods.given import GIVEN, Given
from reident.methods.outcome import Knowledge, Outcome
from reident.methods.release import Release
from reident.methods.utilities import FURTHER, UTILITIES

PAGE = Path(__file__).with_name("own-methods.md")


def tables() -> dict[str, list[list[str]]]:
    """Return each table of the page by its name, the heads first."""
    return {
        "given": [["argument", "type", "kinds of data", "what it is"], *_given(GIVEN)],
        "returns": [["form", "what is returned"], *([f"`{name}`", form.returns] for name, form in FORMS.items())],
        "release": [["attribute", "type", "what it is"], *_attributes(Release)],
        "knowledge": [["attribute", "type", "what it is"], *_attributes(Knowledge)],
        "outcome": [["attribute", "type", "what it is"], *_attributes(Outcome)],
        "calls": [
            ["form", "how it is called"],
            *([f"`{name}`", CALLS[name].replace("*", r"\*")] for name in UTILITIES),
        ],
        "further": [["argument", "type", "forms", "what it is"], *_given(FURTHER)],
    }


def _given(names: dict[str, Given]) -> list[list[str]]:
    return [[f"`{name}`", one.types, one.kinds.replace(" ", ", "), one.meaning] for name, one in names.items()]


def _attributes(owner: type[Any]) -> list[list[str]]:
    told = NumpyDocString(inspect.getdoc(owner))["Attributes"]
    return [[f"`{one.name}`", one.type, " ".join(" ".join(one.desc).split())] for one in told]


def written(text: str) -> str:
    """Return the text of the page with its tables as they should be."""
    for name, (heads, *rows) in tables().items():
        lines = ["| " + " | ".join(row) + " |" for row in (heads, *rows)]
        table = "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        text = marked.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
