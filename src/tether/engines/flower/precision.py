"""Single precision on the wire: what it may hide, and a certificate that says so.

A number x sent as float32 arrives as x (1 + r) with |r| <= 2^-24 or, if it is tiny, with an error of at most
2^-150. Worker k's gradient, of length d, therefore arrives with an error of norm at most

    e_k = 2^-24 ||grad f_k|| + sqrt(d) 2^-150,

the mean over workers with at most the mean of the e_k, and since a projection lengthens nothing

    ||P grad F|| <= ||P (mean of what arrived)|| + mean of e_k.

Losses, lengths of gradients and ||grad f_k - h_k||^2 are sent in double precision, and a walk that ends at a
rounded point just ends there: nothing else needs a bound.
"""

import math
from collections.abc import Sequence

import numpy as np

from tether.arrays import Array
from tether.engines.uploads import Upload
from tether.requests import Measured

RELATIVE_ERROR = 2.0**-24
ABSOLUTE_ERROR = 2.0**-150


def rounded(vector: Array) -> Array:
    """Return a vector as it arrives from single precision."""
    return vector.astype(np.float32).astype(np.float64)


def widened(reply: Measured, uploads: Sequence[Upload]) -> Measured:
    """Return a reply whose certificate also bounds what rounding of the uploaded gradients hid."""
    if reply.gradient is None:  # no vector was sent
        return reply
    hidden = RELATIVE_ERROR * float(np.mean([upload.scale for upload in uploads]))
    hidden += ABSOLUTE_ERROR * math.sqrt(len(reply.gradient))
    slope = math.sqrt(reply.certificate) + hidden
    return reply._replace(certificate=slope * slope)
