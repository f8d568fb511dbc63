"""Registry of anonymisers, attacks and measures of utility by name, for maps, the explorer, the command line, releases.

Adding a method is one file (the function, in its subpackage) and one `Entry` in the table of its role; from outside,
`register` or an entry point of the group ``reident.methods``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
