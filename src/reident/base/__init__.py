"""Errors, types, checks, options, streams of random numbers, and the machine: shared by every subpackage.

Each name loads its module when it is first asked for: the command line answers before numpy is there.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
