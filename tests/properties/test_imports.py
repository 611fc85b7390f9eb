"""For any RDF, an import is a valid UPSERT, the same from any order, and done once.

``KIPRDF_EXAMPLES`` sets how many datasets are tried.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

import kiprdf
from kiprdf.execution.imports import run
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import proposition_digits
from tests.interchange.importing import carry_out, planned
from tests.long_runs import amount
from tests.nexus.support import StoppedClock

EXAMPLES = amount("EXAMPLES", 5)
OWN = vocab.DEFAULT_BASE
RDF = vocab.RDF
BLANKS = [BlankNode(name) for name in "abcd"]
IRIS = [
    *map(NamedNode, ("urn:x:a", "urn:x:b", "urn:y:a", "urn:x:T", "urn:x:p", "urn:x:名")),
    *(
        NamedNode(OWN + name)
        for name in (
            "T/a",
            "T/%00",
            "no%20type/a",
            "nothing",
            "$ConceptType/T",
            "$ConceptType/$ConceptType",
            "$PropositionType/p",
            "$PropositionType/no%20name",
            "$proposition/0123456789abcdef/p",
            f"$proposition/{proposition_digits('C:T/a', 'p', 'C:T/b')}/p",
            f"$proposition/{proposition_digits('C:Thing/a', 'p', 'C:Thing/b')}/p",
            "T/b",
            "Person/$self",
            "Domain/CoreSchema",
        )
    ),
]
PREDICATES = [
    vocab.TYPE,
    vocab.LABEL,
    vocab.REIFIES,
    vocab.SUBJECT,
    vocab.PREDICATE,
    vocab.OBJECT,
    *map(NamedNode, (RDF + "first", RDF + "rest", "urn:x:p", "urn:y:p", "urn:x:q", "urn:x:名")),
    *map(NamedNode, (OWN + "$PropositionType/p", OWN + "$PropositionType/no%20name", OWN + "T/p")),
    *map(NamedNode, (vocab.ATTRIBUTE + "k", vocab.ATTRIBUTE + "same_as", vocab.METADATA + "k")),
    *map(NamedNode, (vocab.METADATA + "_version", vocab.ATTRIBUTE + "no%20key")),
    NamedNode("http://www.w3.org/2002/07/owl#sameAs"),
]
OBJECTS = [
    *(NamedNode(RDF + name) for name in ("nil", "List", "Statement", "Property")),
    vocab.NULL,
    *map(Literal, ("a", "", "$self", "CoreSchema", "\x00", "x" * 1100)),
    Literal("a", language="en"),
    Literal(1),
    Literal("1.50", datatype=NamedNode(vocab.XSD + "decimal")),
    Literal("NaN", datatype=vocab.DOUBLE),
    Literal('{"a":[1]}', datatype=vocab.JSON),
    Literal("{", datatype=vocab.JSON),
]
subjects = st.sampled_from([*BLANKS, *IRIS])
predicates = st.sampled_from(PREDICATES)
objects = st.sampled_from([*BLANKS, *IRIS, *OBJECTS])
triples = st.builds(Triple, subjects, predicates, objects)
annotations = st.builds(Triple, subjects, st.just(vocab.REIFIES), triples)
graphs = st.sampled_from([DefaultGraph(), DefaultGraph(), NamedNode("urn:g"), BlankNode("g")])
quads = st.builds(
    lambda triple, graph: Quad(triple.subject, triple.predicate, triple.object, graph),
    st.one_of(triples, annotations),
    graphs,
)
datasets = st.lists(quads, max_size=14)


@st.composite
def likely_datasets(draw: st.DrawFn) -> list[Quad]:
    """Resources with a type, and reified triples that are asserted, beside anything else."""
    quads = draw(datasets)
    for subject in draw(st.lists(st.sampled_from([*BLANKS, *IRIS[:3]]), max_size=4)):
        quads.append(Quad(subject, vocab.TYPE, NamedNode("urn:x:T"), DefaultGraph()))
    reified = [q.object for q in quads if isinstance(q.object, Triple)]
    return quads + [Quad(t.subject, t.predicate, t.object, DefaultGraph()) for t in reified]


tried = settings(max_examples=EXAMPLES)


def opened(genesis: bool) -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(genesis=genesis, clock=StoppedClock())


@tried
@given(likely_datasets(), st.booleans())
def test_every_import_succeeds_and_a_second_one_changes_nothing(
    dataset: list[Quad], full: bool
) -> None:
    nexus = opened(genesis=full)
    options = {"define": True, "default_type": "Thing", "metadata": {"source": "test"}}
    carry_out(planned(dataset, nexus, **options), nexus)
    before = nexus.snapshot()
    again = planned(dataset, nexus, **options)
    carry_out(again, nexus)
    assert nexus.snapshot() == before
    assert again.definitions == []


@tried
@given(likely_datasets(), likely_datasets())
def test_links_to_a_later_file_are_added_once(first: list[Quad], second: list[Quad]) -> None:
    nexus = opened(genesis=False)

    def import_text(dataset: list[Quad], update: bool) -> str:
        made = planned(dataset, nexus, define=True, default_type="Thing", update=update)
        run(nexus._engine, SimpleNamespace(text=None, plan=lambda _: made), dry_run=False)
        return nexus.snapshot()

    import_text(first, True)
    import_text(second, True)
    assert import_text(first, False) == import_text(first, False)


@tried
@given(likely_datasets(), st.randoms(use_true_random=False))
def test_the_order_of_the_quads_makes_no_difference(
    dataset: list[Quad], chance: random.Random
) -> None:
    nexus = opened(genesis=False)
    shuffled = list(dataset)
    chance.shuffle(shuffled)
    one = planned(dataset, nexus, define=True, default_type="Thing")
    other = planned(shuffled, nexus, define=True, default_type="Thing")
    assert one == other


@tried
@given(likely_datasets())
def test_the_labels_of_blank_nodes_make_no_difference(dataset: list[Quad]) -> None:
    nexus = opened(genesis=False)

    def renamed(term: object) -> object:
        if isinstance(term, BlankNode):
            return BlankNode(
                "z" + chr(ord("z") - ord(term.value[0]) + ord("a"))
            )  # in the other order
        if isinstance(term, Triple):
            return Triple(*map(renamed, term))  # type: ignore[arg-type]
        return term

    others = [Quad(*map(renamed, quad)) for quad in dataset]  # type: ignore[arg-type]
    assert planned(dataset, nexus, define=True) == planned(others, nexus, define=True)


@tried
@given(likely_datasets())
def test_every_triple_is_in_the_plan_or_skipped(dataset: list[Quad]) -> None:
    """A literal that is not in the plan is among the skipped triples."""
    nexus = opened(genesis=False)
    marked = [
        Quad(quad.subject, quad.predicate, Literal(f"mark {n} end"), DefaultGraph())
        for n, quad in enumerate(dataset)
        if quad.predicate.value != vocab.METADATA + vocab.VERSION
    ]
    made = planned([*dataset, *marked], nexus, define=True, default_type="Thing")
    text = str([made.concepts, made.propositions, made.skipped])
    assert [quad for quad in marked if quad.object.value not in text] == []
