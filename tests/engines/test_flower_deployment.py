"""Flower's link and nodes as programs of this machine: encryption, deaths, restarts, wrong starts."""

import os
import re
import signal

import numpy as np
import pytest

pytest.importorskip("flwr")

import tether
from tether.cli import main

CALM = 300.0  # timeout of runs in which all answer

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


class Deployment:
    """A link that lets in nodes whose keys it knows, and runs on it."""

    def __init__(self, field):
        self.field, self.port = field, field.free_port()
        self.app, self.keys = field.folder / "app", field.folder / "keys"
        self.saved, self.output = field.folder / "run.npz", field.folder / "x.npz"
        assert main(["flower", "init", str(self.app)]) == 0
        assert main(["flower", "keys", str(self.keys), "--nodes", "4"]) == 0
        (self.app / "federation" / "client_app.py").write_text(CLIENT)
        field.configure(self.port, f'root-certificates = "{self.keys / "ca.crt"}"')

    def start_link(self):
        """Start the link; what it knew is in its database."""
        rest = ["--disable-runtime-dependency-installation", "--database", self.field.folder / "link.db"]
        self.field.start("link", "flower-superlink", *secured(self.keys), *at(self.port), *rest)
        self.field.wait_for(lambda: self.field.listens(self.port), 60, "link")

    def register(self, *keys):
        """Have the link learn the keys of nodes, beside other things."""
        for k in keys:
            words = ("supernode", "register", self.keys / f"node{k}.pub", "here")
            self.field.start(f"register{k}", "flwr", *words)

    def are_registered(self, *keys):
        for k in keys:
            assert self.field.finish(f"register{k}", 60) == 0, self.field.said(f"register{k}")

    def unregister(self, key):
        """Have the link forget a node that is gone for good."""
        (number,) = re.findall(r"SuperNode ID: (\d+)", self.field.said(f"node{key}"))
        self.field.start(f"unregister{key}", "flwr", "supernode", "unregister", number, "here")

    def start_node(self, number, key):
        """Start a node with a number; its memory is where the last node of that number left it."""
        own = ["--root-certificates", self.keys / "ca.crt"]
        own += ["--auth-supernode-private-key", self.keys / f"node{key}"]
        place = ["--superlink", f"127.0.0.1:{self.port}", *at(self.field.free_port())]
        config = f'partition-id={number} memory-dir="{self.field.folder / "memory"}"'
        self.field.start(f"node{key}", "flower-supernode", *own, *place, "--node-config", config)

    def start_run(self, name, **settings):
        plan = {"workers": 2, "method": "skip", "tol": 0.0, "timeout": CALM, "max_rounds": 3}
        plan |= {"checkpoint": str(self.saved), "output": str(self.output)} | settings
        given = " ".join(f"{key.replace('_', '-')}={value!r}" for key, value in plan.items())
        self.field.start(name, "flwr", "run", "app", "here", "--stream", "--run-config", given)

    def end(self, name):
        """Wait for a run that ends well and return what it wrote."""
        assert self.field.finish(name, 150) == 0 and self.output.exists(), self.field.said(name)[-3000:]
        assert "without its memory" not in self.field.said(name)
        return tether.load(self.output)

    def wait_for_words(self, words, run):
        self.field.wait_for(lambda: words in self.field.said(run), 90, run)

    def wait_for_work(self, messages, run):
        """Wait until both nodes have a number of messages, the last of them to work on.

        Flower's nodes wait for the rest of a message that is only half sent.
        """
        said = self.field.said
        counts = lambda: [said(f"node{k}").count("Received successfully") for k in range(2)]  # noqa: E731
        self.field.wait_for(lambda: min(counts()) >= messages, 120, run)

    def progress(self):
        """Return the walks in the checkpoint, and whether F was measured after the last of them."""
        with np.load(self.saved) as file:
            walks = int(file["run.counts.rounds"]) - 1  # the first round projects the starting point
            return walks, bool(file["run.audited"] == file["run.counts.gradients"])


def secured(keys):
    files = {"ca-certfile": "ca.crt", "certfile": "server.pem", "keyfile": "server.key"}
    words = [word for option, file in files.items() for word in (f"--ssl-{option}", keys / file)]
    return [*words, "--enable-supernode-auth"]


def at(port):
    return ["--host", "127.0.0.1", "--port", port]


