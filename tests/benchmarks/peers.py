"""Requests of an agent beside other KIP engines: 10 000 concepts, 46 000 propositions, in memory.

The yardstick of a read is the Rust reference engine from Python, that of a write the one in
TypeScript on SQLite, as measured on another machine. Where ``KIPRDF_PEER`` names the binary of the
Rust engine (docs/benchmarks.md), it runs the same requests here, and each figure is scaled by what
it takes. All times are processor times.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import kiprdf
from tests.benchmarks.measure import Ratio

Request = dict[str, Any]
PEOPLE, TOPICS, COMPANIES = 8_000, 1_500, 500
WORDS = ("river", "stone", "copper", "signal", "market", "garden", "window", "engine", "paper")
BATCH = 100
TEXTS = 20
ROUNDS = 9
UPSERT_ROUNDS = 5
LOADED = 1 / 15_000
"""Seconds for each element of a load."""
FOLDER_BYTES = 60e6
OPENED = 0.030
"""Seconds for opening a nexus that exists."""

SCHEMA = "\n".join(
    f'CONCEPT {{ {{type: "{kind}", name: "{name}"}} }}'
    for kind, names in (
        ("$ConceptType", ("Person", "Company", "Topic")),
        ("$PropositionType", ("knows", "works_at", "interested_in", "stated")),
        ("Domain", ("Bench",)),
    )
    for name in names
)
_PERSON = '{type: "Person", name: :name}'
_COMPANY = '{type: "Company", name: :company}'
_TOPIC = '{type: "Topic", name: :topic}'


class Line(NamedTuple):
    """A request; the microseconds of the Rust engine, of the yardstick, and of TypeScript.

    Where only the Rust engine itself was measured, it is the yardstick.
    """

    text: str
    rust: float
    figure: float
    typescript: float | None = None


READS = {
    "point": Line(
        f"FIND(?p.name, ?p.attributes.age, ?p.attributes.tags) WHERE {{ ?p {_PERSON} }}",
        10.5,
        61,
        33,
    ),
    "by id": Line("FIND(?p) WHERE { ?p {id: :id} }", 6.8, 54, 13),
    "one hop": Line(f'FIND(?b.name) WHERE {{ ({_PERSON}, "knows", ?b) }}', 38, 121, 69),
    "count": Line(f'FIND(COUNT(?p)) WHERE {{ (?p, "interested_in", {_TOPIC}) }}', 27, 122, 136),
    "filter on link metadata": Line(
        "FIND(?a.name, ?l.metadata.confidence) WHERE "
        f'{{ ?l (?a, "works_at", {_COMPANY}) FILTER(?l.metadata.confidence > 0.8) }}',
        102,
        356,
        542,
    ),
    "NOT": Line(
        f'FIND(?a.name) WHERE {{ (?a, "works_at", {_COMPANY}) '
        f'NOT {{ (?a, "interested_in", {_TOPIC}) }} }}',
        168,
        512,
        322,
    ),
    "about a fact": Line(
        "FIND(?who.name, ?s.metadata.confidence) WHERE "
        f'{{ ?s (?who, "stated", ({_PERSON}, "works_at", {_COMPANY})) }}',
        26,
        140,
        115,
    ),
    "predicate variable": Line(f"FIND(?r) WHERE {{ ({_PERSON}, ?r, {_COMPANY}) }}", 9.5, 74, 36),
    "two hops": Line(
        f'FIND(?c.name) WHERE {{ ({_PERSON}, "knows", ?b) (?b, "works_at", ?c) }}', 180, 180
    ),
    "ORDER BY, LIMIT": Line(
        'FIND(?t.name, ?t.attributes.description) WHERE { ?t {type: "Topic"} } '
        "ORDER BY ?t.attributes.description LIMIT 10",
        33_246,
        33_246,
    ),
    "whole type": Line('FIND(?t.name) WHERE { ?t {type: "Topic"} }', 16_694, 16_694),
    "SEARCH, rare": Line('SEARCH CONCEPT :rare WITH TYPE "Topic" LIMIT 10', 11.5, 85, 51),
    "SEARCH, common": Line('SEARCH CONCEPT :common WITH TYPE "Topic" LIMIT 10', 187, 668, 3000),
}
EXPORT = Line(
    'EXPORT ?t WHERE { ?t {type: "Domain", name: "Bench"} '
    'UNION { (?t, "belongs_to_domain", {type: "Domain", name: "Bench"}) } '
    'UNION { ?t (?x, "belongs_to_domain", {type: "Domain", name: "Bench"}) } }',
    2_100,
    301 * 20,
)
UPDATE = Line(
    "UPDATE ?l SET METADATA { confidence: MUL(?l.metadata.confidence, 0.5) } "
    'WHERE { ?l (?s, "interested_in", ?o) }',
    2_960_000,
    280_000,
)
UPSERT = Line(
    f"UPSERT {{ CONCEPT {{ {_PERSON} SET ATTRIBUTES {{ age: 42, full_name: :rare }} "
    f'SET PROPOSITIONS {{ ("works_at", {_COMPANY}) ("interested_in", {_TOPIC}) '
    '("knows", {type: "Person", name: "Person 1"}) } } } WITH METADATA { source: "chat" }',
    67_000,
    280,
)


def measured(_: int) -> Iterator[Ratio]:
    """The same data at every scale."""
    people, links = list(_concepts()), list(_links())
    requests = {
        name: list(map(_asked, [line.text] * TEXTS, range(TEXTS))) for name, line in READS.items()
    }
    written = [_asked(UPSERT.text, number, new=True) for number in range(200)]
    peer = _of_the_peer(people, links, requests, written)
    nexus = kiprdf.Nexus.memory()
    _seconds(nexus, [{"command": _upsert([SCHEMA])}])
    for name, blocks in (("concepts", people), ("propositions", links)):
        seconds = _seconds(nexus, _batches(blocks))
        yield Ratio(f"load, one of the {name}", seconds / len(blocks), LOADED, 1.0)
    warm, cold = [], []
    for name, line in READS.items():
        yardstick = peer(name, line)
        warm.append(Ratio(name, _best(nexus, requests[name]), yardstick, 0.8))
        yield warm[-1]
        if line.typescript is not None:
            theirs = yardstick * line.typescript / line.figure
            yield Ratio(f"{name}, TypeScript", warm[-1].ours, theirs, 1.0)
        literal = list(map(_with_literals, requests[name]))
        cold.append(Ratio(f"{name}, literals", _best(nexus, literal), yardstick, 1.5))
        yield cold[-1]
    for name, ratios, target in (("all, warm", warm, 0.4), ("all, literals", cold, 1.5)):
        ours = statistics.geometric_mean(ratio.ours for ratio in ratios)
        theirs = statistics.geometric_mean(ratio.yardstick for ratio in ratios)
        yield Ratio(name, ours, theirs, target)
    export = _best(nexus, [{"command": EXPORT.text}])
    yield Ratio("EXPORT of 301", export, EXPORT.figure / 1e6, 1.0)
    update = _best(nexus, [{"command": UPDATE.text}], rounds=3)
    yield Ratio("UPDATE of 10 000 links", update, peer("UPDATE", UPDATE), 1.0)
    yield from _upserts(nexus, written, "", peer)
    with tempfile.TemporaryDirectory() as folder:
        yield from _on_disk(Path(folder), [*_batches(people), *_batches(links)], written, peer)


def _upserts(
    nexus: kiprdf.Nexus, requests: list[Request], where: str, peer: Callable[[str, Line], float]
) -> Iterator[Ratio]:
    """Requests with parameters, and the same with literals, about other names in each round."""
    name, literals = f"UPSERT + 3 links{where}", UPSERT._replace(figure=260)
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * UPSERT_ROUNDS):
        is_literal = number % 2 == 1
        asked = [
            _about(f"{request['parameters']['name']} {number}", request) for request in requests
        ]
        written = list(map(_with_literals, asked)) if is_literal else asked
        times[is_literal].append(_seconds(nexus, written) / len(written))
    yield Ratio(name, min(times[False]), peer("UPSERT", UPSERT), 1.0)
    yield Ratio(f"{name}, literals", min(times[True]), peer("UPSERT", literals), 1.0)


def _about(name: str, request: Request) -> Request:
    return {**request, "parameters": {**request["parameters"], "name": name}}


def _on_disk(
    folder: Path,
    loaded: list[Request],
    written: list[Request],
    peer: Callable[[str, Line], float],
) -> Iterator[Ratio]:
    """UPSERT into a folder, the size of the folder after all of it, and opening it again."""
    with kiprdf.Nexus.open(folder / "nexus") as nexus:
        _seconds(nexus, [{"command": _upsert([SCHEMA])}])
        _seconds(nexus, loaded)
        yield from _upserts(nexus, written, ", on disk", peer)
        nexus.optimize()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield Ratio("folder, optimized", size, FOLDER_BYTES, 1.0, "bytes")
    opened = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        nexus = kiprdf.Nexus.open(folder / "nexus")
        opened.append(time.perf_counter() - started)
        nexus.close()
    yield Ratio("opening the folder", min(opened), OPENED, 1.0)


# Data and requests --------------------------------------------------------------------------------


def _concepts() -> Iterator[str]:
    chance = random.Random(20261122)
    for number in range(COMPANIES):
        yield _concept("Company", number, {"founded": 1900 + number % 120})
    for number in range(TOPICS):
        words = " ".join(chance.choices(WORDS, k=4))
        yield _concept("Topic", number, {"description": f"{words} {_rare(number)}"})
    for number in range(PEOPLE):
        tags = chance.sample(WORDS, 2)
        score = chance.randrange(10**9) / 10**9
        yield _concept("Person", number, {"age": 18 + number % 70, "score": score, "tags": tags})


def _concept(kind: str, number: int, attributes: dict[str, Any]) -> str:
    pairs = ", ".join(f"{key}: {json.dumps(value)}" for key, value in attributes.items())
    return (
        f'CONCEPT {{ {{type: "{kind}", name: "{kind} {number}"}} SET ATTRIBUTES {{ {pairs} }} }} '
        f'WITH METADATA {{ source: "import", confidence: {50 + number % 50}e-2 }}'
    )


def _rare(number: int) -> str:
    return "x" + "".join("bdfglmnprt"[int(digit)] + "a" for digit in f"{number:04}")


def _company(person: int) -> int:
    return person * 7 % COMPANIES


def _links() -> Iterator[str]:
    for topic in range(0, TOPICS, 10):
        yield _link(_node("Topic", topic), "belongs_to_domain", '{type: "Domain", name: "Bench"}')
    for number in range(PEOPLE):
        person = _node("Person", number)
        company = _node("Company", _company(number))
        yield _link(person, "works_at", company)
        for step in (1, 3, 11):
            yield _link(person, "knows", _node("Person", (number * step + step) % PEOPLE))
        yield _link(person, "interested_in", _node("Topic", number % TOPICS))
        if number % 4 == 0:
            yield _link(person, "interested_in", _node("Topic", (number // 4 + 700) % TOPICS))
    for number in range(0, PEOPLE, 2):
        about = (number * 3 + 1) % PEOPLE
        fact = f'({_node("Person", about)}, "works_at", {_node("Company", _company(about))})'
        yield _link(_node("Person", number), "stated", fact)


def _node(kind: str, number: int) -> str:
    return f'{{type: "{kind}", name: "{kind} {number}"}}'


def _link(subject: str, predicate: str, object: str) -> str:
    fact = f'({subject}, "{predicate}", {object})'
    return f"PROPOSITION {{ {fact} }} WITH METADATA {{ confidence: 0.9 }}"


def _upsert(blocks: list[str]) -> str:
    return "UPSERT {\n" + "\n".join(blocks) + "\n}"


def _batches(blocks: list[str]) -> list[Request]:
    starts = range(0, len(blocks), BATCH)
    return [{"command": _upsert(blocks[start : start + BATCH])} for start in starts]


def _asked(text: str, number: int, new: bool = False) -> Request:
    """A request about some person, and what is linked to that person."""
    person = (number * 398 + 1) % PEOPLE
    values = {
        "name": f"Guest {number}" if new else f"Person {person}",
        "id": f"C:Person/Person {person}",
        "company": f"Company {_company(person)}",
        "topic": f"Topic {person % TOPICS}",
        "rare": _rare(number * 7),
        "common": WORDS[number % len(WORDS)],
    }
    used = {name: value for name, value in values.items() if f":{name}" in text}
    return {"command": text, "parameters": used}


def _with_literals(request: Request) -> Request:
    text = request["command"]
    for name, value in request["parameters"].items():
        text = text.replace(f":{name}", json.dumps(value))
    return {"command": text}


# Times --------------------------------------------------------------------------------------------


def _seconds(nexus: kiprdf.Nexus, requests: list[Request]) -> float:
    """The seconds of some requests together."""
    started = time.process_time()
    for request in requests:
        response = nexus.execute_kip(request)
        if "error" in response:
            sys.exit(f"{request['command'][:200]}: {response['error']}")
    return time.process_time() - started


def _best(nexus: kiprdf.Nexus, requests: list[Request], rounds: int = ROUNDS) -> float:
    """The seconds of one request in the best round."""
    return min(_seconds(nexus, requests) for _ in range(rounds)) / len(requests)


def _of_the_peer(
    concepts: list[str], links: list[str], reads: dict[str, list[Request]], writes: list[Request]
) -> Callable[[str, Line], float]:
    """The seconds of the yardstick for a line, scaled by the Rust engine if it is there."""
    binary = os.environ.get("KIPRDF_PEER")
    if binary is None:
        return lambda _, line: line.figure / 1e6
    load = [("schema", [{"command": _upsert([SCHEMA])}]), ("concepts", _batches(concepts))]
    load.append(("propositions", _batches(links)))
    plan = {
        "size": len(concepts),
        "ids": "FIND(?p.id) WHERE { ?p " + _PERSON + " }",
        "load": [
            {"name": name, "unit": name, "count": len(requests), "requests": requests}
            for name, requests in load
        ],
        "queries": [
            {"name": name, "check": "rows", "warm": asked, "cold": asked}
            for name, asked in ((n, list(map(_for_the_peer, r))) for n, r in reads.items())
        ],
        "changes": [
            {
                "name": "UPDATE",
                "check": "counts",
                "repeat": 1,
                "requests": [{"command": UPDATE.text}],
            }
        ],
        "checks": [],
        "writes": [{"name": "UPSERT", "requests": writes}],
    }
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "plan.json"), Path(folder, "times.json")
        asked.write_text(json.dumps(plan), encoding="utf-8")
        options = ("--seconds", "0.5", "--write-seconds", "20")
        subprocess.run([binary, asked, answered, *options], check=True, stdout=subprocess.DEVNULL)
        times = json.loads(answered.read_text(encoding="utf-8"))["measured"]

    def scaled(name: str, line: Line) -> float:
        return float(times[name]["warm"]["processor_us"]) / 1e6 * line.figure / line.rust

    return scaled


def _for_the_peer(request: Request) -> Request:
    """Ids differ by engine: the peer looks them up by name."""
    parameters = dict(request["parameters"])
    if "id" in parameters:
        parameters["id"] = {"id of": parameters["id"].partition("/")[2]}
    return {**request, "parameters": parameters}
