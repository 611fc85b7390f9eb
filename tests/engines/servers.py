"""Starts and stops each engine: a child process with a scratch folder and a free loopback port.

>>> with running("rdflib") as engine:
...     engine.name, len(engine.target)
('rdflib', 0)
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rdflib import Graph

JARS = "KIPRDF_JARS"
"""The environment variable with the folder of downloaded jar files."""
FUSEKI = "jena-fuseki-server-6.2.0.jar"
GRAPH = "http://kb.example/graph"
"""The graph of a nexus on an engine whose default graph is no graph."""
SECONDS_TO_START = 90.0
_VIRTUOSO = Path(__file__).with_name("virtuoso.ini")


@dataclass(frozen=True)
class Kind:
    """How an engine is found, installed and started."""

    name: str
    install: str
    """How to get it, as one command."""
    missing: Callable[[], str]
    """What is not there, "" if nothing is."""
    start: Callable[[Path, int], Sequence[str]] | None
    """The command that starts it with a folder and a port; None for a library."""
    path: str = ""
    update_path: str = ""
    default_graph: str | None = None
    keeps: bool = False
    """Whether the data outlive the process."""
    prepare: Callable[[Path], None] | None = None
    """What follows the first start."""


class Engine:
    """A running engine.

    ``target``, ``update_url`` and ``default_graph`` are arguments of ``Nexus.connect``.
    """

    def __init__(self, kind: Kind, folder: Path) -> None:
        self.kind = kind
        self.name = kind.name
        self.folder = folder
        self.default_graph = kind.default_graph
        self.process: subprocess.Popen[bytes] | None = None
        self.target: Any = Graph()
        self.update_url: str | None = None
        if kind.start is not None:
            self.port = free_port()
            self.target = f"http://127.0.0.1:{self.port}{kind.path}"
            self.update_url = f"http://127.0.0.1:{self.port}{kind.update_path}"
            self.start()
            if kind.prepare is not None:
                kind.prepare(folder)
            # Virtuoso cannot work without those that it has from the start.
            self._first_graphs = self._graphs()

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of ``Nexus.connect``."""
        return {
            "target": self.target,
            "update_url": self.update_url,
            "default_graph": self.default_graph,
        }

    def start(self) -> None:
        """Start the process, with the data that it had, and wait for its first answer."""
        assert self.kind.start is not None
        log = self.folder / "output.log"
        environment = {**os.environ, "FUSEKI_BASE": str(self.folder / "fuseki")}
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                self.kind.start(self.folder, self.port),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + SECONDS_TO_START
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                text = log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"{self.name} does not start: {text}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End the process at once, as a power failure would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()

    def clear(self) -> None:
        """Remove all triples, of the bookkeeping too."""
        if isinstance(self.target, Graph):
            self.target = Graph()  # which keeps the records of a nexus, too
            return
        for graph in self._graphs() - self._first_graphs:
            self.update(f"CLEAR GRAPH <{graph}>")
        if self.default_graph is None:
            self.update("CLEAR DEFAULT")

    def _graphs(self) -> set[str]:
        rows = self.csv("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }", default_graph=False)
        return {row[0] for row in rows}

    def update(self, text: str) -> None:
        """Run a SPARQL update, without any code of the library."""
        assert self.update_url is not None
        self._post(self.update_url, {"update": text}, "*/*")

    def csv(self, text: str, default_graph: bool = True) -> list[list[str]]:
        """The rows of a SELECT, without any code of the library; for simple values."""
        form = {"query": text}
        if default_graph and self.default_graph is not None:
            form["default-graph-uri"] = self.default_graph
        answer = self._post(self.target, form, "text/csv")
        return [row.replace('"', "").split(",") for row in answer.splitlines()[1:]]

    def _post(self, url: str, form: dict[str, str], accept: str) -> str:
        body = urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(url, body, {"Accept": accept})
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())

    def _answers(self) -> bool:
        try:
            self.csv("SELECT ?s WHERE { ?s ?p ?o } LIMIT 1")
        except (OSError, urllib.error.URLError):
            return False
        return True


def free_port() -> int:
    """A port of the loopback interface that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def program(name: str) -> str | None:
    """A program of the environment that runs the tests, or of the path."""
    here = Path(sys.executable).with_name(name)
    return str(here) if here.exists() else shutil.which(name)


def _lacks_oxigraph() -> str:
    return "" if program("oxigraph") else "the program oxigraph"


def _oxigraph(folder: Path, port: int) -> list[str]:
    return [str(program("oxigraph")), "serve", "--bind", f"127.0.0.1:{port}"]


def _oxigraph_on_disk(folder: Path, port: int) -> list[str]:
    return [*_oxigraph(folder, port), "--location", str(folder / "data")]


_FAST_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Most of the time of a Java that runs for a minute goes into compiling; not for measurements."""