@pytest.mark.slow
@pytest.mark.minutes
@pytest.mark.timeout(3000)
def test_runs_survive_the_deaths_of_server_app_link_and_nodes(field):
    place = Deployment(field)
    place.start_link()
    place.start_node(1, key=3)
    place.register(0, 1, 2)
    place.are_registered(0, 1, 2)
    place.start_node(0, key=0)
    a_node_without_a_registered_key_is_not_let_in(field, place)
    place.start_node(1, key=1)
    slowest = server_app_and_link_die(field, place)
    nodes_die(field, place, max(5.0, slowest))
    other_nodes_take_over(field, place)


def a_node_without_a_registered_key_is_not_let_in(field, place):
    """The node ends and says so; a run does not count it."""
    assert field.finish("node3", 60) != 0
    assert "Failed to activate SuperNode" in field.said("node3")
    place.start_run("incomplete", timeout=1.0)
    field.finish("incomplete", 90)
    said = field.said("incomplete")
    assert "of 2 workers came within 3 s; missing: " in said and "register their keys" in said, said
    assert not place.output.exists()


def server_app_and_link_die(field, place):
    """Each is killed while nodes work; the run goes on from its checkpoint as if nothing had happened.

    Return how long the slowest exchange took.
    """
    place.start_run("first")
    place.wait_for_work(3, "first")  # hello, a gradient, a walk
    assert place.progress() == (0, True)
    (pid,) = field.descendants(field.running["link"].pid, "bin/flwr-serverapp")
    os.kill(pid, signal.SIGKILL)
    field.kill("first")

    place.start_run("second")
    place.wait_for_work(7, "second")  # hello, the best point measured again, a walk, a gradient
    assert place.progress() == (1, False)
    field.kill("link")
    field.kill("second")
    assert not place.output.exists()

    place.start_link()
    place.start_run("third")
    there = place.end("third")
    here = tether.solve(federation(), method="skip", tol=0, max_rounds=3)
    np.testing.assert_allclose(there.x, here.x, rtol=0, atol=1e-12)
    assert there.history["rounds"][-1] == here.counts.rounds
    assert all(field.running[f"node{k}"].poll() is None for k in range(2))  # the nodes were left alone
    return float(np.diff(there.history["seconds"]).max())


def nodes_die(field, place, timeout):
    """One is killed in a walk: walks go on, its gradient stands in. The other in a gradient: the run ends."""
    place.output.unlink()
    place.saved.unlink()
    place.start_run("dying", method="proxskip", quorum=1, max_rounds=30, timeout=timeout)
    place.wait_for_words("round 1: F = ", "dying")
    field.kill("node0")
    place.register(3)
    place.wait_for_words("goes on without workers 0.", "dying")
    place.unregister(0)  # else the link would list it for up to a minute
    place.wait_for_words("last known gradients stand in for workers 0.", "dying")
    again = lambda: field.said("dying").count("goes on without workers 0.") >= 2  # noqa: E731
    field.wait_for(again, 120, "dying")
    field.kill("node1")
    place.unregister(1)
    field.finish("dying", 120)
    said = field.said("dying")
    assert "workers 0, 1 did not send their gradients" in said and "the checkpoint is valid" in said, said
    assert not place.output.exists()


def other_nodes_take_over(field, place):
    """Other machines take the nodes' numbers and what they remember."""
    walks, _ = place.progress()
    assert walks >= 1
    place.are_registered(3)
    place.start_node(0, key=3)
    place.start_node(1, key=2)
    place.start_run("last", method="proxskip", max_rounds=walks + 2)
    there = place.end("last")
    assert there.history["rounds"][-1] == walks + 2
    assert np.isfinite(there.x).all() and there.fun < federation().value(np.zeros(5))


# --- wrong starts ----------------------------------------------------------------------------------------


def refuse(field, *words):
    field.start("wrong", *words)
    code = field.finish("wrong", 60)
    assert code not in (None, 0)
    return field.said("wrong")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_link_without_certificates_is_refused(field):
    said = refuse(field, "flower-superlink", *at(field.free_port()))
    assert "insecure" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_certificate_that_is_not_there_is_refused(field):
    said = refuse(field, "flower-superlink", *secured(field.folder), *at(field.free_port()))
    assert "--ssl-ca-certfile" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(600)
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
