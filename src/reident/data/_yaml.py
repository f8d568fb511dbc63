"""YAML 1.2 (core schema): NO, 12:30 and dates are text, 1e-3 is a number, a key that stands twice is an error."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml

#: Plain words with a meaning, by the tag of it. A number with a zero before it is text, else the zero would be lost.
_CORE = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|"
    r"\.(?:nan|NaN|NAN)",
}
#: Text that YAML 1.1 takes for a truth value, a number or a time.
_OLD = re.compile(r"(?i:y|n|yes|no|on|off)|[-+]?0\d+|\d+(?::[0-5]?\d)+|[-+]?\d+(?:_\d+)+")


class _Loader(yaml.SafeLoader):
    """Plain values of the core schema."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse an alias: a few lines of them stand for gigabytes, or for themselves."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.composer.ComposerError(None, None, f"alias *{event.anchor}: write it out", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice: it has two values."""
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
            keys.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """Values that YAML 1.1 and 1.2 read alike."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (a rule for all)
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Write line ends other than that of Unix escaped, since a reader would make blanks of them."""
    style = '"' if re.search("[\r\x85\u2028\u2029\ufeff]", value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
for _tag, _pattern in _CORE.items():
    _compiled = re.compile(rf"^(?:{_pattern})$")
    for _reader in (_Loader, _Dumper):
        _reader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _compiled, None)


def read_yaml(text: str) -> Any:
    """Return the plain values of a text.

    Raises
    ------
    yaml.YAMLError
        If it is none, holds anything but plain values, an alias, or a key twice.

    Examples
    --------
    >>> read_yaml("grid: {epsilon: [1e-3, 0.5], country: [DE, NO], plz: [01067, 80331]}")
    {'grid': {'epsilon': [0.001, 0.5], 'country': ['DE', 'NO'], 'plz': ['01067', 80331]}}
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise yaml.YAMLError("the brackets are nested too deeply") from None


def write_yaml(values: Any) -> str:
    """Return plain values as YAML; `read_yaml` returns them again."""
    return str(yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))


def text_hint(value: Any) -> str:
    """Return a hint about text that older YAML takes for another value, "" for other values."""
    if not isinstance(value, str) or not _OLD.fullmatch(value):
        return ""
    return f"; {value} is text in YAML 1.2: truth values are written true and false, numbers without a zero before them"
