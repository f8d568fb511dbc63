"""Locate the records of released distances: by a map of the population, by a file, or by hidden reference sets."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
