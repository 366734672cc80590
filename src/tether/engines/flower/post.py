"""Sending messages and waiting for answers, with a deadline."""

import time
from collections.abc import Mapping

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

POLL = 0.05  # seconds between two looks into the letter box


def send(grid: Grid, letters: Mapping[int, RecordDict], kind: str, timeout: float) -> dict[int, Message]:
    """Send each node its letter and return the answers that come in time, errors included, by node."""
    if not letters:
        return {}
    messages = [Message(content, node, kind, ttl=timeout + 60.0) for node, content in letters.items()]
    waiting = dict(zip(grid.push_messages(messages), letters, strict=True))
    waiting.pop(None, None)  # a message that was refused
    answers: dict[int, Message] = {}
    deadline = time.monotonic() + timeout
    while waiting and time.monotonic() < deadline:
        for answer in grid.pull_messages(list(waiting)):
            node = waiting.pop(answer.metadata.reply_to_message_id, None)
            if node is not None:
                answers[node] = answer
        time.sleep(POLL)
    return answers
