"""The algebra as SPARQL text: each node, the door for values, updates."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store, Triple, Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    AntiJoin,
    Call,
    Expression,
    Extend,
    Filter,
    Group,
    In,
    Infix,
    Lateral,
    LeftJoin,
    Negation,
    OneOrMore,
    Pattern,
    Project,
    Select,
    TriplePattern,
    TripleTerm,
    Union,
    variables,
)
from kiprdf.sparql.text import render, render_update
from tests.cases import each_case

A, B, C, L = map(Variable, "abcl")
P, Q = NamedNode("urn:p"), NamedNode("urn:q")
AB = BGP((TriplePattern(A, P, B),))
BC = BGP((TriplePattern(B, Q, C),))
ONE = Literal("1", datatype=vocab.INTEGER)


def body(pattern: Pattern) -> str:
    """What stands between the braces of the query of a pattern, on one line."""
    text = render(Select((A,), pattern))
    return " ".join(text.removeprefix("SELECT DISTINCT ?a WHERE {").removesuffix("}").split())


def written(expression: Expression) -> str:
    return body(Filter(UNIT, expression)).removeprefix("FILTER(").removesuffix(")")


def runs(pattern: Pattern) -> None:
    """The engine accepts the text."""
    Store().query(render(Select((A,), pattern)))


# Patterns -----------------------------------------------------------------------------------------

PATTERNS: dict[str, tuple[Pattern, str]] = {
    "unit": (UNIT, ""),
    "triples": (
        BGP((TriplePattern(A, P, B), TriplePattern(B, P, ONE))),
        "?a <urn:p> ?b . ?b <urn:p> 1 .",
    ),
    "triple_term": (
        BGP((TriplePattern(L, vocab.REIFIES, TripleTerm(A, P, B)),)),
        "?l <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?a <urn:p> ?b )>> .",
    ),
    "alternative": (BGP((TriplePattern(A, Alternative((P, Q)), B),)), "?a (<urn:p>|<urn:q>) ?b ."),
    "one_or_more": (BGP((TriplePattern(A, OneOrMore(P), B),)), "?a <urn:p>+ ?b ."),
    "lateral": (Lateral(AB, BC), "?a <urn:p> ?b . LATERAL { ?b <urn:q> ?c . }"),
    "left_join": (LeftJoin(AB, BC), "?a <urn:p> ?b . OPTIONAL { ?b <urn:q> ?c . }"),
    "union": (Union((AB, BC)), "{ ?a <urn:p> ?b . } UNION { ?b <urn:q> ?c . }"),
    "filter": (Filter(AB, Call("BOUND", (A,))), "?a <urn:p> ?b . FILTER(BOUND(?a))"),
    "filters_share_a_group": (
        Filter(Filter(AB, Call("BOUND", (A,))), Call("BOUND", (B,))),
        "?a <urn:p> ?b . FILTER(BOUND(?a)) FILTER(BOUND(?b))",
    ),
    "filter_is_closed_before_a_join": (
        Lateral(Filter(AB, Call("BOUND", (A,))), BC),
        "{ ?a <urn:p> ?b . FILTER(BOUND(?a)) } LATERAL { ?b <urn:q> ?c . }",
    ),
    "group": (
        Group(AB, (BC, Filter(AB, Call("BOUND", (A,)))), ((L, P),), (Call("BOUND", (B,)),)),
        "?a <urn:p> ?b . ?b <urn:q> ?c . { ?a <urn:p> ?b . FILTER(BOUND(?a)) } "
        "BIND(<urn:p> AS ?l) FILTER(BOUND(?b))",
    ),
    "extend": (Extend(AB, C, P), "?a <urn:p> ?b . BIND(<urn:p> AS ?c)"),
    "project": (Project(AB, (A,)), "SELECT DISTINCT ?a WHERE { ?a <urn:p> ?b . }"),
    "project_is_closed_before_a_join": (
        Lateral(Project(AB, (A,)), BC),
        "{ SELECT DISTINCT ?a WHERE { ?a <urn:p> ?b . } } LATERAL { ?b <urn:q> ?c . }",
    ),
    "anti_join": (
        AntiJoin(AB, BC, (B,), Variable("hit")),
        "?a <urn:p> ?b . LATERAL { OPTIONAL { { SELECT ?b (true AS ?hit) WHERE { ?b <urn:q> ?c . } "
        "LIMIT 1 } } } FILTER(!BOUND(?hit))",
    ),
    "anti_join_without_shared_variables": (
        AntiJoin(AB, BC, (), Variable("hit")),
        "?a <urn:p> ?b . OPTIONAL { { SELECT (true AS ?hit) WHERE { ?b <urn:q> ?c . } LIMIT 1 } } "
        "FILTER(!BOUND(?hit))",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "text"), PATTERNS.values(), ids=PATTERNS)
def test_pattern_is_written(pattern: Pattern, text: str) -> None:
    assert body(pattern) == text


@pytest.mark.parametrize("pattern", [p for p, _ in PATTERNS.values()], ids=PATTERNS)
def test_written_pattern_is_sparql(pattern: Pattern) -> None:
    runs(pattern)


@pytest.mark.parametrize(
    "make",
    [
        lambda left: Group(left, (BGP((TriplePattern(A, P, ONE),)),)),
        lambda left: Lateral(left, BGP((TriplePattern(A, P, ONE),))),
        lambda left: LeftJoin(left, BGP((TriplePattern(A, P, ONE),))),
        lambda left: Union((left, left)),
        lambda left: Filter(left, Call("BOUND", (A,))),
        lambda left: Extend(left, Variable("fresh"), ONE),
        lambda left: Project(left, (A,)),
        lambda left: AntiJoin(left, BGP((TriplePattern(A, P, ONE),)), (A,), Variable("none")),
    ],
    ids=["group", "lateral", "left_join", "union", "filter", "extend", "project", "anti_join"],
)
@each_case("left", [p for p, _ in PATTERNS.values()])
def test_any_pattern_may_stand_inside_any_other(left: Pattern, make: object) -> None:
    runs(make(left))  # type: ignore[operator]


# Expressions --------------------------------------------------------------------------------------

INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
EXPRESSIONS: dict[str, tuple[Expression, str]] = {
    "call": (Call("CONTAINS", (A, Literal("x"))), 'CONTAINS(?a, "x")'),
    "cast": (Call(vocab.INTEGER, (A,)), f"{INTEGER}(?a)"),
    "infix": (Infix("=", (A, ONE)), "(?a = 1)"),
    "many": (Infix("&&", (A, B, C)), "(?a && ?b && ?c)"),
    "negation": (Negation(A), "!(?a)"),
    "membership": (In(A, (P, Literal("x"))), '(?a IN (<urn:p>, "x"))'),
    "nested": (
        Infix("||", (Negation(Infix("&&", (A, B))), C)),
        "(!((?a && ?b)) || ?c)",
    ),
}


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expression_is_written(expression: Expression, text: str) -> None:
    assert written(expression) == text


@pytest.mark.parametrize("expression", [e for e, _ in EXPRESSIONS.values()], ids=EXPRESSIONS)
def test_written_expression_is_sparql(expression: Expression) -> None:
    runs(Filter(BGP((TriplePattern(A, P, B), TriplePattern(B, P, C))), expression))


# Queries ------------------------------------------------------------------------------------------


def test_query_has_limit_and_offset() -> None:
    text = render(Select((A, B), AB, limit=5, offset=10))
    assert text == "SELECT DISTINCT ?a ?b WHERE {\n  ?a <urn:p> ?b .\n}\nLIMIT 5\nOFFSET 10"


def test_only_prefixes_in_use_are_declared() -> None:
    text = render(Select((A,), AB), {"x": "urn:", "y": "urn:other:"})
    assert text == "PREFIX x: <urn:>\nSELECT DISTINCT ?a WHERE {\n  ?a x:p ?b .\n}"


def test_a_local_name_may_have_a_hyphen_inside() -> None:
    pattern = BGP((TriplePattern(A, NamedNode("urn:x/a-b"), B),))
    assert "?a x:a-b ?b ." in render(Select((A,), pattern), {"x": "urn:x/"})


def test_the_longest_namespace_names_an_iri() -> None:
    pattern = BGP((TriplePattern(A, NamedNode("urn:a/b/c"), B),))
    text = render(Select((A,), pattern), {"x": "urn:a/", "y": "urn:a/b/"})
    assert "?a y:c ?b ." in text


@pytest.mark.parametrize("local", ["", "1a", "a b".replace(" ", "%20"), "a.b", "a/b", "é", "$x"])
def test_an_iri_that_is_no_plain_local_name_is_written_whole(local: str) -> None:
    pattern = BGP((TriplePattern(A, NamedNode("urn:x/" + local), B),))
    assert f"<urn:x/{local}>" in render(Select((A,), pattern), {"x": "urn:x/"})


def test_the_type_predicate_is_written_a() -> None:
    assert body(BGP((TriplePattern(A, vocab.TYPE, B),))) == "?a a ?b ."


@pytest.mark.parametrize(
    ("lexical", "datatype", "text"),
    [
        ("12", vocab.INTEGER, "12"),
        ("-12", vocab.INTEGER, "-12"),
        ("true", vocab.BOOLEAN, "true"),
        ("1", vocab.BOOLEAN, f'"1"^^<{vocab.BOOLEAN.value}>'),
        ("1 } DROP ALL #", vocab.INTEGER, f'"1 }} DROP ALL #"^^<{vocab.INTEGER.value}>'),
        ("1\n", vocab.INTEGER, f'"1\\n"^^<{vocab.INTEGER.value}>'),
        ("٣", vocab.INTEGER, f'"٣"^^<{vocab.INTEGER.value}>'),
        ("true ", vocab.BOOLEAN, f'"true "^^<{vocab.BOOLEAN.value}>'),
        ("12", vocab.STRING, '"12"'),
    ],
)
def test_only_plain_numbers_and_booleans_stand_without_quotes(
    lexical: str, datatype: NamedNode, text: str
) -> None:
    assert written(Infix("=", (A, Literal(lexical, datatype=datatype)))) == f"(?a = {text})"


def test_the_variables_of_a_pattern_are_collected_at_any_depth() -> None:
    inner = Filter(Lateral(AB, Project(BC, (B,))), Infix("=", (L, ONE)))
    assert variables(AntiJoin(inner, UNIT, (), Variable("w"))) == {A, B, C, L, Variable("w")}


# The door for values ------------------------------------------------------------------------------

NASTY = (
    '"', "'", "\\", "\n", "\r", "\t", "\x00", "\x08", "\x7f", "\u2028", "\ufeff", "\ufffe", "😀",
    '"""', "'''", "}", "{", ">", "<", "#", "?a", "$a", "\\u0022", "\\", "@en", "^^<x>", " . ",
    "<<( ", " )>>", "; DROP ALL", "} } INSERT DATA { <a:> <a:> <a:> }", "%s", "{0}", "_:b",
)  # fmt: skip
HOSTILE = [
    *NASTY,
    *(one + other for one in NASTY for other in NASTY),
    *(one + "x" + other for one in NASTY for other in NASTY),
]


