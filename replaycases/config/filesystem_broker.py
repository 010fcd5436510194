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
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

ALIAS = "replaycases-files"


class Channel(virtual.Channel):
    """Messages are files `SENT_UUID.QUEUE.msg` below the transport option `folder`, oldest first. Raises OSError where
    the folder cannot be used: the connection is lost then, and opening a channel is how it is tried again."""

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        self._folder_of(connection)
        super().__init__(connection, **kwargs)  # type: ignore[no-untyped-call] # kombu has no types here

    @staticmethod
    def _folder_of(connection: Any) -> Path:
        folder = Path(connection.client.transport_options["folder"])
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _folder(self) -> Path:
        return self._folder_of(self.connection)

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
            data = taken.read_bytes()
            taken.unlink()
            with suppress(ValueError):  # damaged: a hint less, and the sweep sends another one
                message: dict[str, Any] = json.loads(data)
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
    # A folder that cannot be used is a broker that is down: workers wait for it, and publishing fails by name.
    connection_errors = (OSError,)
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
