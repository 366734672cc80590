"""Flower's link and nodes as programs of this machine: encryption, deaths, restarts, wrong starts."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("flwr")

import tether
from tether.cli import main

TIMEOUT = 12.0  # of a round, in seconds

CLIENT = '''
"""A node with few numbers of its own."""
import numpy as np
from tether import GLM
from tether.engines.flower import client_app

def load(context):
    return local(context.node_config["partition-id"])

def local(k):
    rng = np.random.default_rng([3, k])
    X = rng.standard_normal((40 + 20 * k, 5))
    return GLM(X, X @ rng.standard_normal(5) + rng.standard_normal(len(X)), "squared", l2=0.1)

app = client_app(load)
'''


def federation():
    names = {}
    exec(CLIENT, names)
    return tether.Federation([names["local"](k) for k in range(2)])


def prepare(field):
    """Write an app whose nodes load small data, and keys; start a link that only lets known nodes in."""
    app, keys, port = field.folder / "app", field.folder / "keys", field.free_port()
    assert main(["flower", "init", str(app)]) == 0
    assert main(["flower", "keys", str(keys), "--nodes", "4"]) == 0
    (app / "federation" / "client_app.py").write_text(CLIENT)
    field.configure(port, f'root-certificates = "{keys / "ca.crt"}"')
    field.start(
        "link", "flower-superlink", *secured(keys), *at(port), "--disable-runtime-dependency-installation"
    )
    field.wait_for(lambda: field.listens(port), 60, "link")
    for k in range(4):
        field.start(f"register{k}", "flwr", "supernode", "register", keys / f"node{k}.pub", "here")
    for k in range(4):
        assert field.finish(f"register{k}", 60) == 0, field.said(f"register{k}")
    return port


def secured(keys):
    files = {"ca-certfile": "ca.crt", "certfile": "server.pem", "keyfile": "server.key"}
    words = [word for option, file in files.items() for word in (f"--ssl-{option}", keys / file)]
    return [*words, "--enable-supernode-auth"]


def at(port):
    return ["--host", "127.0.0.1", "--port", port]


def start_node(field, link, number, key):
    """Start a node with a number; its memory is where the last node of that number left it."""
    keys, config = field.folder / "keys", f'partition-id={number} memory-dir="{field.folder / "memory"}"'
    own = ["--root-certificates", keys / "ca.crt", "--auth-supernode-private-key", keys / f"node{key}"]
    place = ["--superlink", f"127.0.0.1:{link}", *at(field.free_port())]
    field.start(f"node{key}", "flower-supernode", *own, *place, "--node-config", config)


def start_run(field, name, **settings):
    words = {"workers": 2, "timeout": TIMEOUT, "tol": 0.0} | settings
    given = " ".join(f"{key.replace('_', '-')}={value!r}" for key, value in words.items())
    field.start(name, "flwr", "run", "app", "here", "--stream", "--run-config", given)


def end(field, name, output):
    """Wait for a run that ends well."""
    assert field.finish(name, 150) == 0 and output.exists(), field.said(name)[-3000:]


def progress(checkpoint):
    """Return how many walks a checkpoint holds, and whether F was measured after the last of them."""
    try:
        with np.load(checkpoint) as file:
            walks = int(file["run.counts.rounds"]) - 1  # the first round projects the starting point
            return walks, bool(file["run.checked"] == file["run.counts.gradients"])
    except FileNotFoundError:
        return 0, False


def kill_server_app(field):
    """Kill the server app as a power cut would; the link lives on."""
    (pid,) = field.descendants(field.running["link"].pid, "bin/flwr-serverapp")
    os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_runs_survive_the_death_of_server_app_and_nodes(field):
    link = prepare(field)
    for k in range(2):
        start_node(field, link, k, key=k)

    # The server app dies during the run; the run goes on from its checkpoint as if nothing had happened.
    saved, output = str(field.folder / "first.npz"), field.folder / "x.npz"
    plan = {"method": "skip", "max_rounds": 3, "checkpoint": saved, "output": str(output)}
    start_run(field, "killed", **plan)
    field.wait_for(lambda: progress(saved) == (1, True), 90, "killed")
    # Flower's nodes wait for the rest of a message that is only half sent, so let them begin to work.
    time.sleep(2.0)
    kill_server_app(field)
    field.kill("killed")
    assert not output.exists()
    start_run(field, "resumed", **plan)
    end(field, "resumed", output)
    here = tether.solve(federation(), method="skip", tol=0, max_rounds=3)
    with np.load(output) as there:
        np.testing.assert_allclose(there["x"], here.x, rtol=0, atol=1e-12)
        assert there["rounds"][-1] == here.counts.rounds
    assert "without its memory" not in field.said("resumed")

    # One node dies during a walk, which goes on; the other during the measurement that follows, which cannot.
    saved, output = str(field.folder / "second.npz"), field.folder / "y.npz"
    plan = {"method": "proxskip", "quorum": 1, "checkpoint": saved, "output": str(output)}
    start_run(field, "dying", max_rounds=30, **plan)
    field.wait_for(lambda: progress(saved) == (1, True), 90, "dying")
    field.kill("node0")
    field.wait_for(lambda: progress(saved) == (2, False), 60, "dying")
    field.kill("node1")
    field.finish("dying", 120)
    said = field.said("dying")
    assert "goes on without workers 0" in said
    assert "workers 0, 1 did not send their gradients" in said and "the checkpoint is valid" in said, said
    assert not output.exists()

    # Other machines take the dead nodes' numbers and memory; the run goes on.
    for k in range(2):
        start_node(field, link, k, key=2 + k)
    start_run(field, "continued", max_rounds=4, **plan)
    end(field, "continued", output)
    assert "without its memory" not in field.said("continued")
    with np.load(output) as there:
        assert there["rounds"][-1] == 4
        assert np.isfinite(there["x"]).all() and there["fun"] < federation().value(np.zeros(5))


# --- wrong starts ----------------------------------------------------------------------------------------


def refuse(field, *words):
    field.start("wrong", *words)
    code = field.finish("wrong", 60)
    assert code not in (None, 0)
    return field.said("wrong")


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_link_without_certificates_is_refused(field):
    said = refuse(field, "flower-superlink", *at(field.free_port()))
    assert "insecure" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_certificate_that_is_not_there_is_refused(field):
    said = refuse(field, "flower-superlink", *secured(field.folder), *at(field.free_port()))
    assert "--ssl-ca-certfile" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_port_that_is_taken_is_refused(field):
    import socket

    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        refuse(field, "flower-superlink", "--insecure", *at(holder.getsockname()[1]))


def test_init_refuses_a_folder_with_something_in_it(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("precious")
    assert main(["flower", "init", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and "not empty" in said[0]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_keys_are_never_overwritten(tmp_path, capsys):
    assert main(["flower", "keys", str(tmp_path / "keys"), "--nodes", "1"]) == 0
    before = (tmp_path / "keys" / "node0").read_bytes()
    assert main(["flower", "keys", str(tmp_path / "keys")]) == 2
    assert "not empty" in capsys.readouterr().err
    assert (tmp_path / "keys" / "node0").read_bytes() == before


@pytest.mark.parametrize("name", ["node0", "server.key"])
def test_secret_keys_are_for_their_owner_only(tmp_path, name):
    main(["flower", "keys", str(tmp_path / "keys"), "--nodes", "1"])
    assert (tmp_path / "keys" / name).stat().st_mode & 0o077 == 0


def test_without_flower_the_remedy_is_named(tmp_path, capsys, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.startswith("tether.engines.flower")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flwr", None)
    monkeypatch.setitem(sys.modules, "flwr.app", None)
    assert main(["flower", "init", str(tmp_path / "app")]) == 2
    assert "pip install 'tether[flower]'" in capsys.readouterr().err
