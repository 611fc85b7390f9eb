"""The clauses of the draft on notation, graph and RDF, each with the test that names it.

Those on rules and the engine are in ``test_engine_rules``, ``test_engine_operations`` and
``test_engine_cycle``.
"""

from __future__ import annotations

import pytest

from kiprdf.chunks import (
    ChunksSyntaxError,
    Engine,
    Graph,
    Link,
    Text,
    from_rdf,
    parse,
    to_rdf,
    to_text,
)
from tests.cases import each_case


@each_case(
    "clause, text, canonical",
    [
        ("C002 what is written can be read", 'a {x "\\"\\n"; y !}', 'a {x "\\"\\n"; y !}'),
        ("C003 two links in a line", "a b/c d e f g", "a b/c d\ne f g"),
        ("C010 numbers of JSON", "a {x -0.5E1, 05, 5.}", "a {x -5.0, 05, 5.}"),
        ("C011 a longer word is no boolean", "a {x true, truecolour}", "a {x true, truecolour}"),
        ("C012 dates", "a {x 1997-07-16T19:20Z}", "a {x 1997-07-16T19:20Z}"),
        ("C015 escapes of strings", r'a {x "\u00e9\/"}', 'a {x "é/"}'),
        ("C016 names with a slash", "a a/b {}", "a a/b {}"),
        ("C020 C021 type, id, properties", "dog d {x 1, 2}", "dog d {x 1, 2}"),
        ("C022 white space anywhere", "dog\n\td\r\n{ x\n1 ,\n2 }", "dog d {x 1, 2}"),
        ("C023 compact syntax", 'dog d {\nname "F"\nage 4\n}', 'dog d {name "F"; age 4}'),
        ("C024 type *", "* {} => * {}", "* {} => * {}"),
        ("C028 atomic values", 'a {x b, 1, true, 1879-03, "c"}', 'a {x b, 1, true, 1879-03, "c"}'),
        ("C072 explicit rules", "rule r {@condition c; @action d, e}", None),
        ("C073 compact rules", "c {x ?y}=>a {},b {}", "c {x ?y} => a {}, b {}"),
        ("C074 decision d: several conditions", "a {}, b {} => c {}", "a {}, b {} => c {}"),
        ("C158 negated conditions", "!a b {} => c {}", "!a b {} => c {}"),
        ("C165 decision d: two negations", "a {@id !!John}", "a {@id John}"),
        ("C166 reserved names", "@map m {do @do}", "@map m {do @do}"),
        ("G01 comments", "# a {}\nb {} # c", "b {}"),
        (
            "G02 decision d: comments in braces",
            "a { # b\nx 1 # c\n} => # d\nc {}",
            "a {x 1} => c {}",
        ),
        ("G03 no space between statements", "a{}b{}c{}=>d{}e{}", "a {}\nb {}\nc {} => d {}\ne {}"),
        ("G04 ; or a line feed", "a {x 1\ny 2; z 3}", "a {x 1; y 2; z 3}"),
        ("G05 decision d: trailing ;", "a {x 1; }", "a {x 1}"),
        ("G06 names", "a.b-c_d/e:f {}", "a.b-c_d/e:f {}"),
        ("G07 decision d: negated text", 'a {x !b, !?c, !"d"}', 'a {x !b, !?c, !"d"}'),
        ("G08 strings", 'a {x "é# {}"}', 'a {x "é# {}"}'),
        ("G09 decision d: trailing comma", "a {}, => c {}", "a {} => c {}"),
    ],
)
def test_text_is_read_and_written(clause: str, text: str, canonical: str | None) -> None:
    document = parse(text)
    written = to_text(document, compact=True)
    assert written == f"{text if canonical is None else canonical}\n", clause
    assert parse(written) == document


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        ("C001 the grammar", "dog {age}"),
        ("C010 no plus sign", "a {x +5}"),
        ("C017 a number is no name", "4 {}"),
        ("C017 a boolean is no name", "a true {}"),
        ("C115 decision g: a comma for a semicolon", "digits {@push 9, @to list}"),
        ("G08 a bare line feed in a string", 'a {x "b\nc"}'),
    ],
)
def test_text_is_refused(clause: str, text: str) -> None:
    with pytest.raises(ChunksSyntaxError):
        parse(text)


