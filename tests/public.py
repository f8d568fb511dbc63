"""The public names of the package: those at its top and those of the subpackages for data and methods."""

import importlib

import reident

SUBPACKAGES = ("cliques", "data", "location", "networks", "places", "queries", "tables", "workbench")

#: The place of each name: "reident" or "reident.tables".
HOMES = {"Rate": "reident.base", "wilson_interval": "reident.base"}
HOMES |= {name: f"reident.{sub}" for sub in SUBPACKAGES for name in importlib.import_module(f"reident.{sub}").__all__}
HOMES |= dict.fromkeys(reident.__all__, "reident")


def named(name):
    """Return the public object of a name."""
    return getattr(importlib.import_module(HOMES[name]), name)
