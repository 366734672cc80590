"""How kernels are compiled."""

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from tether.threads import release_in_children

release_in_children(global_compiler_lock)  # held for seconds, while a kernel is compiled

# Sums may be reordered; NaN and infinity are kept, because they tell of divergence.
FASTMATH_FLAGS = {"reassoc", "contract", "arcp", "nsz"}

#: Cached on disk, without the interpreter's lock, and without Python's check for division by zero.
kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH_FLAGS)

#: For the few lines that several kernels share: copied into each of them, as a call would count references.
inlined = njit(inline="always")

#: The same with arithmetic as it is written, for what depends on its rounding.
exact_kernel = njit(cache=True, nogil=True, error_model="numpy")

#: For the few lines that several of these share.
exact_inlined = njit(inline="always")
