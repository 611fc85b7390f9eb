"""kiprdf beside other stores in the process: 10 000 concepts and 46 000 propositions, of which 5 %
are about propositions, three values of metadata each; the same questions, the answers compared.

Figures are times of the clock, medians of rounds that ask each store in turn. ``KIPRDF_PEERS`` is a
folder of Python packages with fluree, holosdb and ladybug; what is not there is left out.
``python -m tests.benchmarks.embedded`` prints the table as Markdown.
"""

from __future__ import annotations

import csv
import functools
import gc
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.benchmarks.embedded_stores import (
    PEERS,
    TOPICS,
    WORDS,
    Kiprdf,
    Peer,
    Question,
    Values,
    person,
    rare,
    rows,
    statements,
)
from tests.benchmarks.measure import Ratio

Table: TypeAlias = dict[str, dict[str, float]]
"""Seconds or bytes, by line and store."""
ROUNDS, CHILDREN, WRITES = 7, 5, 150
SECONDS = 0.05
"""For each line, store and round, unless one answer takes longer."""
INFINITE = math.inf
BOUNDS: dict[str, tuple[float, str, float]] = {
    "load, memory": (2, "pyoxigraph", 1.2),
    "load, disk": (2, "pyoxigraph", 2.3),
    "text index": (1, "fluree", 1.7),
    "write, disk": (1, "", 0.66e-3),
    "write, disk, sync full": (INFINITE, "sqlite3", 0.66e-3),
    "point by name": (1, "pyoxigraph", 59e-6),
    "object by id": (1, "", 108e-6),
    "one hop": (1.1, "pyoxigraph", 97e-6),
    "two hops": (1.1, "pyoxigraph", 152e-6),
    "hops {1,3}": (1.1, "pyoxigraph", 532e-6),
    "filter on an attribute": (1, "fluree", 2.0e-3),
    "filter on fact metadata": (1, "fluree", 4.2e-3),
    "group by an attribute, count": (1, "fluree", 1.4e-3),
    "ORDER BY, LIMIT 10": (1, "fluree", 1.5e-3),
    "about a fact": (1.1, "pyoxigraph", 189e-6),
    "count of a type": (1, "", 100e-6),
    "text, rare word": (1, "sqlite3, common", 1.0e-3),
    "text, common word": (1, "sqlite3", 1.0e-3),
    "update of 1 000 facts": (1, "fluree", 40e-3),
    "Turtle export": (1.5, "pyoxigraph", 1.4),
    "size on disk": (1, "", 60e6),
    "open": (INFINITE, "pyoxigraph", 19e-3),
    "open, first question": (1, "", 30e-3),
    "import of the package": (1, "", 70e-3),
    "RSS after load": (1.3, "pyoxigraph", 138e6),
}
"""All lines: how many times as much as a peer kiprdf may take, and what that peer took on an idle
machine, for where it is missing; without a peer, what may be taken."""


