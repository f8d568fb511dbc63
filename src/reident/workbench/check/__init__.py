"""Check a release against its original along the pairs."""

from reident.workbench.check.checking import check
from reident.workbench.check.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict", "check"]
