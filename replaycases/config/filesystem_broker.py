"""The embedded broker: one message a file in one directory, for a server and its workers on one machine.

Kombu's own file-system transport lets a worker take a file that is not fully written and dies of it. Here a message
appears by a rename, complete, and is taken by a rename, once. A message that a killed worker had taken is gone: that
is allowed, because the database holds the queue and the sweep sends again.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

ALIAS = "replaycases-files"


class Channel(virtual.Channel):
    """Messages are files `SENT_UUID.QUEUE.msg` below the transport option `folder`, oldest first."""

    def _folder(self) -> Path:
        folder = Path(self.connection.client.transport_options["folder"])
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _names(self, queue: str) -> list[str]:
        return sorted(name for name in os.listdir(self._folder()) if name.endswith(f".{queue}.msg"))

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        name = f"{time.time_ns():020d}_{uuid.uuid4().hex}"
        folder = self._folder()
        unfinished = folder / f"{name}.part"
        unfinished.write_text(json.dumps(message))
        unfinished.rename(folder / f"{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = self._folder()
        for name in self._names(queue):
            taken = folder / f"{name}.{uuid.uuid4().hex}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue  # another worker took it
            message: dict[str, Any] = json.loads(taken.read_text())
            taken.unlink()
            return message
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._names(queue))

    def _purge(self, queue: str) -> int:
        names = self._names(queue)
        for name in names:
            (self._folder() / name).unlink(missing_ok=True)
        return len(names)


class Transport(virtual.Transport):
    """State is the directory, so that every process sees the same queues."""

    Channel = Channel
    global_state = virtual.BrokerState()  # type: ignore[no-untyped-call] # kombu has no types here
    driver_type = "filesystem"
    driver_name = "filesystem"
    implements = virtual.Transport.implements.extend(asynchronous=False)
    # Seconds between two looks into an empty directory: the latency of a button at rest.
    polling_interval = 0.05

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)  # type: ignore[no-untyped-call]
        self.state = self.global_state

    def driver_version(self) -> str:
        return "1"


def register() -> None:
    """Make the transport known to kombu under ALIAS."""
    TRANSPORT_ALIASES[ALIAS] = f"{__name__}:Transport"