def test_two_thousand_hostile_literals_are_read_back_by_a_query() -> None:
    assert len(HOSTILE) >= 2_000
    store = Store()
    for start in range(0, len(HOSTILE), 50):
        texts = HOSTILE[start : start + 50]
        pattern: Pattern = UNIT
        names = tuple(Variable(f"v{i}") for i in range(len(texts)))
        for name, text in zip(names, texts, strict=True):
            pattern = Extend(pattern, name, Literal(text))
        (row,) = store.query(render(Select(names, pattern)))  # type: ignore[union-attr]
        assert [cell.value for cell in row] == texts  # type: ignore[union-attr]


def test_two_thousand_hostile_literals_are_read_back_after_an_update() -> None:
    store = Store()
    triples = [Triple(NamedNode(f"urn:{i}"), P, Literal(t)) for i, t in enumerate(HOSTILE)]
    store.update(render_update([], triples))
    assert {quad.triple for quad in store} == set(triples)


def test_two_thousand_hostile_literals_are_removed_by_an_update() -> None:
    store = Store()
    triples = [Triple(NamedNode(f"urn:{i}"), P, Literal(t)) for i, t in enumerate(HOSTILE)]
    store.update(render_update([], triples))
    store.update(render_update(triples, []))
    assert len(store) == 0


