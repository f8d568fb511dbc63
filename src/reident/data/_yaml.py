"""YAML as people write it: 1e-3 is a number, and a key that stands twice is an error."""

from __future__ import annotations

import re
from typing import Any

import yaml

__all__ = ["read_yaml"]


class _Loader(yaml.SafeLoader):
    """Plain values; numbers with an exponent need no point, as in YAML 1.2."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice: which of its values counts, nobody could tell."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge" and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789"))


def read_yaml(text: str) -> Any:
    """Return the plain values of a text.

    Raises
    ------
    yaml.YAMLError
        If it is none, or holds anything but plain values.

    Examples
    --------
    >>> read_yaml("grid: {epsilon: [1e-3, 0.5], k: [2, 3]}")
    {'grid': {'epsilon': [0.001, 0.5], 'k': [2, 3]}}
    """
    return yaml.load(text, Loader=_Loader)
