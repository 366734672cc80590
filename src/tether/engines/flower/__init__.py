"""Federated deployment with Flower: the same methods, where the workers are other people's machines.

A node answers two kinds of messages: who it is (`hello`) and what to do (`work`, a request of
`tether.requests`). The server runs the ordinary `tether.solve` with the engine `Flower`, whose exchange
is a round of messages. Only the vectors of `tether.engines.uploads.Upload` leave a node.

    client_app(load)     answers for one node; load(context) returns its objective
    server_app(...)      runs the method on the server
"""

from tether.engines.flower.client import client_app
from tether.engines.flower.engine import Flower

__all__ = ["Flower", "client_app"]