_PERSON = "<urn:kip:nexus/Person/$name>"
_MEMBER = "?l rdf:reifies <<( ?s p:member_of ?o )>> ; meta:confidence ?c"
_HOP = "FROM concept a JOIN fact f ON f.subject = a.id AND f.predicate = 'knows'"
_OF = "WHERE a.type = 'Person' AND a.name = :name"
_TEXT = 'SEARCH CONCEPT :word WITH TYPE "Topic" LIMIT 10'
_FLUREE_TEXT = (
    "SELECT ?v { ?t attr:description ?d ; rdfs:label ?v "
    'BIND(fulltext(?d, "$word") AS ?s) FILTER(?s > 0) } ORDER BY DESC(?s) LIMIT 10'
)
_FTS = (
    "SELECT name FROM concept WHERE id IN "
    "(SELECT rowid FROM word WHERE word MATCH :word ORDER BY rank LIMIT 10)"
)
QUESTIONS = {
    "point by name": Question(
        'FIND(?p.attributes.age, ?p.attributes.city) WHERE { ?p {type: "Person", name: :name} }',
        f"SELECT ?a ?c {{ {_PERSON} attr:age ?a ; attr:city ?c }}",
        f"SELECT attributes ->> 'age', attributes ->> 'city' FROM concept a {_OF}",
        "MATCH (p:Person {name: $name}) RETURN p.age, p.city",
        person,
    ),
    "object by id": Question(
        "FIND(?p) WHERE { ?p {id: :id} }",
        f"SELECT ?k ?v {{ {_PERSON} ?k ?v }}",
        f"SELECT type, name, attributes, metadata FROM concept a {_OF}",
        "MATCH (p:Person {name: $name}) RETURN p",
        person,
        is_item=True,
    ),
    "one hop": Question(
        'FIND(?b.name) WHERE { ({type: "Person", name: :name}, "knows", ?b) }',
        f"SELECT ?v {{ {_PERSON} p:knows ?b . ?b rdfs:label ?v }}",
        f"SELECT b.name {_HOP} JOIN concept b ON b.id = f.object {_OF}",
        "MATCH (:Person {name: $name})-[:knows]->(b) RETURN b.name",
        person,
    ),
    "two hops": Question(
        'FIND(?c.name) WHERE { ({type: "Person", name: :name}, "knows", ?b) (?b, "works_at", ?c) }',
        f"SELECT DISTINCT ?v {{ {_PERSON} p:knows ?b . ?b p:works_at ?c . ?c rdfs:label ?v }}",
        f"SELECT DISTINCT c.name {_HOP} JOIN fact g ON g.subject = f.object "
        f"AND g.predicate = 'works_at' JOIN concept c ON c.id = g.object {_OF}",
        "MATCH (:Person {name: $name})-[:knows]->()-[:works_at]->(c) RETURN DISTINCT c.name",
        person,
    ),
    "hops {1,3}": Question(
        'FIND(?e.name) WHERE { ({type: "Person", name: :name}, "knows"{1,3}, ?e) }',
        f"SELECT ?v {{ {{ SELECT DISTINCT ?e {{ {{ {_PERSON} p:knows ?e }} UNION "
        f"{{ {_PERSON} p:knows/p:knows ?e }} UNION "
        f"{{ {_PERSON} p:knows/p:knows/p:knows ?e }} }} }} ?e rdfs:label ?v }}",
        f"WITH RECURSIVE reached(id, hops) AS (SELECT id, 0 FROM concept a {_OF} "
        "UNION SELECT f.object, hops + 1 FROM reached JOIN fact f "
        "ON f.subject = reached.id AND f.predicate = 'knows' WHERE hops < 3) "
        "SELECT name FROM concept WHERE id IN (SELECT id FROM reached WHERE hops > 0)",
        "MATCH (:Person {name: $name})-[:knows*1..3]->(e) RETURN DISTINCT e.name",
        person,
    ),
    "filter on an attribute": Question(
        'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > :least) }',
        "SELECT ?v { ?p a type:Person ; attr:age ?a ; rdfs:label ?v FILTER(?a > $least) }",
        "SELECT name FROM concept WHERE type = 'Person' AND attributes ->> 'age' > :least",
        "MATCH (p:Person) WHERE p.age > $least RETURN p.name",
        lambda turn: {"least": 80 + turn % 3},
    ),
    "filter on fact metadata": Question(
        "FIND(?a.name, ?b.name, ?l.metadata.confidence) "
        'WHERE { ?l (?a, "knows", ?b) FILTER(?l.metadata.confidence > :least) }',
        "SELECT ?v ?w ?c { ?l rdf:reifies <<( ?a p:knows ?b )>> ; meta:confidence ?c . "
        "?a rdfs:label ?v . ?b rdfs:label ?w FILTER(?c > $least) }",
        "SELECT a.name, b.name, f.metadata ->> 'confidence' FROM fact f "
        "JOIN concept a ON a.id = f.subject JOIN concept b ON b.id = f.object "
        "WHERE f.predicate = 'knows' AND f.metadata ->> 'confidence' > :least",
        "MATCH (a)-[f:knows]->(b) WHERE f.confidence > $least RETURN a.name, b.name, f.confidence",
        lambda turn: {"least": 0.955 + turn % 2 / 1000},
    ),
    "group by an attribute, count": Question(
        'FIND(?p.attributes.city, COUNT(?p)) WHERE { ?p {type: "Person"} }',
        "SELECT ?c (COUNT(?p) AS ?n) { ?p a type:Person ; attr:city ?c } GROUP BY ?c",
        "SELECT attributes ->> 'city', count(*) FROM concept WHERE type = 'Person' GROUP BY 1",
        "MATCH (p:Person) RETURN p.city, count(*)",
    ),
    "ORDER BY, LIMIT 10": Question(
        'FIND(?p.name, ?p.attributes.score) WHERE { ?p {type: "Person"} } '
        "ORDER BY ?p.attributes.score DESC LIMIT 10",
        "SELECT ?v ?s { ?p a type:Person ; attr:score ?s ; rdfs:label ?v } "
        "ORDER BY DESC(?s) LIMIT 10",
        "SELECT name, attributes ->> 'score' FROM concept WHERE type = 'Person' "
        "ORDER BY attributes ->> 'score' DESC LIMIT 10",
        "MATCH (p:Person) RETURN p.name, p.score ORDER BY p.score DESC LIMIT 10",
    ),
    "about a fact": Question(
        'FIND(?w.name, ?s.metadata.confidence) WHERE { ?s (?w, "stated", '
        '({type: "Person", name: :name}, "works_at", {type: "Company", name: :company})) }',
        f"SELECT ?v ?c {{ ?l rdf:reifies <<( {_PERSON} p:works_at "
        "<urn:kip:nexus/Company/$company> )>> . ?w p:stated ?l ; rdfs:label ?v . "
        "?s rdf:reifies <<( ?w p:stated ?l )>> ; meta:confidence ?c }",
        "SELECT w.name, s.metadata ->> 'confidence' FROM concept a "
        "JOIN concept b ON b.type = 'Company' AND b.name = :company JOIN fact f "
        "ON f.subject = a.id AND f.predicate = 'works_at' AND f.object = b.id "
        "JOIN fact s ON s.object = -f.id AND s.predicate = 'stated' "
        f"JOIN concept w ON w.id = s.subject {_OF}",
        "MATCH (w:Person)-[s:stated]->(:Fact {id: $name + ' works_at ' + $company}) "
        "RETURN w.name, s.confidence",
        person,
    ),
    "count of a type": Question(
        'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }',
        "SELECT (COUNT(?p) AS ?n) { ?p a type:Person }",
        "SELECT count(*) FROM concept WHERE type = 'Person'",
        "MATCH (p:Person) RETURN count(*)",
    ),
    "text, rare word": Question(
        _TEXT, _FLUREE_TEXT, _FTS, "", lambda turn: {"word": rare(turn * 7 % TOPICS)}
    ),
    "text, common word": Question(
        _TEXT, _FLUREE_TEXT, _FTS, "", lambda turn: {"word": WORDS[turn % len(WORDS)]}
    ),
    "update of 1 000 facts": Question(
        'UPDATE ?l SET METADATA { confidence: :sure } WHERE { ?l (?s, "member_of", ?o) }',
        "DELETE { ?l meta:confidence ?c } INSERT { ?l meta:confidence $sure } "
        f"WHERE {{ {_MEMBER} }}",
        "UPDATE fact SET metadata = json_set(metadata, '$.confidence', :sure) "
        "WHERE predicate = 'member_of'",
        "MATCH ()-[f:member_of]->() SET f.confidence = $sure",
        lambda turn: {"sure": (100 + turn % 500) / 1000},
    ),
}
UPDATED = Question(
    'FIND(?l.metadata.confidence, COUNT(?l)) WHERE { ?l (?s, "member_of", ?o) }',
    f"SELECT ?c (COUNT(?l) AS ?n) {{ {_MEMBER} }} GROUP BY ?c",
    "SELECT metadata ->> 'confidence', count(*) FROM fact WHERE predicate = 'member_of' GROUP BY 1",
    "MATCH ()-[f:member_of]->() RETURN f.confidence, count(*)",
)


