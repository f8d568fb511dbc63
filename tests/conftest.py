"""Settings for the whole suite."""

import os

from hypothesis import settings

# The first call of a kernel compiles it, so a deadline would fail at random. Every run has the same inputs; the
# fuzzing profile looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=100_000)
settings.load_profile(os.environ.get("REIDENT_HYPOTHESIS", "suite"))
