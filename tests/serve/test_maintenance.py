"""A nexus that is being served is copied, forgotten in, optimized and imported into, by URL."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import socket
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from tests.cases import each_case
from tests.cli.runner import invoke
from tests.serve.running import RunningServer, running, serving

TOKENS = {"KIPRDF_TOKEN": "s3cret", "KIPRDF_READ_TOKEN": "r3ad"}
WRITER, READER = ({"Authorization": f"Bearer {token}"} for token in ("s3cret", "r3ad"))
ADD = 'UPSERT { CONCEPT { {type: "Person", name: :name} } }'
JANE = 'FIND(?p) WHERE { ?p {type: "Person", name: "Jane"} }'
PERSONS = 1_500
PEOPLE = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<https://example.org/#ada> a foaf:Person ; foaf:name "Ada" ; foaf:knows <https://example.org/#bob> .
<https://example.org/#bob> a foaf:Person ; foaf:name "Bob" .
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maintained") / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        for name in ("Jane", "Ann"):
            nexus.execute(ADD, name=name)
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    return shutil.copytree(prepared, tmp_path / "kb")


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[RunningServer]:
    """A server with both tokens and an audit log."""
    with serving(folder, "--audit-log", str(tmp_path / "audit.log"), **TOKENS) as started:
        yield started


@pytest.fixture(scope="module")
def refusing(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that the tests of this file change nothing in."""
    copy = shutil.copytree(prepared, tmp_path_factory.mktemp("refusing") / "kb")
    with serving(copy, **TOKENS) as started:
        yield started


def run(server: RunningServer, *arguments: str, token: str = "s3cret") -> Any:
    return invoke(*arguments, "--nexus", server.address, env={"KIPRDF_TOKEN": token})


def temporary(folder: Path) -> list[str]:
    return [path.name for path in (folder / "history").glob("past-*")]


@pytest.mark.parametrize("more", [(), ("--update-url", "http://127.0.0.1:1/")])
def test_a_command_for_stores_says_what_a_server_takes(
    refusing: RunningServer, more: tuple[str, ...]
) -> None:
    done = run(refusing, "run", JANE, *more)
    assert done.exit_code == 1
    assert done.stderr == (
        f"kiprdf: {refusing.address} is a kiprdf server, not a SPARQL store: send commands to it "
        "by POST /kip; --nexus with its address is for forget, erasures apply, import, optimize, "
        "compact-history and backup.\n"
    )


# Backups --------------------------------------------------------------------------------------


def test_backup_of_a_server_has_everything(
    server: RunningServer, folder: Path, tmp_path: Path
) -> None:
    server.kip(ADD, WRITER, name="Late", parameters={"name": "Late"})
    (tmp_path / "empty").mkdir()
    for name in ("copy", "empty"):
        answer = run(server, "backup", str(tmp_path / name))
        assert (answer.exit_code, answer.stdout) == (0, "")
    assert answer.stderr == f"Copied {server.address} to {tmp_path / 'empty'}.\n"
    again = run(server, "backup", str(tmp_path / "copy"))
    assert (again.exit_code, "is not empty; a backup needs" in again.stderr) == (1, True)
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        report = copy.check()
        assert (report["faults"], report["history"]["state"]) == ([], "sound")
        assert copy.history("C:Person/Jane")["entries"][0]["change"] == "created"
    assert temporary(folder) == []


def test_backup_is_a_tar_for_those_who_write(refusing: RunningServer) -> None:
    server = refusing
    for path in ("/backup", "/maintenance/backup"):
        assert server.client.post(path).status_code == 401
        refusal = server.client.post(path, headers=READER)
        assert (refusal.status_code, refusal.json()["error"]["code"]) == (403, "HTTP_403")
        assert server.client.get(path, headers=WRITER).status_code == 405
        foreign = {**WRITER, "Origin": "http://elsewhere.example"}
        assert server.client.post(path, headers=foreign).status_code == 403
        answer = server.client.post(path, headers=WRITER)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-tar")
        with tarfile.open(fileobj=io.BytesIO(answer.content)) as tar:
            names = tar.getnames()
        assert {"graph/CURRENT", "history/000001.klog"} <= {*names}
        assert names[-1] == "nexus.json"


