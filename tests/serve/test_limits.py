"""What one client sends costs the others nothing: sizes, times, threads, hanging up, the end."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.programs import children
from tests.serve.raw import connect, head, json_post, kip_call, until_closed
from tests.serve.running import RunningServer, running, serving

# Several seconds of Python; a batch of it takes longer than any test waits.
SLOW = (
    "FIND(COUNT(?a)) WHERE { ?a {} ?b {} ?c {} ?d {} FILTER(?a.name > ?b.name) "
    "FILTER(?b.name > ?c.name) FILTER(?c.name > ?d.name) }"
)
SHORTER = SLOW.replace(" ?d {}", "").replace(" FILTER(?c.name > ?d.name)", "")
SLOW_SPARQL = (
    "SELECT%20(COUNT(*)%20AS%20?n)%20{?a%20?b%20?c.?d%20?e%20?f.?g%20?h%20?i.?j%20?k%20?l}"
)
SLOW_CALL = {"name": "execute_kip_readonly", "arguments": {"commands": [SLOW] * 30}}
SLOW_REQUESTS = {
    "KIP": kip_call(commands=[SLOW] * 30),
    "SPARQL": head("GET", f"/sparql?query={SLOW_SPARQL}"),
    "MCP": json_post(
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SLOW_CALL},
        "Accept: application/json, text/event-stream",
    ),
}
READ = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'


@pytest.fixture(scope="module")
def patient(folder: Path) -> Iterator[RunningServer]:
    """A server that lets a request run for 50 seconds."""
    with serving(folder, "--read-only", "--timeout", "50") as running:
        yield running


def open_requests(server: RunningServer) -> int:
    """The requests that run, without the one that asks."""
    lines = server.client.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith("kiprdf_open_requests "))
    return int(line.split()[1]) - 1


def wait_for(condition: Any, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not (reached := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(reached)


CHUNKED = ("Content-Type: application/json", "Transfer-Encoding: chunked")
LATE = ("Content-Type: application/json", "Content-Length: 100")
LONG = ("Content-Type: application/json", "Content-Length: 999999999")


@pytest.mark.parametrize(
    ("start", "piece", "status"),
    [
        (b"GET /", b"a", b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X-Field: 1234567\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Field: ", b"a", b"431"),
        (head("POST", "/kip", *LONG), b"a", b"413"),
        (head("POST", "/kip", *CHUNKED), b"1\r\na\r\n", b"413"),
        (head("POST", "/kip", *CHUNKED) + b"1\r\na\r\n0\r\nX-Field: ", b"a", b""),
    ],
)
def test_a_request_without_end_is_refused_and_not_kept(
    server: RunningServer, start: bytes, piece: bytes, status: bytes
) -> None:
    sent, data = 0, piece * (1_000_000 // len(piece))
    with connect(server) as connection:
        connection.sendall(start)
        try:
            while sent < 100_000_000:
                connection.sendall(data)
                sent += len(data)
        except OSError:
            pass
        answer = until_closed(connection)
    assert sent < 100_000_000
    assert answer[9:12] == status
    assert resident_bytes(server.pid) < 400_000_000


FIELD = "X-Field: " + "a" * 30_000


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (head("GET", "/sparql?query=" + "a" * 70_000), 431),
        (head("GET", "/sparql?query=" + "a" * 65_500), 431),
        (head("GET", "/health", *[FIELD] * 3), 431),
        (head("POST", "/kip", *[FIELD] * 3, *LATE) + b"a" * 100, 431),
        (head("GET", "/health", *[FIELD] * 2, "Connection: close"), 200),
        (head("GET", "/health?query=" + "a" * 60_000, "Connection: close"), 200),
    ],
)
def test_a_long_head_in_one_write_is_refused(
    server: RunningServer, request_: bytes, status: int
) -> None:
    with connect(server) as connection:
        connection.sendall(request_)
        answer, _, content = until_closed(connection).partition(b"\r\n\r\n")
    assert int(answer[9:12]) == status
    code = json.loads(content).get("error", {}).get("code")
    assert code == ("HTTP_431" if status == 431 else None)
    assert server.client.get("/health").status_code == 200


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def test_fields_behind_a_body_are_no_fields_of_the_request(folder: Path) -> None:
    call = b'{"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS"}}'
    body = b"%x\r\n%s\r\n0\r\nAuthorization: Bearer s3cret\r\n\r\n" % (len(call), call)
    with (
        serving(folder, "--read-only", "--token", "s3cret") as server,
        connect(server) as connection,
    ):
        connection.sendall(head("POST", "/kip", *CHUNKED, "Connection: close") + body)
        assert until_closed(connection).startswith(b"HTTP/1.1 401 ")


def test_a_connection_that_does_not_send_its_request_is_closed(folder: Path) -> None:
    code = (
        "import sys, kiprdf.cli, kiprdf.serve.server as server; server.RECEIVE_SECONDS = 0.2; "
        "sys.argv[1:] = ['serve', sys.argv[1], '--read-only', '--port', '0']; kiprdf.cli.main()"
    )
    beginnings = [
        b"",
        b"GET / HT",
        head("POST", "/kip", *LATE) + b"{",
        head("POST", "/kip", *CHUNKED),
    ]
    with running(["-c", code, str(folder)]) as server:
        for beginning in beginnings:
            with connect(server) as connection:
                connection.sendall(beginning)
                assert until_closed(connection) == b""
        assert server.client.get("/health").status_code == 200


def test_200_stuck_connections_hold_up_nobody(patient: RunningServer) -> None:
    beginnings = [
        b"",
        b"POST /kip HTTP/1.1\r\nContent-Le",
        head("POST", "/kip", *LATE) + b'{"method"',
        head("GET", "/mcp", "Accept: text/event-stream"),
    ]
    stuck = [connect(patient) for _ in range(200)]
    try:
        for number, connection in enumerate(stuck):
            connection.sendall(beginnings[number % len(beginnings)])
        begun = time.monotonic()
        assert patient.kip(READ).status_code == 200
        assert time.monotonic() - begun < 5
    finally:
        for connection in stuck:
            connection.close()


@pytest.mark.parametrize("language", SLOW_REQUESTS)
def test_slow_requests_of_one_client_hold_up_nobody(patient: RunningServer, language: str) -> None:
    slow = [connect(patient) for _ in range(30)]
    try:
        for connection in slow:
            connection.sendall(SLOW_REQUESTS[language])
        assert wait_for(lambda: open_requests(patient) >= 30)
        begun = time.monotonic()
        assert patient.client.get("/health").status_code == 200
        assert patient.kip(READ).status_code == 200
        # Half of what they would take if they waited for one of the slow requests.
        assert time.monotonic() - begun < 25
    finally:
        for connection in slow:
            connection.close()
    assert wait_for(lambda: open_requests(patient) == 0)


@pytest.mark.parametrize("language", SLOW_REQUESTS)
def test_a_query_whose_client_hangs_up_is_cancelled(patient: RunningServer, language: str) -> None:
    with connect(patient) as connection:
        connection.sendall(SLOW_REQUESTS[language])
        assert wait_for(lambda: open_requests(patient) == 1)
        time.sleep(0.3)
    assert wait_for(lambda: open_requests(patient) == 0)
    assert wait_for(lambda: not is_busy(patient.pid))
    assert wait_for(lambda: " 499 " in patient.errors.read_text())


def is_busy(pid: int) -> bool:
    """Whether a process or one of its children uses the processor."""
    before = _ticks(pid)
    time.sleep(0.2)
    return _ticks(pid) - before > 10


def _ticks(pid: int) -> int:
    ticks = 0
    for one in (pid, *children(pid)):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def test_hanging_up_many_times_leaves_no_thread_busy(patient: RunningServer) -> None:
    def hang_up(_: int) -> None:
        with connect(patient) as connection:
            connection.sendall(SLOW_REQUESTS["KIP"])
            time.sleep(0.1)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(hang_up, range(80)))
    assert patient.kip(READ).status_code == 200
    assert wait_for(lambda: open_requests(patient) == 0)


# The end -----------------------------------------------------------------------------------------


def test_at_the_end_running_requests_are_answered_and_others_are_503(folder: Path) -> None:
    with serving(folder, "--read-only") as server, connect(server) as running:
        stream, idle = connect(server), connect(server)
        stream.sendall(head("GET", "/mcp", "Accept: text/event-stream"))
        assert stream.recv(1000).startswith(b"HTTP/1.1 200 ")
        running.sendall(kip_call(commands=[SHORTER] * 2))
        assert wait_for(lambda: open_requests(server) == 2)
        server.send_signal(signal.SIGTERM)
        statuses = set()
        with suppress(OSError):
            while True:
                idle.sendall(head("HEAD", "/health"))
                answer = idle.recv(10_000)
                if not answer:
                    break
                statuses.add(answer[9:12])
        assert statuses <= {b"200", b"503"}
        assert running.recv(1000).startswith(b"HTTP/1.1 200 ")
        assert server.wait(30) == 0
        stream.close()
        idle.close()


@pytest.mark.parametrize("language", SLOW_REQUESTS)
def test_the_end_of_the_time_for_running_requests_is_503_without_a_traceback(
    folder: Path, language: str
) -> None:
    with serving(folder, "--read-only", "--shutdown-timeout", "1") as server:
        with connect(server) as connection:
            connection.sendall(SLOW_REQUESTS[language])
            assert wait_for(lambda: open_requests(server) == 1)
            server.send_signal(signal.SIGTERM)
            connection.settimeout(60)
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "KIP_4003"
        assert server.wait() == 0
        assert "Traceback" not in server.errors.read_text()


# Descriptors -------------------------------------------------------------------------------------

FEW = (
    "import resource, sys, kiprdf.cli; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)); "
    "sys.argv[1:] = ['serve', *sys.argv[1:], '--read-only', '--port', '0', '--timeout', '50']; "
    "kiprdf.cli.main()"
)
"""A server that has 256 descriptors."""


@pytest.mark.parametrize(
    "beginning",
    [b"", b"POST /kip HTTP/1.1\r\nContent-Le", head("POST", "/kip", *LATE) + b'{"method"'],
    ids=["silent", "head", "body"],
)
def test_half_open_connections_beyond_the_descriptors_hold_up_nobody(
    folder: Path, beginning: bytes
) -> None:
    with running(["-c", FEW, str(folder)]) as server:
        stuck = []
        try:
            for _ in range(400):
                stuck.append(connect(server))
                with suppress(OSError):
                    stuck[-1].sendall(beginning)
            begun = time.monotonic()
            for path in ("/health", "/"):
                with connect(server) as connection:
                    connection.sendall(head("GET", path, "Connection: close"))
                    assert until_closed(connection).startswith(b"HTTP/1.1 200 ")
            assert server.kip(READ).status_code == 200
            # Half-open connections last a minute if nobody closes them.
            assert time.monotonic() - begun < 20
            # The oldest were closed, at once; the last ones still may complete their requests.
            assert until_closed(stuck[0]) == b""
            assert open_connections(server) < 256
        finally:
            for connection in stuck:
                connection.close()
        assert "Traceback" not in server.errors.read_text()


def open_connections(server: RunningServer) -> int:
    lines = server.client.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith("kiprdf_open_connections "))
    return int(line.split()[1])


def test_a_running_request_outlives_connections_that_wait(folder: Path) -> None:
    with running(["-c", FEW, str(folder)]) as server, connect(server) as first:
        first.sendall(kip_call(commands=[SHORTER]))
        assert wait_for(lambda: open_requests(server) >= 1)
        stuck = [connect(server) for _ in range(300)]
        first.settimeout(60)
        assert first.recv(1000).startswith(b"HTTP/1.1 200 ")
        for connection in stuck:
            connection.close()


def test_where_all_connections_have_requests_health_is_answered_and_others_are_503(
    folder: Path,
) -> None:
    with running(["-c", FEW, str(folder)]) as server:
        streams, answer = [], b"HTTP/1.1 200 "
        try:
            while answer.startswith(b"HTTP/1.1 200 "):
                streams.append(connect(server))
                streams[-1].sendall(head("GET", "/mcp", "Accept: text/event-stream"))
                answer = streams[-1].recv(1000)
            assert 64 <= len(streams) < 256
            assert answer.startswith(b"HTTP/1.1 503 ")
            begun = time.monotonic()
            statuses = {"/health": b"", "/": b""}
            for path in statuses:
                with connect(server) as connection, suppress(OSError):
                    connection.sendall(head("GET", path, "Connection: close"))
                    statuses[path] = until_closed(connection)[9:12]
            assert time.monotonic() - begun < 5
            assert statuses == {"/health": b"200", "/": b"503"}
        finally:
            for connection in streams:
                connection.close()
