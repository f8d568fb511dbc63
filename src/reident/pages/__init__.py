"""Write pages from templates; each page holds its style sheet and loads no other file."""

from __future__ import annotations

import base64
import math
import uuid
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure

_FOLDER = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """Return the page of a template; values are escaped as text unless they are `Markup`."""
    return _environment().get_template(f"{template}.html").render(**values)


def write_page(target: Path, template: str, **values: Any) -> Path:
    """Write the page of a template, whole or not at all; return its path."""
    temporary = target.with_name(f".{target.name}-{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_text(render(template, **values), encoding="utf-8")
        return temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "allow_nan": False}
    environment.filters.update(address=lambda path: quote(str(path)), cell=cell, mark=mark, number=number)
    return environment


def cell(value: Any) -> str:
    """Write a value of a table: a number with four figures, a day without its midnight, a gap as an empty text."""
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)


def number(text: str) -> str:
    """Write a number with four figures or one decimal, whatever shows more; leave anything else as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value) or value == int(value):
        return text.removesuffix(".0")
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def mark(text: str) -> str:
    """Return words as the name of a class of rows."""
    return "".join(letter for letter in text.replace(" ", "-") if letter.isalnum() or letter == "-")


def picture(figure: Figure, *, dpi: int = 120) -> str:
    """Return a figure as an address that holds the picture itself."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