# Measuring ----------------------------------------------------------------------------------------


def measured(propositions: int) -> Iterator[Ratio]:
    """The same data at every scale, loaded once for ``small``; each line beside its bound."""
    measures = table(1 if propositions < 100_000 else 3)
    yield from filter(None, (compared(line, measures) for line in BOUNDS))


def compared(line: str, measures: Table) -> Ratio | None:
    """A line beside its bound."""
    factor, peer, figure = BOUNDS[line]
    peer, _, other = peer.partition(", ")
    theirs = measures[f"text, {other} word" if other else line].get(peer, figure)
    ours = measures[line].get("kiprdf")
    if ours is None:
        return None
    return Ratio(line, ours, theirs, factor, "bytes" if figure > 1e3 else "s")


def table(loads: int) -> Table:
    """All lines of all stores that are there."""
    stores = [peer for peer in PEERS if importlib.util.find_spec(peer.name)]
    measures: Table = {line: {} for line in BOUNDS}
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        peers = []
        for store in stores:
            _on_disk(store, Path(name), loads, measures)
            seconds = []
            for _ in range(loads):
                peer = store(Path(name))
                seconds.append(_timed(peer.load))
            measures["load, memory"][peer.name] = statistics.median(seconds)
            peers.append(peer)
        for peer in peers:
            if peer.has_text:
                measures["text index"][peer.name] = _timed(peer.index_text)
        for line, question in QUESTIONS.items():
            _by_turns(line, question, peers, measures)
        for peer in peers:
            file = Path(name, f"{peer.name}.ttl")
            seconds = [_timed(lambda peer=peer, file=file: peer.export(file)) for _ in range(3)]  # type: ignore[misc]
            if file.exists():
                measures["Turtle export"][peer.name] = statistics.median(seconds)
            peer.close()
    return measures


