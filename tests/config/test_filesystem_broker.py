from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from replaycases.config import filesystem_broker

filesystem_broker.register()


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    with Connection(f"{filesystem_broker.ALIAS}://localhost//", transport_options={"folder": str(tmp_path)}) as made:
        yield made


def test_messages_come_out_in_the_order_they_went_in(connection: Connection) -> None:
    with connection.SimpleQueue("q") as queue:
        for number in range(5):
            queue.put({"n": number})
        assert [queue.get_nowait().payload["n"] for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(Empty):
            queue.get_nowait()


def test_queues_do_not_mix(connection: Connection) -> None:
    channel = connection.default_channel
    channel._put("one", {"n": 1})
    channel._put("other.one", {"n": 2})
    assert channel._get("other.one") == {"n": 2}
    assert channel._size("one") == 1
    assert channel._purge("one") == 1
    assert channel._size("one") == 0


def test_an_unfinished_message_is_not_taken(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "00000000000000000001_x.part").write_text('{"half":')
    with pytest.raises(Empty):
        connection.default_channel._get("q")


def test_a_message_that_is_damaged_is_dropped_and_stops_nobody(connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "00000000000000000001_x.q.msg").write_bytes(b'{"half":')
    (tmp_path / "00000000000000000002_x.q.msg").write_bytes(b"\xff")
    channel = connection.default_channel
    channel._put("q", {"n": 1})
    assert channel._get("q") == {"n": 1}
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_used_is_a_lost_connection(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    options = {"folder": str(tmp_path / "no folder")}
    url = f"{filesystem_broker.ALIAS}://localhost//"
    with Connection(url, transport_options=options) as refused, pytest.raises(refused.connection_errors):
        refused.connect()


WRITER = """
import sys
from kombu import Connection
from replaycases.config import filesystem_broker
filesystem_broker.register()
with Connection(f"{filesystem_broker.ALIAS}://localhost//", transport_options={"folder": sys.argv[1]}) as connection:
    for number in range(200):
        connection.default_channel._put("q", {"n": number, "filler": "x" * 20000})
"""


def test_every_message_is_taken_whole_and_once_while_others_write(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(2)]
    options = {"folder": str(tmp_path)}

    def take(_: int) -> int:
        taken = 0
        with Connection(f"{filesystem_broker.ALIAS}://localhost//", transport_options=options) as connection:
            while True:
                try:
                    message = connection.default_channel._get("q")
                except Empty:
                    if all(writer.poll() is not None for writer in writers) and not list(tmp_path.glob("*.msg")):
                        return taken
                else:
                    assert len(message["filler"]) == 20000
                    taken += 1

    with ThreadPoolExecutor(2) as readers:
        assert sum(readers.map(take, range(2))) == 400
