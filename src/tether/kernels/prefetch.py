"""Ask for memory before it is needed.

Rows in random order are the cost of a stochastic step: the arithmetic waits for memory. The order of a walk
is known beforehand, so a kernel can ask for the rows a few steps ahead.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Bring the cache line of ``array[index]`` closer; the index may lie outside."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(struct.data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), number, number, number])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(call, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
