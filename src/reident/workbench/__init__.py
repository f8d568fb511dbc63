"""The daily tool: one risk-utility map over any methods, an assessment of one's own data, a release of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