def _java() -> str | None:
    """A Java of version 21 or later: of JAVA_HOME, of the path, or of /usr/lib/jvm."""
    homes = [os.environ.get("JAVA_HOME"), *sorted(map(str, Path("/usr/lib/jvm").glob("*")))]
    candidates = [str(Path(home) / "bin" / "java") for home in homes if home]
    for java in [*candidates, shutil.which("java")]:
        if java and Path(java).exists() and _java_version(java) >= 21:
            return java
    return None


def _java_version(java: str) -> int:
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', printed.stderr)
    return int(match[1]) if match else 0


def _jar() -> Path:
    return Path(os.environ.get(JARS, "")) / FUSEKI


def _lacks_fuseki() -> str:
    if JARS not in os.environ:
        return f"the environment variable {JARS}, the folder of {FUSEKI}"
    if not _jar().is_file():
        return f"{FUSEKI} in the folder {os.environ[JARS]}"
    return "" if _java() else "Java 21 or later"


def _fuseki(port: int, *dataset: str) -> list[str]:
    options = _FAST_START if "PYTEST_CURRENT_TEST" in os.environ else ()
    server = [str(_java()), "-Xmx768m", *options, "-jar", str(_jar().resolve())]
    return [*server, "--localhost", f"--port={port}", "--update", *dataset, "/ds"]


def _fuseki_in_memory(folder: Path, port: int) -> list[str]:
    return _fuseki(port, "--mem")


def _fuseki_on_disk(folder: Path, port: int) -> list[str]:
    (folder / "data").mkdir(exist_ok=True)
    return _fuseki(port, "--tdb2", f"--loc={folder / 'data'}")


def _lacks_virtuoso() -> str:
    missing = [name for name in ("virtuoso-t", "isql-vt") if shutil.which(name) is None]
    return f"the programs {' and '.join(missing)}" if missing else ""


def _virtuoso(folder: Path, port: int) -> list[str]:
    settings = folder / "virtuoso.ini"
    if not settings.exists():
        text = _VIRTUOSO.read_text("utf-8")
        for name, value in (("folder", folder), ("http", port), ("sql", free_port())):
            text = text.replace(f"{{{name}}}", str(value))
        settings.write_text(text, "utf-8")
    # A killed server leaves its lock.
    (folder / "virtuoso.lck").unlink(missing_ok=True)
    return ["virtuoso-t", "+foreground", "+configfile", str(settings), "+wait"]


def isql(folder: Path, statement: str, seconds: float = 60) -> None:
    """Run a statement as the administrator of the Virtuoso of a folder."""
    match = re.search(r"ServerPort = (127\.0\.0\.1:\d+)", (folder / "virtuoso.ini").read_text())
    assert match is not None
    command = ["isql-vt", match[1], "dba", "dba", f"EXEC={statement}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    if "*** Error" in done.stdout + done.stderr:
        raise RuntimeError(done.stdout + done.stderr)


def _allow_updates(folder: Path) -> None:
    isql(folder, 'GRANT SPARQL_UPDATE TO "SPARQL";')


_PIP = "pip install oxigraph"
_MAVEN = (
    f"mvn dependency:copy -Dartifact=org.apache.jena:jena-fuseki-server:6.2.0 "
    f"-DoutputDirectory=DIR, then set {JARS}=DIR; needs Java 21 or later"
)
_APT = (
    "apt-get install --no-install-recommends virtuoso-opensource-7 virtuoso-opensource-7-bin "
    "(Debian 12)"
)

KINDS = {
    kind.name: kind
    for kind in (
        Kind("rdflib", "pip install rdflib", lambda: "", None),
        Kind("oxigraph", _PIP, _lacks_oxigraph, _oxigraph, "/query", "/update"),
        Kind(
            "oxigraph-disk", _PIP, _lacks_oxigraph, _oxigraph_on_disk, "/query", "/update",
            keeps=True,
        ),
        Kind("fuseki", _MAVEN, _lacks_fuseki, _fuseki_in_memory, "/ds/query", "/ds/update"),
        Kind(
            "fuseki-tdb2", _MAVEN, _lacks_fuseki, _fuseki_on_disk, "/ds/query", "/ds/update",
            keeps=True,
        ),
        Kind(
            "virtuoso", _APT, _lacks_virtuoso, _virtuoso, "/sparql", "/sparql",
            default_graph=GRAPH, keeps=True, prepare=_allow_updates,
        ),
    )
}  # fmt: skip


@contextmanager
def running(name: str) -> Iterator[Engine]:
    """A running engine without data, which is ended with its data afterwards."""
    kind = KINDS[name]
    if missing := kind.missing():
        raise RuntimeError(f"{name} is not installed ({missing}): {kind.install}")
    with tempfile.TemporaryDirectory(prefix=f"kiprdf-{name}-", ignore_cleanup_errors=True) as path:
        engine = Engine(kind, Path(path))
        try:
            yield engine
        finally:
            engine.stop()
