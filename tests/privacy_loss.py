"""Statistical tests of the privacy loss itself, for mechanisms with seeded noise."""

import warnings

from reident import PrivacyWarning
from reident.queries import privacy_loss_bound


def seeded(function, *args, **kws):
    """Call with the warning about seeded noise silenced."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*noise that can be repeated", category=PrivacyWarning)
        return function(*args, **kws)


def loss_bounds(left, right, *, level):
    """Return the loss that the samples show, with error probability `level`."""
    return privacy_loss_bound(left, right, level=1 - level)


def assert_loss_at_most(left, right, epsilon, *, level=1e-4):
    """Fail if the samples show, with error probability `level`, a privacy loss above `epsilon`."""
    shown = loss_bounds(left, right, level=level)
    assert shown <= epsilon, f"a loss of at least {shown:.3f} is shown, {epsilon} was promised"
