"""The house rules that a machine can check: layers, lint, the top level."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from kiprdf import Nexus

ROOT = Path(__file__).resolve().parent.parent


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_imports_point_down() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing() -> None:
    _run("ruff", "check", "--quiet", ".")


def test_code_is_formatted() -> None:
    _run("ruff", "format", "--check", "--quiet", ".")


def test_only_the_text_module_writes_sparql() -> None:
    writers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kiprdf").rglob("*.py")
        if "SELECT DISTINCT" in path.read_text("utf-8").replace("``SELECT DISTINCT", "")
    }
    assert writers == {"kiprdf/sparql/text.py"}


def test_import_kiprdf_leaves_slow_libraries_alone() -> None:
    libraries = {"rdflib", "typer", "rich", "numpy", "pydantic", "pyparsing", "xml", "jinja2"}
    libraries.add("kiprdf.interchange.formats.parsing")
    code = "import sys, kiprdf; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert "kiprdf" in done.stdout.split()
    assert libraries & set(done.stdout.split()) == set()


MODULES, DATACLASSES, PATTERNS = 145, 145, 85
"""The most that an import loads, defines and compiles."""
UNUSED_BY_AN_IMPORT = """
    asyncio base64 bz2 difflib fractions html importlib.resources logging lzma pickle secrets shutil
    tempfile traceback
"""
UNUSED_BY_A_FIRST_QUESTION = """
    kiprdf.advice kiprdf.async_nexus kiprdf.brains kiprdf.chunks kiprdf.cli kiprdf.importers
    kiprdf.execution.empty_answers kiprdf.execution.forgetting kiprdf.execution.history
    kiprdf.execution.naming kiprdf.execution.undo kiprdf.interchange.compression
    kiprdf.interchange.files kiprdf.kml.creations kiprdf.kml.delete kiprdf.kml.says
    kiprdf.kml.schema kiprdf.kml.update kiprdf.kml.upsert kiprdf.kql.derivations
    kiprdf.kql.diagnosis kiprdf.memory kiprdf.meta.consequences kiprdf.meta.describe
    kiprdf.meta.export kiprdf.pages kiprdf.protocol kiprdf.search.dates kiprdf.serve kiprdf.shapes
    kiprdf.sharing kiprdf.signing pydantic rdflib
"""


def test_a_first_question_loads_and_defines_only_what_it_uses(tmp_path: Path) -> None:
    asked = 'FIND(?d.name) WHERE { ?d {type: "Domain", name: "System"} }'
    code = f"""
import dataclasses, re, sys
defined, compiled = [], []
define, compile_pattern = dataclasses._process_class, re._compiler.compile
dataclasses._process_class = lambda *args: defined.append(args) or define(*args)
re._compiler.compile = lambda *args: compiled.append(args) or compile_pattern(*args)
from kiprdf import Nexus
print(*sys.modules)
print(sum(name.startswith("kiprdf") for name in sys.modules), len(defined), len(compiled))
print(*Nexus.open(sys.argv[1]).find({asked!r}).column("?d.name"))
print(*sys.modules)
"""
    with Nexus.open(tmp_path / "nexus"):
        pass
    command = [sys.executable, "-c", code, str(tmp_path / "nexus")]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    imported, counts, answer, loaded = map(str.split, done.stdout.splitlines())
    assert answer == ["System"]
    assert {"kiprdf.kql.find", "kiprdf.kml.draft", "re"} <= {*imported}
    assert {*UNUSED_BY_AN_IMPORT.split()} & {*imported} == set()
    assert {"kiprdf.language.commands", "pyparsing"} <= {*loaded}
    assert {*UNUSED_BY_A_FIRST_QUESTION.split()} & {*loaded} == set()
    for count, most in zip(map(int, counts), (MODULES, DATACLASSES, PATTERNS), strict=True):
        assert most * 0.75 < count <= most


def test_a_module_that_a_function_imports_is_loaded_where_no_signal_interrupts() -> None:
    paths = [path for path in (ROOT / "kiprdf").rglob("*.py") if not _is_program(path)]
    missing = {name for path in paths for name in _unloaded_imports(path)}
    # Whoever has a graph or a term of rdflib has imported it. Others call kiprdf.loading.load.
    assert missing == {"_graph_name", "rdflib_term", "rdf_term"}


def _is_program(path: Path) -> bool:
    """Whether a file belongs to a process in which kiprdf itself handles the signals."""
    parts = path.relative_to(ROOT / "kiprdf").parts
    return parts[0] in ("cli", "serve") or parts[-1] == "sparql_child.py"


def _unloaded_imports(path: Path) -> Iterator[str]:
    """The functions that import a module without a ``load`` of it before."""
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        loaded: set[str] = set()
        nodes = [*ast.walk(function)]
        if not any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes):
            continue
        for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "load":
                loaded |= {ast.unparse(name).strip("'") for name in node.args}
            elif isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else None
                names = [f"{module}.{name.name}" if module else name.name for name in node.names]
                if not ({module, *names} & loaded or names[0] in ("fcntl", "signal")):
                    yield function.name


def test_a_memory_uses_no_private_name_of_a_nexus() -> None:
    paths = (ROOT / "kiprdf/memory").glob("*.py")
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    assert [line for line in lines if "nexus._" in line or "._engine" in line] == []


def test_exception_is_caught_only_at_the_boundaries() -> None:
    places = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kiprdf").rglob("*.py")
        if "except Exception" in path.read_text("utf-8")
    }
    assert places == {
        "kiprdf/chunks/engine.py",  # an operation of rules is foreign code
        "kiprdf/cli/relay.py",  # without a reply, its client would wait for ever
        "kiprdf/execution/empty_answers.py",  # an answer is right without its warnings
        "kiprdf/execution/error_boundary.py",
        "kiprdf/interchange/rdflib_store.py",  # a store of rdflib is foreign code
        "kiprdf/memory/memory.py",  # a memory is stored even if the graph cannot grow
        "kiprdf/execution/writer.py",  # a preparation fails when a commit comes in between
        "kiprdf/search/vectors.py",  # an embedder is foreign code
        "kiprdf/serve/security.py",  # a fault is an answer, and goes on to the log
        "kiprdf/shapes/checker.py",  # pySHACL is foreign code
        "kiprdf/store/remote_session.py",  # an embedder is foreign code
        "kiprdf/store/oxigraph_reads.py",  # a reading function fails when a commit comes in between
    }
