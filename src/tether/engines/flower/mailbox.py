"""Sending messages to nodes and waiting for their answers, with a deadline."""

import time
from collections.abc import Collection, Mapping

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

POLL_SECONDS = 0.05  # between two looks for answers
TRIES = 3  # timeouts for which answers are awaited that a run cannot do without


class Mailbox:
    """Messages of one kind; an answer to any of them counts, however late it comes.

    A node that is asked again may be about to answer the first time. That answer is as good as the second.
    """

    def __init__(self, grid: Grid, kind: str, timeout: float) -> None:
        self._grid, self._kind, self._timeout = grid, kind, timeout
        self._open: dict[str, int] = {}  # messages without an answer: their nodes

    def send(self, contents: Mapping[int, RecordDict]) -> None:
        """Send each node its message."""
        if contents:
            lifetime = TRIES * self._timeout + 60.0
            messages = [
                Message(content, node, self._kind, ttl=lifetime) for node, content in contents.items()
            ]
            names = zip(self._grid.push_messages(messages), contents, strict=True)
            self._open |= {name: node for name, node in names if name is not None}  # None: it was refused

    def wait(self, nodes: Collection[int]) -> dict[int, Message]:
        """Return the answers of nodes that come in time, errors included."""
        answers: dict[int, Message] = {}
        deadline = time.monotonic() + self._timeout
        while set(nodes) & set(self._open.values()):
            for answer in self._grid.pull_messages(list(self._open)):
                self._receive(answer, answers)
            if time.monotonic() > deadline:
                break
            if set(nodes) - set(answers):
                time.sleep(POLL_SECONDS)
        return answers

    def _receive(self, answer: Message, answers: dict[int, Message]) -> None:
        """Keep an answer; nothing more is expected from that node."""
        node = self._open.get(str(answer.metadata.reply_to_message_id))
        if node is not None:
            answers[node] = answer
            self._open = {name: other for name, other in self._open.items() if other != node}
