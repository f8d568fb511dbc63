"""Every anonymiser, attack and metric by name: the registry behind the command line, the explorer, maps and releases.

Adding a method is one file (the function, in its layer) and one `Entry` in the module of its kind of data here; from
outside, `register` or an entry point of the group ``reident.methods``.
"""

from __future__ import annotations

from reident.methods._entry import CALLS, DATA, ROLES, Entry, Parameter
from reident.methods.catalogue import ENTRIES, entries, find, methods_table, told
from reident.methods.registering import register

__all__ = [
    "CALLS", "DATA", "ENTRIES", "ROLES", "Entry", "Parameter", "entries", "find", "methods_table", "register", "told",
]  # fmt: skip