def test_backup_of_a_server_that_only_reads(folder: Path, tmp_path: Path) -> None:
    with serving(folder, "--read-only") as reader:
        assert run(reader, "backup", str(tmp_path / "copy")).exit_code == 0
        assert "only reads" in run(reader, "optimize").stderr
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert copy.check()["history"]["state"] == "sound"


def test_backup_of_a_server_in_memory(tmp_path: Path) -> None:
    with running(["-m", "kiprdf", "serve", "--memory", "--port", "0"]) as server:
        server.kip(ADD, parameters={"name": "Ada"})
        assert run(server, "backup", str(tmp_path / "copy")).exit_code == 0
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert len(copy.execute('FIND(?p) WHERE { ?p {type: "Person"} }')) == 3


def test_backup_that_a_client_leaves_is_removed(server: RunningServer, folder: Path) -> None:
    for n in range(3):
        large = f"{n}" * 1_000_000
        server.kip(
            'UPSERT { CONCEPT { {type: "Person", name: "Large"} SET ATTRIBUTES {a: :a} } }',
            WRITER,
            parameters={"a": large},
        )
    host, port = re.findall(r"//(.*):(\d+)/", server.address)[0]
    with socket.create_connection((host, int(port))) as client:
        head = f"POST /backup HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer s3cret\r\n"
        client.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
        assert len(temporary(folder)) == 1
    deadline = time.monotonic() + 20
    while temporary(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert temporary(folder) == []


# What a client gets that is no backup ---------------------------------------------------------


def tar_with(name: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A tar with one more member than a manifest."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for member, content in ((name, b"hostile"), ("nexus.json", b"{}")):
            info = tarfile.TarInfo(member)
            info.type = kind if member == name else tarfile.REGTYPE
            info.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
            info.size = len(content) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


WHOLE = tar_with("graph/CURRENT")
ANSWERS = {
    "absolute": (tar_with("/tmp/hostile"), "a member '/tmp/hostile'"),
    "above": (tar_with("../hostile"), "a member '../hostile'"),
    "within": (tar_with("graph/../../hostile"), "which no backup has"),
    "symbolic link": (tar_with("graph", tarfile.SYMTYPE), "which no backup has"),
    "hard link": (tar_with("graph", tarfile.LNKTYPE), "which no backup has"),
    "device": (tar_with("graph", tarfile.CHRTYPE), "which no backup has"),
    "pipe": (tar_with("graph", tarfile.FIFOTYPE), "which no backup has"),
    "without manifest": (WHOLE[:1024], "is not complete"),
    "cut in a member": (WHOLE[:700], "is not complete"),
    "nothing": (b"", "is not complete"),
    "no tar": (b"<html>" * 500, "is not complete"),
    "compressed": (gzip.compress(WHOLE), "is not complete"),
    "cut connection": (WHOLE, "is incomplete"),
    "no graph": (WHOLE, "is no nexus"),
    "more behind the end": (WHOLE + b"more", "is not complete"),
    "zeros without end": (WHOLE + bytes(10**6), "is not complete"),
}


def test_a_backup_takes_no_arguments(refusing: RunningServer) -> None:
    refused = refusing.client.post("/backup", json={"history": False}, headers=WRITER)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "KIP_1001")
    assert refusing.client.post("/backup", json={}, headers=WRITER).status_code == 200


def download(body: bytes, target: Path, more: int = 0) -> Any:
    """What ``kiprdf backup`` does with an answer whose length says more than there is."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"name": "kiprdf"}')

        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body) + more))
            self.end_headers()
            with suppress(OSError):  # the client may have seen enough
                self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        answer = invoke("backup", str(target), "--nexus", address)
        server.shutdown()
    return answer


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_backup_leaves_nothing(tmp_path: Path, name: str) -> None:
    body, sentence = ANSWERS[name]

    more = 100 * (name == "cut connection")
    answer = download(body, tmp_path / "to" / "copy", more)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert sentence in answer.stderr
    assert [path for path in tmp_path.rglob("*") if path.name != "to"] == []


@pytest.mark.parametrize("blocks", [0, 1, 5, 19])
def test_zeros_at_the_end_of_a_backup_are_part_of_it(tmp_path: Path, blocks: int) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        nexus.backup(tmp_path / "copy")
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        tar.add(tmp_path / "copy", ".")
    answer = download(stream.getvalue() + bytes(512 * blocks), tmp_path / "to")
    assert (answer.exit_code, answer.stderr.count("Copied")) == (0, 1)
    with kiprdf.Nexus.open(tmp_path / "to", read_only=True) as copy:
        assert copy.check()["faults"] == []


# Maintenance ----------------------------------------------------------------------------------


def test_commands_of_a_server_are_those_of_a_folder(
    server: RunningServer, folder: Path, tmp_path: Path
) -> None:
    plan = run(server, "forget", JANE, "--dry-run", "--json")
    assert json.loads(plan.stdout)["elements"] == ["C:Person/Jane"]
    done = run(server, "forget", 'FIND(?p) WHERE { ?p {type: "Person", name: :n} }', "-p", "n=Jane")
    assert (done.exit_code, done.stdout) == (0, "C:Person/Jane\n")
    assert run(server, "compact-history", "--before", "2").stdout == (
        "The history begins at commit 2.\n"
    )
    sizes = json.loads(run(server, "optimize", "--json").stdout)
    assert sizes.keys() == {"before", "after"}
    people, notes = tmp_path / "people.ttl", tmp_path / "mine.jsonld"
    people.write_text(PEOPLE)
    notes.write_text('{"@context": {"Person": "http://xmlns.com/foaf/0.1/Person"}}')
    dry = run(server, "import", str(people), "-m", "foaf", "--dry-run")
    assert "concepts: 2 created, 0 updated, 0 unchanged" in dry.stdout
    for created, unchanged in ((2, 0), (0, 2)):
        answer = run(server, "import", str(people), "-m", "foaf", "-m", str(notes))
        assert answer.exit_code == 0, answer.stderr
        assert f"concepts: {created} created, 0 updated, {unchanged} unchanged" in answer.stdout
    notes.write_text("{")
    broken = run(server, "import", str(people), "-m", str(notes))
    assert (broken.exit_code, f"{notes} is not JSON" in broken.stderr) == (1, True)
    names = 'FIND(?p.name, ?p.metadata.source) WHERE { ?p {type: "Person", name: "Ada"} }'
    assert server.kip(names, WRITER).json()["result"] == [["Ada"], ["people.ttl"]]
    audit = (tmp_path / "audit.log").read_text()
    assert [json.loads(line)["receipt"]["command"] for line in audit.splitlines()] == [
        *("forget", "compact-history", "optimize", "import", "import")
    ]
    assert "Jane" not in audit
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert nexus.check()["history"]["faults"] == []


@pytest.mark.parametrize("name", ["derived", "dry_run"])
def test_a_parameter_of_forget_has_no_name_of_an_argument(server: RunningServer, name: str) -> None:
    command = f'FIND(?p) WHERE {{ ?p {{type: "Person", name: :{name}}} }}'
    answer = server.client.post(
        "/maintenance/forget",
        json={"command": command, "parameters": {name: "Jane"}, "dry_run": True},
        headers=WRITER,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KIP_1001")


def test_a_served_nexus_forgets_what_a_list_names_and_what_has_no_other_evidence(
    server: RunningServer, folder: Path, tmp_path: Path
) -> None:
    conclude = """UPSERT { CONCEPT { {type: "Insight", name: "Zebrafinch"}
      SET PROPOSITIONS { ("derived_from", {type: "Person", name: "Ann"}) } } }"""
    server.kip(conclude, WRITER)
    dry = run(server, "forget", JANE.replace("Jane", "Ann"), "--derived", "--dry-run")
    assert dry.stdout.splitlines()[::2] == ["C:Person/Ann", "C:Insight/Zebrafinch"]
    with kiprdf.Nexus.memory() as other:
        other.execute(ADD, name="Jane")
        other.forget(JANE)
        other.erasures(tmp_path / "list.txt")
    apply = ("erasures", "apply", str(tmp_path / "list.txt"))
    for option, listed in (("--dry-run", 1), ("--json", 1), ("--json", 0)):
        answer = run(server, *apply, option)
        assert answer.exit_code == 0, answer.stderr
        if option == "--json":
            report = json.loads(answer.stdout)
            assert (report["erased"], report["listed"]) == (listed, listed)
        else:
            assert answer.stdout == (
                "1 element erased, 1 commit of the history rewritten, 1 digest added to the list\n"
            )
    people = server.kip('FIND(?p.name) WHERE { ?p {type: "Person"} }', WRITER).json()["result"]
    assert sorted(people) == ["$self", "$system", "Ann"]
    assert run(server, "forget", JANE.replace("Jane", "Ann"), "--derived").exit_code == 0
    (tmp_path / "list.txt").write_text("kiprdf erasures 1\nJane\n")
    broken = run(server, *apply)
    assert (broken.exit_code, "Line 2 of the erasure list" in broken.stderr) == (1, True)
    assert run(server, *apply, token="r3ad").exit_code == 1
    audit = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    maintenance = [line["receipt"] for line in audit if "command" in line["receipt"]]
    assert [(one["command"], one["commit"]) for one in maintenance] == [
        ("apply-erasures", 5),
        ("apply-erasures", 5),
        ("forget", 6),
    ]
    assert "Jane" not in str(audit)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        shown = [one for one in nexus.changes()["commits"] if one["kind"] == "FORGET"]
        assert [(one["seq"], one["forgotten"]) for one in shown] == [(5, 1), (6, 3)]
        assert all(one["at"] and one["author"] for one in shown)
        assert "Ann" not in str(shown)
        # Its id, those of the conclusion and their link, and Jane's.
        assert len(nexus.erasures().splitlines()) == 5


def test_a_harvest_through_a_server_is_that_of_a_folder(
    server: RunningServer, tmp_path: Path
) -> None:
    path, two = tmp_path / "cat.ttl.gz", str(tmp_path / "cat.nt")
    Path(two).write_bytes(b'<urn:bad iri> <urn:b> <urn:c> .\n<urn:a> <urn:b> "\xff" .')
    options = ("--define", "--source", "cat", "--replace", "--json")
    for text in ("<urn:a> a <urn:T> . <urn:b> a <urn:T> .", "<urn:a> a <urn:T> ."):
        path.write_bytes(gzip.compress(text.encode()))
        answers = [
            run(server, "import", str(path), *options),
            invoke("import", str(path), *options, "--nexus", str(tmp_path / "local")),
        ]
        assert [answer.stdout[:1] for answer in answers] == ["{", "{"], answers
        there, here = (json.loads(answer.stdout) for answer in answers)
        assert there["replaced"] == here["replaced"]
    (superseded,) = there["replaced"]["elements"]
    assert (superseded["element"], superseded["change"]) == ("T:b", "superseded")
    lenient = json.loads(run(server, "import", two, "--lenient", "--json").stdout)
    assert sorted(one["line"] for one in lenient["skipped"]) == [1, 2]
    both = run(server, "import", str(path), two, *options)
    assert both.stderr.startswith("kiprdf: A server takes one file that replaces"), both.stderr
    owl = tmp_path / "both.ttl"
    owl.write_text("<urn:K> a <http://www.w3.org/2002/07/owl#Class> . <urn:k> a <urn:K> .", "utf-8")
    answer = json.loads(run(server, "import", str(owl), "--ontology", "--define", "--json").stdout)
    assert answer["definitions"]["concept_types"] == ["K"]
    assert answer["concepts"]["created"] == 1


def test_importing_several_files_knows_the_others(server: RunningServer, tmp_path: Path) -> None:
    """Terms that share a local name get different names, as in a folder."""
    for place in ("a", "b"):
        term = f"<https://{place}.example/#Thing>"
        (tmp_path / f"{place}.ttl").write_text(
            f"{term} a <http://www.w3.org/2002/07/owl#Class> .\n"
        )
    files = [str(tmp_path / f"{place}.ttl") for place in ("a", "b")]
    there = run(server, "import", *files, "--ontology")
    here = invoke("import", *files, "--ontology", "--nexus", str(tmp_path / "local"))
    assert (there.exit_code, there.stdout) == (0, here.stdout)


@each_case(
    "path, body, status, code, words",
    [
        ("restart", {}, 404, "HTTP_404", "There is no maintenance command restart."),
        ("forget", {}, 400, "KIP_1001", "command: Field required"),
        ("forget", {"command": JANE, "dryrun": True}, 400, "KIP_1001", "dryrun: Extra inputs"),
        ("forget", {"command": JANE, "dry_run": "yes"}, 400, "KIP_1001", "dry_run: Input should"),
        ("forget", {"command": "FIND(?x)"}, 400, "KIP_1001", "WHERE"),
        ("forget", [JANE], 400, "KIP_1001", "the body: Input should be"),
        ("compact-history", {"before": 9_999}, 404, "KIP_3002", "There is no commit 9999"),
        ("optimize", {"fast": 1}, 400, "KIP_1001", "fast: Extra inputs"),
        ("import", {"source": PEOPLE, "mapping": "/etc/passwd"}, 400, "KIP_1001", "no mapping"),
        ("import", {"source": PEOPLE, "mapping": ["foaf", "x"]}, 400, "KIP_1001", "no mapping"),
        ("import", {"source": "/etc/passwd"}, 400, "KIP_1001", ""),
        ("import", {"source": PEOPLE, "context": "/etc/passwd"}, 400, "KIP_1001", "context"),
        ("import", {"source": "", "context": {"u": "/etc/passwd"}}, 400, "KIP_1001", "context"),
        ("import", {"source": "", "inherit": True}, 400, "KIP_1001", "inherit cannot be"),
        ("import", {"source": "x" * 3_000_000}, 413, "HTTP_413", "longer than 2097152 bytes"),
    ],
)
def test_malformed_arguments_are_named(
    refusing: RunningServer, path: str, body: Any, status: int, code: str, words: str
) -> None:
    answer = refusing.client.post(f"/maintenance/{path}", json=body, headers=WRITER)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert words in error["message"] + error["hint"]
    assert "root:" not in answer.text


def test_maintenance_needs_the_right_and_the_type(server: RunningServer) -> None:
    post = server.client.post
    assert post("/maintenance/optimize").status_code == 401
    assert post("/maintenance/optimize", headers=READER).status_code == 403
    form = {**WRITER, "Content-Type": "text/plain"}
    assert post("/maintenance/optimize", content=b"{}", headers=form).status_code == 415
    assert post("/maintenance/optimize", content=b"[", headers=WRITER).status_code == 415
    assert post("/maintenance/optimize", headers=WRITER).json().keys() == {"before", "after"}
    assert post("/maintenance/compact_history", json={"before": 1}, headers=WRITER).json() == {
        "earliest_seq": 1,
        "commits": 1,
    }
    paths = server.client.get("/openapi.json", headers=READER).json()["paths"]
    assert {"/backup", "/maintenance/forget", "/maintenance/import"} <= paths.keys()


def test_the_command_line_says_what_the_server_refuses(refusing: RunningServer) -> None:
    server = refusing
    for token, words in (
        ("", "needs a token: set --token or KIPRDF_TOKEN."),
        ("wrong", "needs a token: set --token or KIPRDF_TOKEN."),
        ("r3ad", "answers 403: This token only reads."),
    ):
        answer = run(server, "optimize", token=token)
        assert (answer.exit_code, words in answer.stderr) == (1, True), answer.stderr
    answer = run(server, "forget", "FIND(?x)")
    assert (answer.exit_code, answer.stderr.startswith("KIP_1001 ")) == (1, True)
    no_server = invoke("optimize", "--nexus", "http://127.0.0.1:1/")
    assert (no_server.exit_code, "cannot be reached" in no_server.stderr) == (1, True)


def test_others_read_while_a_command_runs(server: RunningServer) -> None:
    """Not one answer waits for the import, which takes much longer than each of them."""
    foaf = "<http://xmlns.com/foaf/0.1/{}>".format
    rows = [
        f'<urn:x:{n}> a {foaf("Person")} ; {foaf("name")} "Person {n}" .\n' for n in range(PERSONS)
    ]
    body = {"source": "".join(rows), "mapping": "foaf"}
    reports: list[httpx.Response] = []

    def maintain() -> None:
        with httpx.Client(base_url=server.address, headers=WRITER, timeout=120) as client:
            for name, arguments in (("import", body), ("forget", {"command": JANE})):
                reports.append(client.post(f"/maintenance/{name}", json=arguments))

    thread = threading.Thread(target=maintain)
    begun, waits = time.perf_counter(), []
    thread.start()
    while thread.is_alive():
        at = time.perf_counter()
        answer = server.kip('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }', READER)
        assert answer.status_code == 200
        waits.append(time.perf_counter() - at)
    thread.join()
    assert [report.status_code for report in reports] == [200, 200]
    assert reports[0].json()["concepts"]["created"] == PERSONS
    assert len(waits) > 5
    assert max(waits) < (time.perf_counter() - begun) / 2
