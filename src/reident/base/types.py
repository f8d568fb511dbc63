"""Names for the types that signatures repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Int32Array = NDArray[np.int32]
Generator = np.random.Generator

#: Radius of the sphere on which all distances are measured.
EARTH_RADIUS_KM = 6371.0

#: Whatever `numpy.random.default_rng` takes (SPEC 7).
RNGLike = np.random.Generator | np.random.SeedSequence | int | None

#: Values by name, such as the options of a method: not to be modified.
Options = Mapping[str, Any]

#: Plain JSON values: what a notebook parameter or a sweep parameter may be.
Parameters = dict[str, Any]

#: One row of a table: its values by column.
Row = dict[str, Any]
