"""Places and distances: masks, embeddings, attacks on them, and utility of a release."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
