"""Statistical inference for linear models that keep to equations.

Estimates that maximise a likelihood subject to A x = b are normal in large samples, with the covariance
Z (Z' H Z)^-1 Z' where the columns of Z span the directions that the equations leave and H is the Hessian.
`infer` takes a model and its solution; estimators have it as a method.
"""

from tether.inference.hypotheses import Evidence
from tether.inference.report import Inference, infer
from tether.inference.summary import Summary

__all__ = ["Evidence", "Inference", "Summary", "infer"]
