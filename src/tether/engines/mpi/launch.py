"""How this process was started: the MPI library it talks to, and whether the launcher belongs to it.

The launcher of one MPI with the library of another gives many runs of one rank each, without a word.
"""

import os
from collections.abc import Mapping

try:
    from mpi4py import MPI as mpi  # noqa: N811, the engine has that name
except ImportError as error:
    raise ImportError("engine MPI() needs mpi4py: pip install 'tether[mpi]'.") from error
except RuntimeError as error:
    raise ImportError(
        f"engine MPI() found mpi4py but no MPI library ({error}); pip install mpich, or load your cluster's."
    ) from error

from tether.engines.launchers import SIZE_VARIABLES, announced_size
from tether.inputs import positive_integer


def check_launch(comm: mpi.Intracomm, size: int | None, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse a number of ranks that is not the one asked for, by the user or by the launcher."""
    library = mpi.get_vendor()[0]
    if size is not None:
        size = positive_integer("size", size)
        if comm.size != size:
            raise RuntimeError(
                f"MPI(size={size}) needs {size} ranks but {library} sees {comm.size}; start with the mpiexec "
                f"of {library}: mpiexec -n {size} python -m mpi4py script.py."
            )
        return
    variable, announced = announced_size(environment)
    if mpi.COMM_WORLD.size == 1 and announced > 1:
        raise RuntimeError(
            f"{SIZE_VARIABLES[variable]} started {announced} processes ({variable}={announced}) but mpi4py "
            f"talks to {library}, which sees 1; start with the mpiexec of {library}, install mpi4py for the "
            "MPI that you start with, or say MPI(size=1)."
        )
