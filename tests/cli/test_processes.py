"""The command line as a child process: streams, pipes, exit statuses, two processes at once."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.programs import Piped

from .conftest import Invoke, Run
from .runner import environment, run_process

COUNT = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'


def test_the_demo_shows_answers_and_writes_a_snapshot(
    run: Run, invoke: Invoke, tmp_path: Path
) -> None:
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "│ Paracetamol │                           1 │" in done.stdout
    assert "│ Caffeine    │ null        │" in done.stdout
    assert "│ Symptomatic Remedy   │                    10 │" in done.stdout
    assert "│ John Doe  │ (Drug:Aspirin, treats, Symptom:Headache)  │" in done.stdout
    assert "\n# kiprdf 1 base <urn:kip:nexus/>\n@prefix " in done.stdout
    assert "What to try next:" in done.stdout
    assert "\x1b" not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["medical.ttl"]
    # It overwrites its own snapshot.
    assert invoke("demo").exit_code == 0


DEMO_FAILURES = {
    "a missing folder": (
        ("demo", "--out", "nowhere/medical.ttl"),
        "kiprdf: nowhere/medical.ttl cannot be written: there is no folder nowhere.\n",
    ),
    "a file that is not a snapshot": (
        ("demo",),
        "kiprdf: medical.ttl exists and is not a snapshot; choose another file with --out.\n",
    ),
}


@pytest.mark.parametrize(("command", "sentence"), DEMO_FAILURES.values(), ids=DEMO_FAILURES)
def test_the_demo_overwrites_no_other_file(
    invoke: Invoke, tmp_path: Path, command: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "medical.ttl").write_text("my own work", "utf-8")
    answer = invoke(*command)
    assert (answer.exit_code, answer.stderr) == (1, sentence)
    assert (tmp_path / "medical.ttl").read_text("utf-8") == "my own work"


def test_the_script_runs_the_same_program(tmp_path: Path) -> None:
    done = run_process(program=["-c", "from kiprdf.cli import main; main()"], folder=tmp_path)
    assert done.returncode == 2
    assert "Usage: kiprdf" in done.stdout + done.stderr


@pytest.mark.parametrize("argument", [(), ("-",)])
def test_a_command_comes_from_standard_input(run: Run, argument: tuple[str, ...]) -> None:
    done = run("run", *argument, "--memory", stdin=b"\xef\xbb\xbfDESCRIBE DOMAINS\r\n")
    assert (done.returncode, done.stdout) == (0, "Archived\nCoreSchema\nSystem\nUnsorted\n")


def test_a_command_comes_from_a_file(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "ask.kip").write_text("// all of them\nDESCRIBE DOMAINS\n", "utf-8")
    done = invoke("run", "--file", "ask.kip", "--memory", "--json")
    assert done.stdout == '{"result": ["Archived", "CoreSchema", "System", "Unsorted"]}\n'


NOT_UTF_8 = "kiprdf: Standard input is not UTF-8 text: see line 1.\n"


@pytest.mark.parametrize(
    ("stdin", "error"),
    [
        *((stdin, NOT_UTF_8) for stdin in (b"FIND(\xff", b"\xff\xfe\x00")),
        *((stdin, "KIP_") for stdin in (b"", b"\x00", b"nonsense", b"}" * 9_999, b"(" * 9_999)),
    ],
)
def test_invalid_input_is_an_error(invoke: Invoke, stdin: bytes, error: str) -> None:
    answer = invoke("run", "--memory", input=stdin)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.startswith(error)


@pytest.mark.parametrize(("stdin", "error"), [(b"FIND(\xff", NOT_UTF_8), (b"(" * 9_999, "KIP_")])
def test_invalid_input_shows_no_traceback(run: Run, stdin: bytes, error: str) -> None:
    done = run("run", "--memory", stdin=stdin)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(error)
    assert "Traceback" not in done.stderr


def test_an_argument_that_is_no_text_is_a_kip_error(run: Run) -> None:
    done = run("run", "FIND(\udcff)", "--memory")
    assert done.returncode == 1
    assert done.stderr.startswith("KIP_1001 1:6 ")


@pytest.mark.parametrize(("options", "logged"), [((), False), (("--debug",), True)])
def test_a_failing_engine_shows_its_traceback_on_demand(
    tmp_path: Path, options: tuple[str, ...], logged: bool
) -> None:
    code = """if True:
        import kiprdf.kql.find
        from kiprdf.cli import main

        def find(*_):
            raise RuntimeError("broken")

        kiprdf.kql.find.run = find
        main()
    """
    arguments = (*options, "run", 'FIND(?d) WHERE { ?d {type: "Domain"} }', "--memory")
    done = run_process(*arguments, program=["-c", code], folder=tmp_path)
    assert done.returncode == 1
    assert "KIP_4003 The engine failed: RuntimeError." in done.stderr
    assert ("Traceback" in done.stderr) is logged


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", [("run", "DESCRIBE PRIMER", "--memory"), ("demo",)])
def test_a_full_disk_is_one_sentence(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command, stdout=Path("/dev/full"))
    assert (done.returncode, done.stderr) == (1, "kiprdf: No space left on device.\n")


def test_a_closed_pipe_is_not_an_error(run_afresh: Run) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run_afresh("run", "DESCRIBE PRIMER", "--memory", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


FOREIGN = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def test_a_snapshot_is_utf8_in_any_locale(loaded: Invoke, run_afresh: Run, tmp_path: Path) -> None:
    done = run_afresh("snapshot", env=FOREIGN)
    loaded("snapshot", "a.ttl")
    assert done.stdout == (tmp_path / "a.ttl").read_text("utf-8")


def test_a_character_that_the_terminal_lacks_is_shown_as_its_code(
    loaded: Invoke, run_afresh: Run
) -> None:
    ask = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name != "Aspirin") }'
    done = run_afresh("run", ask, env=FOREIGN)
    assert done.returncode == 0
    assert "\\u963f\\u53f8" in done.stdout


def test_json_is_one_document_for_a_pipe(loaded: Invoke, run: Run) -> None:
    done = run("run", 'FIND(?d) WHERE { ?d {type: "Drug"} } LIMIT 1', "--json")
    document = json.loads(done.stdout)
    assert list(document) == ["result", "next_cursor"]
    assert document["result"][0]["_type"] == "ConceptNode"


def test_reading_works_beside_a_writer_and_writing_does_not(
    loaded: Invoke, run: Run, drugs: Path, tmp_path: Path
) -> None:
    (tmp_path / "drugs.ttl").write_text("<urn:x:1> a <http://xmlns.com/foaf/0.1/Person> .")
    with Piped(["-m", "kiprdf", "shell"], environment=environment(), folder=tmp_path) as shell:
        shell.send(".json on\nDESCRIBE DOMAINS;")
        assert shell.readline().startswith('{"result"')
        assert run("run", COUNT, "--json").stdout == '{"result": 2}\n'
        served = [run("serve", "--port", "0"), run("mcp")]
        refused = {
            "run": loaded("run", 'UPSERT { CONCEPT { {type: "Drug", name: "x"} } }'),
            "shell": loaded("shell"),
            "forget": loaded("forget", COUNT),
            "import": loaded("import", "drugs.ttl", "--mapping", "foaf"),
            "optimize": loaded("optimize"),
            "compact-history": loaded("compact-history", "--before", "1"),
            "load": loaded("load", "drugs.kip"),
            "undo": loaded("undo", "--seq", "2"),
            "memory": loaded("memory", "add", "I prefer tea."),
            "rebuild": loaded("rebuild"),
            "check": loaded("check", "--repair"),
        }
        shell.finish(30)
        assert shell.status == 0
    assert {each.exit_code for each in refused.values()} == {1}
    assert [each.returncode for each in served] == [1, 1]
    where = f"kiprdf: Another process has the nexus in {tmp_path}/nexus open: close it there"
    to_serve = ", or serve the state of now with --read-only.\n"
    over = ", or, if that is kiprdf serve, name its address: "
    over += "--nexus http://HOST:PORT/ (and its --token).\n"
    stop = " first; if that is kiprdf serve, stop it, "
    stop += "because a server does not run this command.\n"
    several = to_serve.replace(".\n", "; kiprdf serve has several clients at once.\n")
    assert [each.stderr.removeprefix(where) for each in served] == [to_serve, several]
    assert {name: each.stderr.removeprefix(where) for name, each in refused.items()} == {
        "run": ", or, if that is kiprdf serve, send the command to its address, POST /kip.\n",
        "shell": ", or read the state of now with --read-only.\n",
        **dict.fromkeys(("forget", "import", "optimize", "compact-history"), over),
        **dict.fromkeys(("load", "undo", "memory", "rebuild", "check"), stop),
    }


def test_a_graph_that_was_written_again_is_noted(run: Run, tmp_path: Path) -> None:
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }'
    run("run", write, "--nexus", "brain")
    shutil.rmtree(tmp_path / "brain" / "graph")
    done = run("check", "--nexus", "brain")
    assert done.returncode == 0
    assert done.stderr.startswith("The graph of the nexus in ")
    assert " It was written again from its history, as of commit 2; the damaged one is in " in (
        done.stderr
    )
