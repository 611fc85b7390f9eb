"""The command ``kiprdf serve``: options, signals, log, audit, numbers."""

from __future__ import annotations

import json
import signal
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from tests.cli.runner import invoke, run_process
from tests.nexus.support import FACTS, SCHEMA
from tests.serve.raw import connect, until_closed
from tests.serve.running import serving

WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: "Written"} } }'


@pytest.fixture
def nexus_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
    return folder


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_with_0_and_frees_the_folder(
    nexus_folder: Path, number: signal.Signals
) -> None:
    with serving(nexus_folder) as server:
        assert server.kip(WRITE).status_code == 200
        assert server.stop(number) == 0
    with kiprdf.Nexus.open(nexus_folder) as nexus:
        assert nexus.execute('FIND(?d.name) WHERE { ?d {name: "Written"} }') == ["Written"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_requests_end_before_the_server(nexus_folder: Path, number: signal.Signals) -> None:
    slow = 'FIND(COUNT(?a)) WHERE { ?a {type: "Drug"} ?b {type: "$ConceptType"} }'
    statuses: list[int] = []
    with serving(nexus_folder) as server:

        def write() -> None:
            others = [WRITE.replace("Written", f"Written {n}") for n in range(55)]
            commands = [*others, *[slow] * 200, WRITE]
            call = {"method": "execute_kip", "params": {"commands": commands}}
            statuses.append(httpx.post(f"{server.address}kip", json=call, timeout=60).status_code)

        thread = threading.Thread(target=write)
        thread.start()
        while "kiprdf_open_requests 2" not in server.client.get("/metrics").text:
            if not thread.is_alive():
                break
        server.client.close()
        server.send_signal(number)
        thread.join(60)
        assert server.wait() == 0
    assert statuses == [200]
    with kiprdf.Nexus.open(nexus_folder) as nexus:
        assert nexus.execute('FIND(?d.name) WHERE { ?d {name: "Written"} }') == ["Written"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--memory", "--host", "0.0.0.0", "--port", "0"],
        ["--memory", "--token", ""],
        ["--memory", "--token", "same", "--read-token", "same"],
        ["--memory", "--base-url", "ftp://kb.example/"],
        ["--memory", "--timeout", "-1"],
    ],
)
def test_unusable_options_end_with_2_and_a_sentence(arguments: list[str]) -> None:
    answer = invoke("serve", *arguments)
    assert answer.exit_code == 2
    assert answer.stderr.strip().endswith(".")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_an_address_is_no_folder(tmp_path: Path, command: str) -> None:
    process = run_process(command, "http://127.0.0.1:9/kb", folder=tmp_path)
    assert process.returncode == 1
    assert process.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_not_created_to_read(tmp_path: Path) -> None:
    arguments = ("serve", "/nonexistent/kb", "--read-only", "--port", "0")
    process = run_process(*arguments, folder=tmp_path)
    assert process.returncode == 1
    assert "no nexus" in process.stderr


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_a_missing_folder_is_created_only_on_request(tmp_path: Path, command: str) -> None:
    missing = tmp_path / "brian"
    process = run_process(command, str(missing), folder=tmp_path)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == (
        f"kiprdf: There is no nexus in {missing}; check the name, or add --create.\n"
    )
    assert not missing.exists()


