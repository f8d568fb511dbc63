"""A table of bad inputs to the public functions, by the package that holds the function.

`GOOD` holds a call of every function that works. A row of `BAD` changes it in one place, and says which error must
come and what its message must contain: the parameter, its rule, and the value or the reason.
"""

from house.bad_inputs import networks, places, queries, tables, workbench

__all__ = ["BAD", "GOOD"]

_ROOMS = (places, tables, networks, queries, workbench)
GOOD = {function: call for room in _ROOMS for function, call in room.GOOD.items()}
BAD = [row for room in _ROOMS for row in room.BAD]
