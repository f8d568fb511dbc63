"""What every room stands on: errors, types, checks, what may be set, streams of random numbers, the machine.

Each name loads its module when it is first asked for: the command line answers before numpy is there.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