@each_case(
    "clause, facts, pattern, count",
    [
        ("C013 a date is a chunk", "a {x 1879-03-14}", "iso8601 {month 3}", 1),
        ("C014 its parts are numbers", "a {x 1879-03-14}", "iso8601 {day 14; year 1879}", 1),
        ("C030 decision a: a name is no text", 'a {x "b"} a {x b}', "a {x b}", 1),
        ("C040 * equals anything", "a {x 1} a {y 1} a {x 1, 2}", "a {x *}", 2),
        ("C041 ! equals nothing, C083 p is absent", "a {x 1} a {}", "a {x !}", 1),
        ("C042 !a is not equal to a", "a {x b} a {x c} a {}", "a {x !b}", 1),
        ("C043 an unbound variable equals anything", "a {x 1} a {}", "a {x ?y}", 1),
        ("C044 a bound one equals its value", "a {x 1; y 1} a {x 1; y 2}", "a {x ?z; y ?z}", 1),
        ("C045 lists by position", "a {x 1, 2} a {x 1, 2, 3}", "a {x 1, 2}", 1),
        ("C045 a list with ! goes on", "a {x b, 1} a {x b, 2}", "a {x !c, 2}", 1),
        ("C050 C080 in the same context", "a {@context c} a {@context d}", "a {@context c}", 1),
        ("C051 C053 default context", "a {@context c} a {}", "a {}", 1),
        ("C052 no other context", "a {@context c}", "a {@context d}", 0),
        ("C062 a link is a chunk", "a b {x c} d c {}", "x {@subject b; @object c}", 1),
        ("C064 a compact link is a chunk", "a b c", "b {@subject a; @object c}", 1),
        ("C081 by id", "a b {} a c {}", "a {@id b}", 1),
        ("C082 C099 by kind", "p k b b kindof c a x {}\na kindof b", "* {@kindof c}", 1),
        ("C084 has p and equal", "a {x 1; y 2} a {x 1}", "a {x 1; y 2}", 1),
        ("C085 C112 by @type", "a {x 1} b {x 1}", "c {@type a; x 1}", 1),
        ("C086 any type", "a {x 1} b {x 1} b {}", "* {x 1}", 2),
        ("C152 a variable is a list", "a {x 1, 2; y 1, 2} a {x 1, 2; y 1}", "a {x ?z; y ?z}", 1),
        ("C153 lists of variables", "a {x 1} a {x 1, 2}", "a {x ?y, ?z}", 1),
        ("C154 * matches any chunk", "a {} b {x 1}", "* {}", 2),
        ("C156 * in a list", "a {x b, c, d} a {x b, c}", "a {x b, *, *}", 1),
        ("C159 @id !v", "a b {} a c {}", "a {@id !b}", 1),
        ("C160 !v in a list", "a {x b, c, d} a {x b, e, d}", "a {x ?f, !c, ?g}", 1),
        ("C161 p is undefined", "a {x 1} a {y 1}", "a {x !}", 1),
    ],
)
def test_pattern_matches_so_many_chunks(clause: str, facts: str, pattern: str, count: int) -> None:
    assert len(Graph(facts).match(pattern)) == count, clause


def test_c025_c026_c029_identifiers_are_unique_given_and_overridden() -> None:
    """C025 C026 C029."""
    graph = Graph("a b {x 1} a b {x 2} a {}")
    assert [(chunk.id, chunk.get("x")) for chunk in graph] == [("b", 2), ("_:1", None)]


def test_c027_value_is_atomic_or_an_ordered_list() -> None:
    """C027."""
    assert Graph('a b {x 2, 1, "c"; y d}')["b"].properties == {"x": (2, 1, Text("c")), "y": "d"}


def test_c054_contexts_can_be_chained() -> None:
    """C054."""
    graph = Graph(
        "wants {@context belief; @subject mary; situation desire} believes {proposition belief}"
    )
    belief = graph.match("believes {}")[0]["proposition"]
    wants = graph.match(f"wants {{@context {belief}}}")[0]
    assert wants["situation"] == "desire"


def test_c060_c061_c063_c065_value_that_names_a_chunk_is_a_directed_link() -> None:
    """C060 C061 C063 C065."""
    graph = Graph("friend f34 {name Joan} friend f35 {name Jenny; likes f34; knows f36}")
    assert graph.links() == [Link("f35", "likes", "f34")]
    assert graph.links("f34") == []


def test_c070_c071_rule_has_conditions_and_actions() -> None:
    """C070 C071."""
    graph = Graph("rule r {@condition !c; @action d} rule {x 1} a c {} b d {}")
    (rule,) = graph.rules
    assert (rule.id, rule.conditions[0].negated, rule.actions) == ("r", True, (graph["d"],))


@pytest.mark.parametrize(
    ("clause", "text", "name", "iri"),
    [
        ("C180 @rdfmap", "@rdfmap {dog http://e.org/dog}", "dog", "http://e.org/dog"),
        ("C181 the last mapping", "@rdfmap {a http://b} @rdfmap {a http://c}", "a", "http://c"),
        ("C182 @base", "@rdfmap {@base http://schema.org/}", "name", "http://schema.org/name"),
        ("C184 @prefix", "x p {f http://f/} @rdfmap {@prefix p; n f:n}", "n", "http://f/n"),
    ],
)
def test_name_has_this_iri(clause: str, text: str, name: str, iri: str) -> None:
    assert Graph(text).iri(name) == iri, clause


def test_c183_mapped_graph_is_written_with_its_iris() -> None:
    """C183."""
    graph = Graph(
        '@rdfmap {dog http://e.org/ns/dog; age http://e.org/ns/age}\ndog d {age 5; c "x"}'
    )
    assert ':d a <http://e.org/ns/dog> ;\n\t<http://e.org/ns/age> 5 ;\n\t:c "x" .' in to_rdf(graph)
    assert list(from_rdf(to_rdf(graph))) == list(graph)


def test_c004_engine_runs_the_rules_of_a_document() -> None:
    """C004."""
    engine = Engine("a {x ?y} => b {x ?y}")
    engine.goal("a {x 1}")
    engine.run()
    assert engine.module("goal").buffer == parse("b {x 1}").chunks[0]


@pytest.mark.parametrize(
    "text",
    [
        "a {x " + "1, " * 200_000 + "1}",
        "a {x " + "1, " * 200_000,
        '"' * 500_000,
        "a {x " + "!" * 500_000 + "b}",
        "a" * 500_000,
        "a " * 250_000,
        "a+" * 250_000,
        "a {" + " " * 500_000 + "x 1}",
        "a {x 1" + "\n" * 500_000 + "y 2",
        "http://" * 70_000 + "{}",
        "#" * 500_000,
        "{" * 500_000,
        'a {x "' + "\\\\" * 250_000,
    ],
    ids=range(13),
)
def test_megabytes_on_one_line_are_read_or_refused_in_linear_time(text: str) -> None:
    message = ""
    try:
        parse(text)
    except ChunksSyntaxError as error:
        message = str(error)
    assert len(message) < 200
