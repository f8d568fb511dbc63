"""``python -m reident``: the command line, where the command `reident` is not on the path."""

import sys

from reident.cli import main

if __name__ == "__main__":
    sys.exit(main())
