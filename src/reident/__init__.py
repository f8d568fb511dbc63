"""reident: a workbench for disclosure risk.

It protects microdata, attacks the protected release the way an intruder would, measures what was disclosed and what
the release is still good for, and draws both on one risk-utility map. The public names below load their module when
they are first used, so that importing the package costs next to nothing.
"""

from pathlib import Path

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)

# Rooms (`reident.tables`) can be asked for, but are no public names.
__all__ = [name for name in _names if not Path(__file__).with_name(name).is_dir()]
