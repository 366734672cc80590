"""
Three substances and no perpetual motion, in JAX
================================================

Substances A, B and C turn into each other in a ring, with six rates. Thermodynamics allows no net
flow around the ring at rest: the product of the rates one way round equals the product the other
way round (Wegscheider's condition). In logarithms that is one linear equation,

    ab + bc + ca == ba + cb + ac.

The rates are fitted to concentrations over time. The model, the solution of a linear differential
equation, is written in JAX, and `tether.from_jax` takes it as it is. Without the equation a fit
that looks the same invents a machine that turns for ever.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.scipy.linalg import expm

import tether

jax.config.update("jax_enable_x64", True)

# %%
# One experiment: everything begins as A, and all three are measured at twelve times.

NAMES = ("ab", "bc", "ca", "ba", "cb", "ac")
truth = np.log([1.0, 0.5, 0.3, 0.2, 0.6, 1.25])
start = np.array([1.0, 0.0, 0.0])


def flows(logs):
    """Return the matrix K of dc/dt = K c, for the logarithms of the rates."""
    ab, bc, ca, ba, cb, ac = jnp.exp(logs)
    return jnp.array([[-ab - ac, ba, ca], [ab, -ba - bc, cb], [ac, bc, -ca - cb]])


def concentrations(logs, time):
    """Return the concentrations of A, B and C at a time."""
    return expm(time * flows(logs)) @ start


curves = jax.jit(jax.vmap(concentrations, in_axes=(None, 0)))
rng = np.random.default_rng(0)
time = np.linspace(0.25, 3.0, 12)
seen = np.asarray(curves(truth, time)) + 0.03 * rng.standard_normal((12, 3))


def squares(logs, sample):
    """Return the squared error of one measurement."""
    return jnp.sum((concentrations(logs, sample["time"]) - sample["seen"]) ** 2)


# %%
# The same fit twice: free, and on the equation.

data = {"time": time, "seen": seen}
objective = tether.from_jax(squares, data, np.zeros(6), convex=False)
free = tether.solve(objective, method="lbfgs", rtol=1e-6)
rows = tether.constraints_of("ab + bc + ca == ba + cb + ac", NAMES)
lawful = tether.solve(objective, rows, method="lbfgs", rtol=1e-6)
print(lawful)


def turning(sol):
    """Return the net flow around the ring at rest."""
    values, vectors = np.linalg.eig(np.asarray(flows(sol.x)))
    rest = np.real(vectors[:, np.argmin(np.abs(values))])
    rest = rest / rest.sum()
    return float(np.exp(sol.x[0]) * rest[0] - np.exp(sol.x[3]) * rest[1])


# %%
# On the left what was measured and the lawful fit; on the right the rates, which the equation
# brings closer to the truth.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=[1.4, 1], layout="constrained")
grid = np.linspace(0.0, 3.5, 200)
fits = {"free": free, "lawful": lawful}
for k, (name, colour) in enumerate(zip("ABC", ("tab:blue", "tab:orange", "tab:green"), strict=True)):
    left.plot(time, seen[:, k], "o", color=colour, markersize=4, label=name)
    left.plot(grid, np.asarray(curves(lawful.x, grid))[:, k], color=colour, linewidth=2.5)
    left.plot(grid, np.asarray(curves(free.x, grid))[:, k], "--", color="0.15", linewidth=1)
left.set(xlabel="time", ylabel="concentration")
left.set_title("two fits that look the same (free: dashed) ...", loc="left", fontsize=11)
left.legend(frameon=False, ncols=3)
places = np.arange(6)
right.axhline(1.0, color="0.8", zorder=0)
for (name, sol), colour, shift in zip(fits.items(), ("tab:red", "tab:blue"), (-0.12, 0.12), strict=True):
    right.stem(
        *(places + shift, np.maximum(np.exp(sol.x - truth), 1 / 25)),
        linefmt=colour,
        basefmt=" ",
        bottom=1.0,
        label=f"{name}: flow around the ring {abs(turning(sol)):.2f}",
    )
right.annotate("none at all", (1.88, 1 / 25), xytext=(6, -3), textcoords="offset points", color="tab:red")
right.set_yscale("log", base=2)
right.set_yticks([1 / 16, 1 / 4, 1, 4], ["1/16", "1/4", "1", "4"])
right.set(ylabel="rate over true rate", ylim=(1 / 30, 20.0))
right.set_title("... and the rates behind them", loc="left", fontsize=11)
right.set_xticks(places, [f"{a}→{b}".upper() for a, b in NAMES])
right.legend(frameon=False, loc="upper right")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig("plot_jax_kinetics.png", dpi=110)