def prepare(folder: Path) -> None:
    """The triples that kiprdf keeps, and tables."""
    from pyoxigraph import DefaultGraph, RdfFormat

    peer = Kiprdf(folder)
    peer.load()
    dump = peer.nexus.store.engine.dump
    dump(str(folder / "data.nt"), RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    text = statements((folder / "data.nt").read_text(encoding="utf-8"))
    (folder / "statements.ttl").write_text(text, encoding="utf-8")
    peer.close()
    concepts, facts = rows()
    tables: dict[str, list[Iterable[Any]]] = {}
    for kind, name, attributes, about in concepts:
        tables.setdefault(kind, []).append((name, *attributes.values(), *about.values()))
    for (_, name), predicate, end, _, about in facts:
        if predicate == "stated":
            end = ("Fact", f"{end[0][1]} works_at {end[2][1]}")
            tables.setdefault("Fact", []).append(end[1:])
        tables.setdefault(predicate, []).append((name, end[1], *about.values()))
    for name, lines in tables.items():
        with open(folder / f"{name}.csv", "w", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)


def _timed(function: Callable[[], object]) -> float:
    """Its seconds."""
    gc.collect()
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def _on_disk(store: type[Peer], prepared: Path, loads: int, measures: Table) -> None:
    """What needs a folder, or another process."""
    name = store.name
    rows()
    seconds = []
    for number in range(loads):
        # Fluree goes on writing to a folder that it has closed.
        folder = prepared / f"{name} {number}"
        seconds.append(_timed(_closing(store, prepared, folder)))
    measures["load, disk"][name] = statistics.median(seconds)
    files = [folder, *folder.rglob("*")]
    measures["size on disk"][name] = sum(file.stat().st_size for file in files if file.is_file())
    code = f"import time; started = time.perf_counter(); import {name}; "
    code += "print(time.perf_counter() - started)"
    module = ["-m", "tests.benchmarks.embedded", name, str(prepared)]
    for arguments, lines, times in (
        (["-c", code], ["import of the package"], CHILDREN),
        ([*module, str(folder)], ["open", "open, first question"], CHILDREN),
        (module, ["RSS after load"], 1),
    ):
        figures = [_child(arguments) for _ in range(times)]
        for line, column in zip(lines, zip(*figures, strict=True), strict=True):
            measures[line][name] = statistics.median(column)
    for sync, line in (("normal", "write, disk"), ("full", "write, disk, sync full")):
        if sync == "normal" or name in ("kiprdf", "sqlite3"):
            peer, first = store(prepared, folder, sync), len(line) * WRITES
            numbers = range(first, first + WRITES)
            seconds = [_timed(functools.partial(peer.write, number)) for number in numbers]
            measures[line][name] = statistics.median(seconds[WRITES // 3 :])
            peer.close()


def _closing(store: type[Peer], prepared: Path, folder: Path) -> Callable[[], None]:
    def load() -> None:
        peer = store(prepared, folder)
        peer.load()
        peer.close()

    return load


def _child(arguments: list[str]) -> list[float]:
    """The figures that a process prints which finds the same packages."""
    path = os.pathsep.join([os.getcwd(), os.environ.get("KIPRDF_PEERS", "")])
    command, there = [sys.executable, *arguments], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=there)
    return list(map(float, done.stdout.split()))


def in_child(name: str, prepared: Path, folder: Path | None) -> list[float]:
    """What a process takes that uses nothing but one library: seconds, or bytes of memory."""
    (store,) = (peer for peer in PEERS if peer.name == name)
    if folder is None:
        rows()
        before = _resident()
        store(prepared).load()
        gc.collect()
        return [_resident() - before]
    __import__(name)
    started = time.perf_counter()
    peer = store(prepared, folder)
    opened = time.perf_counter()
    peer.ask(QUESTIONS["point by name"])(0)
    return [opened - started, time.perf_counter() - started]


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _by_turns(line: str, question: Question, peers: list[Peer], measures: Table) -> None:
    """The median of rounds, in each of which every store is asked some times."""
    is_text, is_update = line.startswith("text"), line.startswith("update")
    asked = {p: p.ask(question) for p in peers if p.has_text or not is_text}
    answers: dict[str, list[Any]] = {}
    times = {}
    for peer, ask in asked.items():
        if is_update:
            ask(2)
            answers[peer.name] = peer.rows(peer.ask(UPDATED)(0))
        elif is_text:  # each ranks in its own way
            answers[peer.name] = [len(peer.rows(ask(turn))) for turn in range(3)]
        elif question.is_item:
            answers[peer.name] = [_plain(ask(turn)) for turn in range(3)]
        else:
            answers[peer.name] = [sorted(peer.rows(ask(turn))) for turn in range(3)]
        times[peer] = max(1, min(50, int(SECONDS / _timed(lambda ask=ask: ask(1)))))  # type: ignore[misc]
    first = next(iter(answers.values()))
    for name, answer in answers.items():
        if answer != first or not all(answer):
            sys.exit(f"{line}: {name} answers {str(answer)[:300]}, not {str(first)[:300]}")
    seconds: dict[Peer, list[float]] = {peer: [] for peer in asked}
    for number in range(ROUNDS):
        for peer, ask in asked.items():
            turns = range(number * times[peer], (number + 1) * times[peer])
            all_of_them = _timed(lambda ask=ask, turns=turns: list(map(ask, turns)))  # type: ignore[misc]
            seconds[peer].append(all_of_them / times[peer])
    for peer, figures in seconds.items():
        measures[line][peer.name] = statistics.median(figures)


def _plain(item: Values) -> Values:
    """An object without what only kiprdf keeps."""
    about = {key: value for key, value in item["metadata"].items() if not key.startswith("_")}
    return {**{key: item[key] for key in ("type", "name", "attributes")}, "metadata": about}


def markdown(measures: Table) -> Iterator[str]:
    """The table, with what kiprdf may take, and which lines take more."""
    names = list(measures["load, memory"])
    yield f"| | {' | '.join(names)} | bound | of the bound |"
    yield f"|---|{'--:|' * len(names)}---|--:|"
    for line, (factor, peer, figure) in BOUNDS.items():
        cells = [_shown(measures[line].get(name), figure) for name in names]
        ratio, may, verdict = compared(line, measures), "", ""
        if ratio is not None and factor != INFINITE:
            may = f"{factor:g} × {peer}" if peer else _shown(figure, figure)
            verdict = f"{ratio.ratio / factor:.2f}{'' if ratio.is_reached else ' missed'}"
        yield f"| {line} | {' | '.join(cells)} | {may} | {verdict} |"


def _shown(figure: float | None, like: float) -> str:
    if figure is None:
        return ""
    if like > 1e3:
        return f"{figure / 1e6:,.0f} MB"
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if figure >= factor:
            return f"{figure / factor:,.3g} {unit}"
    return f"{figure * 1e6:.3g} µs"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(
            *in_child(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
        )
    else:
        print(*markdown(table(int(sys.argv[1]) if sys.argv[1:] else 3)), sep="\n")
