"""Answers to queries: differentially private mechanisms, their budget, and how older defences fail."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
