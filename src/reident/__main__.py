"""``python -m reident``: the command line, where the command `reident` is not on the path."""

from reident.cli import main

if __name__ == "__main__":
    main()
