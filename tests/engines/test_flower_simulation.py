"""The app that `tether flower init` writes, run by Flower's simulation."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("flwr")
pytest.importorskip("ray")

import tether
from tether.cli import main

WORKERS, ROUNDS = 2, 4


@pytest.mark.slow
@pytest.mark.minutes
def test_the_template_gives_what_a_federation_in_one_process_gives(field):
    assert main(["flower", "init", str(field.folder / "app")]) == 0
    port, output = field.free_port(), field.folder / "output.npz"
    field.configure(port, "insecure = true")
    link = ("flower-superlink", "--insecure", "--simulation", "--host", "127.0.0.1", "--port", port)
    field.start("link", *link)
    field.wait_for(lambda: field.listens(port), 60, "link")
    settings = f"workers={WORKERS} max-rounds={ROUNDS} tol=0.0 method='skip' output='{output}'"
    nodes = f"num-supernodes={WORKERS} client-resources-num-cpus=1 init-args-num-cpus=2"
    run = ("flwr", "run", "app", "here", "--stream", "--run-config", settings, "--federation-config", nodes)
    field.start("run", *run)
    assert field.finish("run", 150) == 0
    said = field.said("run")
    assert output.exists(), said[-3000:]

    federation = tether.Federation([_local(field.folder, k) for k in range(WORKERS)])
    here = tether.solve(federation, method="skip", tol=0, max_rounds=ROUNDS)
    there = tether.load(output)
    np.testing.assert_allclose(there.x, here.x, rtol=0, atol=1e-12)
    assert there.history.workers["value"].shape[1] == WORKERS == there.problem.n_workers
    assert np.abs(here.x).max() > 0.1
    assert "max_rounds is used up" in said and "HTTP Request" not in said


def _local(folder, k):
    """What the app's `load` returns on node k."""
    place = importlib.util.spec_from_file_location("client", folder / "app" / "federation" / "client_app.py")
    client = importlib.util.module_from_spec(place)
    place.loader.exec_module(client)
    return client.load(SimpleNamespace(run_config={"workers": WORKERS}, node_config={"partition-id": k}))
