"""The errors and warnings of the package: three exceptions, two warnings."""

from __future__ import annotations

import warnings

__all__ = ["DataError", "ParameterError", "PrivacyWarning", "SearchLimitWarning", "TrialError"]


class ParameterError(ValueError):
    """A parameter breaks its rule; the message names the parameter, the rule, the value and the reason."""


class DataError(ValueError):
    """A table, matrix, graph or file breaks its rule; the message names the object, the place and the reason."""


class TrialError(RuntimeError):
    """A trial of a sweep failed; the message names its settings, and finished trials are kept."""


class SearchLimitWarning(UserWarning):
    """A search ended at its limit: the result is the best so far, not proven optimal."""


class PrivacyWarning(UserWarning):
    """A release says more than its method promises, for example because its noise is seeded."""


# Tracebacks name them as users import them.
for _name in __all__:
    globals()[_name].__module__ = "reident"


def quiet(category: type[Warning] = SearchLimitWarning) -> warnings.catch_warnings[None]:
    """Return a context without warnings of a kind, by default of searches that end at their limit: a column says so."""
    return warnings.catch_warnings(action="ignore", category=category)
