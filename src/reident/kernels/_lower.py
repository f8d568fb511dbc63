"""How a kernel is written down for LLVM, where numba's own way costs time at every call or whenever it compiles."""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import cgutils, ir, types
from numba.core.lowering import Lower
from numba.np import arrayobj


class KernelLower(Lower):
    """Lower a kernel that borrows its arguments, and whose arrays are read and written by integers and slices.

    Who calls a kernel holds its arguments as long as it runs. Numba itself counts each in and out again. In a loop that
    costs more than a short kernel does, since it keeps the threads of one array apart, and where there are several ways
    out it is not optimised away. To index an array it writes all its fields to memory first, and reads them from there;
    what LLVM makes of that is the same, and takes a twelfth more of the time that compiling takes.
    """

    def pre_lower(self) -> None:
        """Find the arguments that nothing else is assigned to."""
        super().pre_lower()
        assigned = [one for block in self.blocks.values() for one in block.find_insts(ir.Assign)]
        times = Counter(one.target.name for one in assigned)
        arrive = (one.target.name for one in assigned if isinstance(one.value, ir.Arg))
        outlives = self.generator_info is not None  # who calls a generator may let go before it ends
        self._borrowed = set() if outlives else {name for name in arrive if times[name] == 1}
        self._arrives = False

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Take an argument without counting it."""
        self._arrives = isinstance(inst.value, ir.Arg) and inst.target.name in self._borrowed
        try:
            return super().lower_assign(ty, inst)
        finally:
            self._arrives = False

    def incref(self, typ: Any, val: Any) -> None:
        """Count one reference more."""
        if not self._arrives:
            super().incref(typ, val)

    def delvar(self, name: str) -> None:
        """Count one reference less, where the variable has one."""
        if name not in self._borrowed:
            super().delvar(name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element of an array, or a view."""
        of, (kinds, places) = self.typeof(value.name), self._index(index)
        if not _is_basic(of, kinds):
            return super().lower_getitem(resty, expr, value, index, signature)
        array = _Fields(self, of, self.loadvar(value.name))
        found = arrayobj._getitem_array_generic(
            self.context, self.builder, signature.return_type, of, array, kinds, places
        )
        self.incref(signature.return_type, found)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element of an array; what is written into a view of one is left to numba."""
        of, (kinds, places) = self.typeof(target_var.name), self._index(index_var)
        if not _is_basic(of, kinds) or len(kinds) < of.ndim or not all(isinstance(one, types.Integer) for one in kinds):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), of.dtype)
        array = _Fields(self, of, self.loadvar(target_var.name))
        place, _, _ = arrayobj.basic_indexing(self.context, self.builder, of, array, kinds, places)
        arrayobj.store_item(self.context, self.builder, of, value, place)
        return None

    def _index(self, index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the types and the values of an index, one for each axis that it names."""
        kind: Any = self.typeof(index.name)
        value = self.loadvar(index.name)
        if isinstance(kind, types.BaseTuple):
            return tuple(kind.types), tuple(cgutils.unpack_tuple(self.builder, value))  # type: ignore[attr-defined]
        return (kind,), (value,)


def _is_basic(of: Any, kinds: tuple[Any, ...]) -> bool:
    """Tell whether these are integers and slices that index an array."""
    basic = all(isinstance(one, (types.Integer, types.SliceType)) for one in kinds)
    return type(of) is types.Array and basic and 0 < len(kinds) <= of.ndim


class _Fields:
    """The fields of an array, each taken out where it is asked for."""

    def __init__(self, lower: Lower, kind: types.Array, array: Any) -> None:
        self._context, self._builder, self._array = lower.context, lower.builder, array
        self._model = lower.context.data_model_manager[kind]

    def __getattr__(self, name: str) -> Any:
        """Take one out."""
        field = self._builder.extract_value(self._array, self._model.get_field_position(name))
        self.__dict__[name] = field
        return field
