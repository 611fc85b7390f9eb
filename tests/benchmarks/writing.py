"""Writing, beside the same quads written by hand.

By hand is: what an expert would write who has the engine alone, knows where a knowledge store keeps
what, and wants each write whole or not at all.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Store, Triple

import kiprdf
from kiprdf.rdf.iris import proposition_digits
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side

BASE = "urn:kip:nexus/"
META = "urn:kip:metadata/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
NOTES = "urn:kip:graph/nexus"

MOST_AROUND = 5_000
"""How many propositions there are when one concept is written."""
UPDATED = 20_625
"""Of so many propositions ten thousand are ``treats``."""
MOST_APPLIED = 100_000
FEW_ROUNDS = 3
JOURNAL_ROUNDS = 5
JOURNAL_WRITES = 800


def measured(propositions: int) -> Iterator[Ratio]:
    """One concept with its links, ten thousand values, a whole capsule."""
    yield upsert("UPSERT, in memory", min(propositions, MOST_AROUND), None)
    with tempfile.TemporaryDirectory() as folder:
        yield upsert("UPSERT, on disk", min(propositions, MOST_AROUND), Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield journal(min(propositions, MOST_AROUND), Path(folder))
    yield update(min(propositions, UPDATED))
    yield apply_capsule(min(propositions, MOST_APPLIED))


def moments() -> Iterator[datetime]:
    """A clock of which both sides have one, so that they write the same times."""
    for number in itertools.count():
        yield datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=number)


def shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def beside(nexus: kiprdf.Nexus, folder: Path | None = None) -> Store:
    """A bare store with the quads of a nexus."""
    bare = Store() if folder is None else Store(str(folder))
    bare.extend(iter(nexus.store.engine))
    return bare


def require_equal(name: str, ours: Iterable[Quad], theirs: Iterable[Quad]) -> None:
    """Both have written the same; the yardstick would not be one otherwise."""
    written, expected = set(ours), set(theirs)
    if written != expected:
        some = [*itertools.islice(written - expected, 3), *itertools.islice(expected - written, 3)]
        sys.exit(f"{name}: {len(written)} quads, and {len(expected)} by hand, such as {some}")


# One concept ----------------------------------------------------------------------------------

UPSERT = """
UPSERT {
  CONCEPT {
    {type: "Drug", name: :name}
    SET ATTRIBUTES { risk: :risk, description: :description }
    SET PROPOSITIONS {
      ("treats", {type: "Symptom", name: :first})
      ("treats", {type: "Symptom", name: :second})
      ("interacts_with", {type: "Drug", name: :other})
    }
  }
} WITH METADATA { confidence: :confidence }
"""


def upsert(name: str, propositions: int, folder: Path | None) -> Ratio:
    """A new concept with three links, with parameters."""
    ticking = moments()
    clock = partial(next, ticking)
    opened = kiprdf.Nexus.memory if folder is None else partial(kiprdf.Nexus.open, folder / "ours")
    with opened(genesis=False, clock=clock) as nexus:
        data.build(propositions, nexus)
        bare = beside(nexus, None if folder is None else folder / "bare")
        commit = int(nexus.info()["commit"])
        times = moments()
        begun = next(ticking)
        while next(times) < begun:
            pass
        turns, theirs = itertools.count(), itertools.count()

        def ours(_: int) -> None:
            nexus.execute(UPSERT, **parameters(next(turns), propositions))

        def yardstick(_: int) -> None:
            number = next(theirs)
            values = parameters(number, propositions)
            bare.update(upsert_by_hand(shown(next(times)), commit + number, **values))

        ratio = side_by_side(name, ours, yardstick, target=3.0)
        # In a folder, the note of a commit has the digest of its record.
        notes = NamedNode(NOTES)
        written, by_hand = (
            [quad for quad in store if quad.graph_name != notes]
            for store in (nexus.store.engine, bare)
        )
        require_equal(name, written, by_hand)
    return ratio


def parameters(number: int, propositions: int) -> dict[str, Any]:
    """Those of one ``UPSERT``, beside so many propositions."""
    drugs, symptoms, _ = data.sizes(propositions)
    return {
        "name": f"New {number}",
        "risk": number % 5,
        "description": f"Relieves {number} of {drugs}.",
        "first": f"S{number % symptoms}",
        "second": f"S{(number + 1) % symptoms}",
        "other": f"D{number % drugs}",
        "confidence": number % 100 / 100,
    }


def journal(propositions: int, folder: Path) -> Ratio:
    """The same with a history in its folder, beside one without: processor times.

    The two take turns with every write, and each round is long enough for a file to be sealed.
    Returns the round with the median ratio: the engine works in the background for either.
    """

    def writer(history: bool) -> Callable[[], object]:
        nexus = kiprdf.Nexus.open(folder / str(history), genesis=False, history=history)
        data.build(propositions, nexus)
        turns = itertools.count()
        return lambda: nexus.execute(UPSERT, **parameters(next(turns), propositions))

    writers = writer(True), writer(False)
    ratios = []
    for _ in range(JOURNAL_ROUNDS):
        seconds = [0.0, 0.0]
        for _ in range(JOURNAL_WRITES):
            for side, write in enumerate(writers):
                started = time.process_time()
                write()
                seconds[side] += time.process_time() - started
        ours, theirs = (each / JOURNAL_WRITES for each in seconds)
        ratios.append(Ratio("UPSERT on disk, with history", ours, theirs, 1.1))
    return sorted(ratios, key=lambda ratio: ratio.ratio)[JOURNAL_ROUNDS // 2]


def upsert_by_hand(
    moment: str,
    commit: int,
    *,
    name: str,
    risk: int,
    description: str,
    first: str,
    second: str,
    other: str,
    confidence: float,
) -> str:
    """The same as one SPARQL update; the values need no escaping."""
    fixed = (
        f"<{META}confidence> {confidence!r}e0 ; <{META}_version> 1 ; "
        f'<{META}_created_at> "{moment}" ; <{META}_updated_at> "{moment}"'
    )
    subject = f"<{BASE}Drug/{name.replace(' ', '%20')}>"
    links = "".join(
        f"{subject} {predicate} {object_} . <{BASE}$proposition/{digits}> "
        f"<{RDF}reifies> <<( {subject} {predicate} {object_} )>> ; {fixed} .\n"
        for predicate, object_, digits in (
            link_by_hand(name, "treats", "Symptom", first),
            link_by_hand(name, "treats", "Symptom", second),
            link_by_hand(name, "interacts_with", "Drug", other),
        )
    )
    return (
        f"DELETE DATA {{ GRAPH <{NOTES}> {{ <{NOTES}> <urn:kip:vocab/commit> {commit} }} }};\n"
        f"INSERT DATA {{ GRAPH <{NOTES}> {{ <{NOTES}> <urn:kip:vocab/commit> {commit + 1} }}\n"
        f'{subject} <{RDF}type> <{BASE}$ConceptType/Drug> ; <{RDFS}label> "{name}" ; '
        f'<urn:kip:attribute/risk> {risk} ; <urn:kip:attribute/description> "{description}" ; '
        f"{fixed} .\n{links}}}"
    )


def link_by_hand(name: str, predicate: str, type_name: str, other: str) -> tuple[str, str, str]:
    digits = proposition_digits(f"C:Drug/{name}", predicate, f"C:{type_name}/{other}")
    return (
        f"<{BASE}$PropositionType/{predicate}>",
        f"<{BASE}{type_name}/{other}>",
        f"{digits}/{predicate}",
    )


# Ten thousand values --------------------------------------------------------------------------

UPDATE = """
UPDATE ?l SET METADATA { confidence: ADD(?l.metadata.confidence, 0.01) }
WHERE { ?l (?d, "treats", ?s) }
"""
UPDATE_BY_HAND = f"""
PREFIX meta: <{META}>
DELETE DATA {{ GRAPH <{NOTES}> {{ <{NOTES}> <urn:kip:vocab/commit> %d }} }};
INSERT DATA {{ GRAPH <{NOTES}> {{ <{NOTES}> <urn:kip:vocab/commit> %d }} }};
DELETE {{ ?l meta:confidence ?old ; meta:_version ?version ; meta:_updated_at ?at }}
INSERT {{ ?l meta:confidence ?new ; meta:_version ?next ; meta:_updated_at "%s" }}
WHERE {{
  ?d <{BASE}$PropositionType/treats> ?s .
  ?l <{RDF}reifies> <<( ?d <{BASE}$PropositionType/treats> ?s )>> ;
    meta:confidence ?old ; meta:_version ?version ; meta:_updated_at ?at .
  BIND(?old + 0.01e0 AS ?new)
  BIND(?version + 1 AS ?next)
}}
"""


def update(propositions: int) -> Ratio:
    """One value of each ``treats``, computed from the one before."""
    ticking, times = moments(), moments()
    nexus = kiprdf.Nexus.memory(genesis=False, clock=partial(next, ticking))
    data.build(propositions, nexus)
    bare = beside(nexus)
    commit = int(nexus.info()["commit"])
    begun = next(ticking)
    while next(times) < begun:
        pass
    theirs = itertools.count(commit)
    count = int(nexus.execute(UPDATE)["updated"])
    name = f"UPDATE of {count:,}".replace(",", " ")

    def yardstick(_: int) -> None:
        number = next(theirs)
        bare.update(UPDATE_BY_HAND % (number, number + 1, shown(next(times))))

    yardstick(0)

    def ours(_: int) -> None:
        nexus.execute(UPDATE)

    ratio = side_by_side(name, ours, yardstick, target=3.0)
    require_equal(name, nexus.store.engine, bare)
    return ratio


# A capsule ------------------------------------------------------------------------------------

Value = tuple[str, str]
"""A lexical form and its datatype."""
Plain = tuple[str, str, "Value | str | tuple[str, str, str]"]
"""A triple without any terms: IRIs are strings, and a fact is three of them."""


def apply_capsule(propositions: int) -> Ratio:
    """A whole knowledge base as one text."""
    name = "apply_capsule"
    text = data.capsule(propositions)
    clock = partial(datetime, 2026, 1, 1, tzinfo=UTC)
    made: list[kiprdf.Nexus] = []
    built: list[Store] = []

    def ours(_: int) -> None:
        made[:] = [kiprdf.Nexus.memory(genesis=False, clock=clock)]
        made[0].apply_capsule(text)

    ours(0)
    plain = [plain_triple(triple) for triple in made[0].store.match(None, None, None)]

    def yardstick(_: int) -> None:
        built[:] = [Store()]
        built[0].bulk_extend(quads(plain))

    ratio = side_by_side(name, ours, yardstick, target=4.0, rounds=FEW_ROUNDS)
    default = DefaultGraph()
    written = (quad for quad in made[0].store.engine if quad.graph_name == default)
    require_equal(name, written, built[0])
    return ratio


def plain_triple(triple: Triple) -> Plain:
    subject, predicate, object_ = triple
    value: Any
    if isinstance(object_, Literal):
        value = (object_.value, object_.datatype.value)
    elif isinstance(object_, Triple):
        value = tuple(node.value for node in object_)  # type: ignore[union-attr]
    else:
        value = object_.value
    return subject.value, predicate.value, value  # type: ignore[union-attr]


def quads(plain: Iterable[Plain]) -> Iterator[Quad]:
    """The terms of plain triples; those that come again and again are made once."""
    nodes: dict[str, NamedNode] = {}

    def node(iri: str) -> NamedNode:
        if iri not in nodes:
            nodes[iri] = NamedNode(iri)
        return nodes[iri]

    for subject, predicate, value in plain:
        if isinstance(value, str):
            yield Quad(node(subject), node(predicate), node(value))
        elif len(value) == 2:
            literal = Literal(value[0], datatype=node(value[1]))
            yield Quad(node(subject), node(predicate), literal)
        else:
            yield Quad(node(subject), node(predicate), Triple(*map(node, value)))
