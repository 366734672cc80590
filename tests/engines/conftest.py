"""Flower for the tests: nodes in this process, and its own programs on this machine."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tether

PROGRAMS = Path(sys.executable).parent
SLOWNESS = 5  # how much slower than ours a machine may be


class Field:
    """A folder with its own Flower home, and the processes that were started there."""

    def __init__(self, folder: Path):
        self.folder, self.running = folder, {}
        for name in ("home", "ray"):
            (folder / name).mkdir()
        self.environment = os.environ | {
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(folder / "home"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
            "RAY_TMPDIR": str(folder / "ray"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "PYTHONWARNINGS": "ignore",
        }

    def start(self, name, *words):
        """Start a program in a session of its own; what it says goes to a file."""
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                [PROGRAMS / words[0], *map(str, words[1:])],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self.running[name]

    def finish(self, name, seconds):
        """Wait for a program, as many seconds as it may take on our machine, and return its exit code."""
        seconds *= SLOWNESS
        try:
            return self.running[name].wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{name} did not end within {seconds} s:\n{self.said(name)[-3000:]}")

    def log(self, name):
        return self.folder / f"{name}.log"

    def said(self, name):
        return self.log(name).read_text(errors="replace") if self.log(name).exists() else ""

    def wait_for(self, what, seconds, watched):
        """Wait until something is true; a program that ends meanwhile is a failure."""
        deadline = time.monotonic() + SLOWNESS * seconds
        while not what():
            ended = self.running[watched].poll() is not None
            if (ended and not what()) or time.monotonic() > deadline:
                pytest.fail(f"{watched} {'ended' if ended else 'hangs'}:\n{self.said(watched)[-3000:]}")
            time.sleep(0.1)

    def configure(self, port, *lines):
        """Tell `flwr run` where the link is."""
        text = "\n".join(["[superlink.here]", f'address = "127.0.0.1:{port}"', *lines])
        (self.folder / "home" / "config.toml").write_text(f'[superlink]\ndefault = "here"\n\n{text}\n')

    def kill(self, name):
        """Kill a program and all that it started, as a power cut would."""
        process = self.running.pop(name)
        for pid in [process.pid, *descendants(process.pid)]:
            _signal(pid, signal.SIGKILL)
        process.wait(60)

    def stop(self):
        """End everything that was started, politely first."""
        for name in list(self.running):
            process = self.running[name]
            left = descendants(process.pid)
            _signal(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            for pid in [process.pid, *left]:
                _signal(pid, signal.SIGKILL)
            process.wait(60)


def descendants(pid, command=""):
    """Return the processes that a process started, directly or not, whose command holds a word."""
    listing = ["ps", "-ww", "-eo", "pid=,ppid=,args="]
    table = subprocess.run(listing, capture_output=True, text=True, check=True)
    children, names = {}, {}
    for line in table.stdout.splitlines():
        child, parent, *rest = line.split(maxsplit=2)
        children.setdefault(int(parent), []).append(int(child))
        names[int(child)] = rest[0] if rest else ""
    found, open_ones = [], [pid]
    while open_ones:
        more = children.get(open_ones.pop(), [])
        found += more
        open_ones += more
    return [child for child in found if command in names[child]]


def _signal(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def listens(port):
    with socket.socket() as caller:
        caller.settimeout(1.0)
        return caller.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def field(tmp_path):
    """A place to run Flower; everything started there ends with the test."""
    # Sockets of Ray need a short path, and pytest's folders may be long.
    here = Path("/tmp", f"tether-{os.getpid()}-{free_port()}")
    here.mkdir()
    place = Field(here)
    place.free_port, place.listens, place.descendants = free_port, listens, descendants
    try:
        yield place
    finally:
        place.stop()
        shutil.rmtree(here, ignore_errors=True)


class Nodes:
    """A grid of nodes in this process; ``absent`` nodes never answer."""

    def __init__(self, n=3, load=None, **config):
        from flwr.app import Context, RecordDict

        from tether.engines.flower import client_app

        self.app, self.n = client_app(load or self.load), n
        self.contexts = {
            100 + k: Context(1, 100 + k, {"partition-id": k, **config}, RecordDict(), {}) for k in range(n)
        }
        self.absent = set()
        self.seen = []  # (worker, message, answer)
        self.waiting = {}

    @staticmethod
    def data(k):
        rng = np.random.default_rng([11, k])
        X = rng.standard_normal(((30, 20, 45)[k], 3))
        return X, X @ rng.standard_normal(3) + rng.standard_normal(len(X))

    @classmethod
    def load(cls, context):
        return tether.GLM(*cls.data(context.node_config["partition-id"]), "squared", l2=0.1)

    def get_node_ids(self):
        return sorted(set(self.contexts) - {100 + k for k in self.absent})

    def push_messages(self, messages):
        from flwr.app import Error, Message

        names = []
        for number, message in enumerate(messages):
            name = f"{len(self.seen)}-{number}"
            names.append(name)
            node = message.metadata.dst_node_id
            if node - 100 in self.absent:
                continue
            message.metadata._message_id = name  # as the link would
            try:
                answer = self.app(message, self.contexts[node])
            except Exception as error:
                answer = Message(Error(code=2, reason=str(error)), reply_to=message)
            self.seen.append((node - 100, message, answer))
            self.waiting[name] = answer
        return names

    def pull_messages(self, names):
        return [self.waiting.pop(name) for name in list(names) if name in self.waiting]

    def forget(self, k):
        self.contexts[100 + k].state.clear()

    def kept(self, k):
        """Return what a node remembers."""
        from tether.engines.flower.messages import NodeMemory
        from tether.engines.flower.records import unpack

        return unpack(self.contexts[100 + k].state, "kept", NodeMemory)

    def solve(
        self,
        method,
        timeout=1.0,
        quorum=None,
        privacy=None,
        releases=None,
        max_change=0.0,
        constraint=None,
        **settings,
    ):
        from tether.engines.flower import Flower

        engine = Flower(self, self.n, quorum, timeout, privacy, releases, max_change=max_change)
        return tether.solve(engine.introduce(), constraint, method, engine=engine, **settings)


@pytest.fixture
def nodes(monkeypatch):
    """Make grids of nodes: this process is the server of run 1, as Flower's launcher would make it."""
    pytest.importorskip("flwr")
    from flwr.supercore.task_identity import TaskIdentity

    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)
    return Nodes


@pytest.fixture
def federation():
    """The same workers without messages."""
    return tether.Federation([tether.GLM(*Nodes.data(k), "squared", l2=0.1) for k in range(3)])