# Updates ------------------------------------------------------------------------------------------

FACT = Triple(NamedNode("urn:a"), P, NamedNode("urn:b"))
REIFIER = Triple(NamedNode("urn:l"), vocab.REIFIES, FACT)


def test_update_removes_before_it_adds() -> None:
    text = render_update([FACT], [REIFIER])
    assert text == (
        "DELETE DATA {\n<urn:a> <urn:p> <urn:b> .\n};\n"
        "INSERT DATA {\n<urn:l> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> "
        "<<( <urn:a> <urn:p> <urn:b> )>> .\n}"
    )


def test_a_triple_that_goes_and_comes_is_there() -> None:
    store = Store()
    store.update(render_update([FACT], [FACT]))
    assert [quad.triple for quad in store] == [FACT]


def test_update_of_nothing_is_sparql() -> None:
    store = Store()
    store.update(render_update([], []))
    assert len(store) == 0


def test_quad_goes_to_its_graph() -> None:
    quad = Quad(FACT.subject, FACT.predicate, FACT.object, NamedNode("urn:g"))
    store = Store()
    store.update(render_update([], [quad]))
    assert list(store) == [quad]


def test_statements_on_one_subject_name_it_once() -> None:
    node, other = NamedNode("urn:a"), NamedNode("urn:b")
    text = render_update([], [(node, P, Literal("1")), (node, P, FACT), (other, P, node)])
    assert text == (
        "DELETE DATA {\n};\n"
        'INSERT DATA {\n<urn:a> <urn:p> "1" ;\n  <urn:p> <<( <urn:a> <urn:p> <urn:b> )>> .\n'
        "<urn:b> <urn:p> <urn:a> .\n}"
    )


def test_two_thousand_hostile_literals_on_one_subject_are_read_back() -> None:
    store, node = Store(), NamedNode("urn:a")
    statements = [(node, NamedNode(f"urn:{i}"), Literal(t)) for i, t in enumerate(HOSTILE)]
    store.update(render_update([], statements))
    assert {(q.subject, q.predicate, q.object) for q in store} == set(statements)
    store.update(render_update(statements, []))
    assert len(store) == 0


def test_named_quads_stand_among_the_others() -> None:
    node, graph = NamedNode("urn:a"), NamedNode("urn:g")
    noted = Quad(node, P, Literal("2"), graph)
    store = Store()
    store.update(render_update([], [(node, P, Literal("1")), noted, (node, P, Literal("3"))]))
    assert set(store) == {Quad(node, P, Literal("1")), noted, Quad(node, P, Literal("3"))}