def test_a_new_nexus_is_served_on_request_and_said(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    with serving(folder, "--create", "--log-format", "json") as server:
        assert server.kip("DESCRIBE DOMAINS").status_code == 200
        first = json.loads(server.errors.read_text().splitlines()[0])
        assert first["message"] == f"There was no nexus in {folder}: it is a new one."
        assert server.stop() == 0
    with serving(folder) as server:
        server.stop()
        assert "new one" not in server.errors.read_text()


def test_mcp_creates_a_nexus_on_request(tmp_path: Path) -> None:
    process = run_process("mcp", str(tmp_path / "brain"), "--create", folder=tmp_path)
    assert (process.returncode, process.stdout) == (0, "")
    assert (tmp_path / "brain").is_dir()


def test_a_port_in_use_is_one_sentence(nexus_folder: Path) -> None:
    with serving(nexus_folder, "--read-only") as server:
        port = server.address.strip("/").rpartition(":")[2]
        arguments = ("serve", str(nexus_folder), "--read-only", "--port", port)
        process = run_process(*arguments, folder=nexus_folder)
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert port in process.stderr


def test_a_line_is_logged_for_each_request_without_values(nexus_folder: Path) -> None:
    with serving(nexus_folder, "--log-format", "json", "--token", "s3cret") as server:
        headers = {"Authorization": "Bearer s3cret"}
        server.kip('FIND(?d.name) WHERE { ?d {name: "Aspirin"} }', headers)
        server.client.get("/sparql", params={"query": "ASK { ?secret ?p ?o }"}, headers=headers)
        server.client.get("/nothing")
        server.stop()
        text = server.errors.read_text()
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    shown = [(line["method"], line["path"], line["status"], line["token"]) for line in lines]
    assert shown == [
        ("POST", "/kip", 200, "write"),
        ("GET", "/sparql", 200, "write"),
        ("GET", "/nothing", 401, "none"),
    ]
    assert lines[0]["rows"] == 1
    assert lines[0]["commit"] > 0
    assert all(line["ms"] >= 0 for line in lines)
    assert not any(word in text for word in ("Aspirin", "secret", "s3cret"))


def test_the_text_and_the_audit_log_have_a_line_for_each_request_or_write(
    nexus_folder: Path, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.jsonl"
    with serving(nexus_folder, "--audit-log", str(audit)) as server:
        server.kip("DESCRIBE DOMAINS")
        server.kip(WRITE)
        server.kip(WRITE, dry_run=True)
        server.kip('UPSERT { CONCEPT { {type: "Nope", name: "x"} } }')
        server.stop()
        lines = server.errors.read_text().splitlines()
    assert [line.split()[:3] for line in lines] == [
        *(["POST", "/kip", "200"] for _ in range(3)),
        ["POST", "/kip", "400"],
    ]
    assert all(line.endswith(" token=none") for line in lines)
    (line,) = [json.loads(line) for line in audit.read_text().splitlines()]
    assert (line["principal"], line["token"]) == ("local", "none")
    assert line["receipt"]["upsert_concept_nodes"] == ["C:Drug/Written"]
    assert len(line["statement"]) == 64
    assert line["time"].startswith("20")


def test_the_audit_log_is_rotated_at_10_mb(nexus_folder: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    audit.write_text('{"old": "%s"}\n' % ("x" * 9_999_800))
    with serving(nexus_folder, "--audit-log", str(audit)) as server:
        for _ in range(2):
            assert server.kip(WRITE).status_code == 200
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    former = (tmp_path / "audit.jsonl.1").read_text().splitlines()
    assert len(lines) + len(former) == 3
    assert lines[-1]["receipt"]["upsert_concept_nodes"] == ["C:Drug/Written"]
    keys = {"time", "principal", "session", "token", "statement", "receipt"}
    assert all(set(line) == keys for line in lines)


def test_an_audit_log_that_cannot_be_written_is_one_sentence(nexus_folder: Path) -> None:
    arguments = ("serve", str(nexus_folder), "--port", "0")
    options = ("--audit-log", "/nonexistent/audit.jsonl")
    process = run_process(*arguments, *options, folder=nexus_folder)
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert "/nonexistent/audit.jsonl" in process.stderr


def test_each_line_of_the_json_log_is_an_object(nexus_folder: Path) -> None:
    with serving(nexus_folder, "--log-format", "json") as server:
        for request in (b"nonsense\r\n\r\n", b"GET /%ff\\\xff HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with connect(server) as connection:
                connection.sendall(request)
                until_closed(connection)
        server.client.get("/health")
        server.stop()
        lines = [json.loads(line) for line in server.errors.read_text().splitlines()]
    assert [line["level"] for line in lines] == ["WARNING", "WARNING", "INFO"]
    assert all(line["time"].startswith("20") for line in lines)


def test_metrics_count_without_names(nexus_folder: Path) -> None:
    with serving(nexus_folder) as server:
        server.kip("DESCRIBE DOMAINS")
        server.client.get("/data/Drug/Aspirin")
        server.client.get("/secret-name")
        server.client.request("SECRET", "/kip")
        text = server.client.get("/metrics").text
        assert "\nkiprdf_open_connections 1\n" in text
    assert 'kiprdf_requests_total{route="/kip",method="POST",status="200"} 1' in text
    assert 'kiprdf_requests_total{route="/data",method="GET",status="200"} 1' in text
    assert 'kiprdf_requests_total{route="other",method="GET",status="404"} 1' in text
    assert "secret" not in text.lower()
    commit = next(line for line in text.splitlines() if line.startswith("kiprdf_commit "))
    assert int(commit.split()[1]) > 0


def test_a_nexus_in_memory_is_served() -> None:
    with serving("ignored", "--memory") as server:
        answer = server.client.get("/").json()
    assert answer["name"] == "kiprdf"
    assert answer["read_only"] is False
    assert answer["base_iri"] == "urn:kip:nexus/"


def test_the_openapi_document_names_the_routes(nexus_folder: Path) -> None:
    with serving(nexus_folder, "--read-only") as server:
        document = server.client.get("/openapi.json").json()
        assert server.client.get("/").json()["read_only"] is True
    names = ("forget", "apply-erasures", "optimize", "compact-history", "import")
    maintenance = {f"/maintenance/{name}" for name in names}
    own = {"/kip", "/sparql", "/graph", "/feed", "/backup"}
    assert set(document["paths"]) == own | maintenance


def test_small_answers_over_one_connection_do_not_wait_for_acknowledgements() -> None:
    with serving("ignored", "--memory") as server:
        times = []
        for _ in range(30):
            begun = time.perf_counter()
            server.client.get("/health")
            times.append(time.perf_counter() - begun)
    assert statistics.median(times) < 0.03
