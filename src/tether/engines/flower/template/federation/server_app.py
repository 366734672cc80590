"""The server: it has no data. Settings are in pyproject.toml under [tool.flwr.app.config]."""

from tether.flower import server_app

app = server_app()
