"""What launchers of parallel jobs tell a process: how many there are."""

import os
from collections.abc import Mapping

#: Variables in which launchers tell a process how many there are, and whose they are.
SIZE_VARIABLES = {
    "OMPI_COMM_WORLD_SIZE": "Open MPI",
    "MV2_COMM_WORLD_SIZE": "MVAPICH",
    "PMI_SIZE": "MPICH or a relative of it",
    "MPI_LOCALNRANKS": "MPICH or a relative of it",
    "SLURM_STEP_NUM_TASKS": "Slurm (srun)",
}


def announced_size(environment: Mapping[str, str] = os.environ) -> tuple[str, int]:
    """Return the variable that announces the most processes, and how many; 0 where none does.

    Examples
    --------
    >>> announced_size({"PMI_SIZE": "4"})
    ('PMI_SIZE', 4)
    """
    found = {name: environment.get(name, "") for name in SIZE_VARIABLES}
    numbers = {name: int(text) if text.isdecimal() else 0 for name, text in found.items()}
    variable = max(numbers, key=lambda name: numbers[name])
    return variable, numbers[variable]
