"""Workers on a cluster: every rank runs the same conversation, an exchange is a few collectives.

MPI()                engine of a rank; each rank gives `tether.solve` its own objective
shard(n_samples)     this rank's part of an even split
"""

from tether.engines.mpi.engine import MPI, shard

__all__ = ["MPI", "shard"]
