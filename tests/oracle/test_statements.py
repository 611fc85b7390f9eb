"""Hand-worked claims about the model of UPDATE, MERGE and DELETE, written out from the page."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.cases import each_case
from tests.oracle import Graph
from tests.oracle.statements import execute
from tests.oracle.statements_targets import BOTH, CONCEPT, PROPOSITION, possible_kinds

S, T, Z = "C:T/S", "C:T/T", "C:T/Z"
MERGE = 'MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "T", name: "S"} ?t {type: "T", name: "T"} }'


def graph_of(
    links: dict[str, tuple[str, str]] | None = None, **attributes: dict[str, Any]
) -> Graph:
    """The concepts S, T and Z, and links by a name that stands for their id and its order."""
    graph = Graph()
    graph.define(types=("T", "U"), predicates=("p", "q"))
    for name in "STZ":
        graph.concept("T", name, attributes.get(name))
    graph.concept("U", "S")
    for name, ends in (links or {}).items():
        subject, object_ = (end if end.startswith("C:") else link_id(end) for end in ends)
        graph.propositions[link_id(name)] = {
            "subject": subject, "predicate": "p", "object": object_,
            "attributes": dict(attributes.get(name, {})), "metadata": {},
        }  # fmt: skip
    return graph


def link_id(name: str) -> str:
    return f"P:{name}:p"


def run(text: str, graph: Graph, **parameters: Any) -> dict[str, Any]:
    dry_run = bool(parameters.pop("dry_run", False))
    statement: Any = bind(parse(text), parameters)
    return execute(statement, graph, "now", dry_run=dry_run)


def refusal(text: str, graph: Graph | None = None, **parameters: Any) -> str:
    """The code of an error, which does not change the graph."""
    graph = graph or graph_of()
    before = copy.deepcopy((graph.concepts, graph.propositions))
    with pytest.raises(KipError) as caught:
        run(text, graph, **parameters)
    assert (graph.concepts, graph.propositions) == before
    return caught.value.code


def merged(graph: Graph) -> tuple[int, int, int]:
    """Links repointed, links deduplicated, attributes filled."""
    receipt = run(MERGE, graph)
    assert receipt.pop("merged") is True
    return tuple(receipt.values())


def ends(graph: Graph) -> dict[str, tuple[str, str]]:
    """The ends of each link, by the names they were made with."""

    def short(end: str) -> str:
        return end if end.startswith("C:") else end.split(":")[1]

    return {
        short(identifier): (short(link["subject"]), short(link["object"]))
        for identifier, link in graph.propositions.items()
    }


def version(graph: Graph, identifier: str) -> int:
    return int(graph.element(identifier)["metadata"].get("_version", 1))


# MERGE: the concepts --------------------------------------------------------------------------


def test_the_target_is_filled_and_remembers_the_source() -> None:
    graph = graph_of(S={"a": 1, "b": 2, "n": 3}, T={"b": None, "n": 3.0})
    graph.concepts[S]["metadata"] = {"m": 1, "_version": 7, "_merged_from": ["T:Q", "T:T"]}
    graph.concepts[T]["metadata"] = {"_version": 4, "_merged_from": ["T:Q"]}
    assert merged(graph) == (0, 0, 2)
    assert S not in graph
    assert graph.concepts[T]["attributes"] == {"a": 1, "b": None, "n": 3.0, "aliases": ["S"]}
    assert graph.concepts[T]["metadata"] == {
        "_version": 5,
        "_updated_at": "now",
        "_merged_from": ["T:Q", "T:T", "T:S"],
    }


@pytest.mark.parametrize(
    ("source", "target", "united", "filled"),
    [
        ({}, {}, ["S"], 1),
        ({}, {"aliases": ["S"]}, ["S"], 0),
        ({}, {"aliases": "S"}, ["S"], 1),
        ({}, {"aliases": None}, ["S"], 1),
        ({"aliases": None}, {"aliases": []}, ["S"], 1),
        ({"aliases": "x"}, {"aliases": ["y", "x"]}, ["y", "x", "S"], 1),
        ({"aliases": ["S", "x"]}, {}, ["S", "x"], 1),
        ({"aliases": [1, True]}, {"aliases": [1.0, 1.0]}, [1.0, 1, True, "S"], 1),
        ({"aliases": {"a": 1}}, {"aliases": [None, {"a": 1}]}, [None, {"a": 1}, "S"], 1),
        ({}, {"aliases": ["S", "S"]}, ["S"], 1),
        ({"aliases": ["T"]}, {"aliases": ["S"]}, ["S", "T"], 1),
    ],
)
def test_aliases_are_united(source: Any, target: Any, united: list[Any], filled: int) -> None:
    graph = graph_of(S=source, T=target)
    assert merged(graph)[2] == filled
    assert repr(graph.concepts[T]["attributes"]["aliases"]) == repr(united)


def test_what_does_not_merge() -> None:
    between = "MERGE CONCEPT ?a INTO ?b WHERE {{ {} }}"
    assert refusal(between.format('?a {type: "T", name: "S"} ?b {name: "none"}')) == "KIP_3002"
    assert refusal(between.format('?a {type: "T"} ?b {type: "T", name: "S"}')) == "KIP_3003"
    assert refusal(between.format('?a {id: "C:T/S"} ?b {id: "C:U/S"}')) == "KIP_2002"
    definitions = '?a {id: "C:$ConceptType/T"} ?b {id: "C:$ConceptType/U"}'
    assert refusal(between.format(definitions)) == "KIP_2002"
    assert refusal(between.format('?a (?s, "p", ?o) ?b {type: "T"}')) == "KIP_1001"
    assert refusal(between.format('(?s, ?a, ?o) ?b {type: "T"}')) == "KIP_1001"
    assert refusal(between.format('?a {type: "T"}')) == "KIP_3001"


def test_a_concept_merged_into_itself_changes_nothing() -> None:
    graph = graph_of()
    text = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {id: "C:T/S"} ?b {type: "T", name: "S"} }'
    zeros = {"links_repointed": 0, "links_deduplicated": 0, "attributes_filled": 0}
    assert run(text, graph) == {"merged": True, **zeros}
    assert version(graph, S) == 1


def test_rows_with_a_proposition_or_a_null_are_no_pairs() -> None:
    graph = graph_of({"x": (S, Z), "y": (T, "x")})
    text = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: "T"} OPTIONAL { (?a, "p", ?b) } }'
    assert refusal(text, graph) == "KIP_3002"


# MERGE: the links -----------------------------------------------------------------------------


def test_links_keep_their_ids() -> None:
    graph = graph_of({"x": (S, Z), "y": (Z, S), "z": (Z, "x")})
    assert merged(graph) == (2, 0, 1)
    assert ends(graph) == {"x": (T, Z), "y": (Z, T), "z": (Z, "x")}
    assert [version(graph, link_id(name)) for name in "xyz"] == [2, 2, 1]


def test_on_a_collision_the_target_s_link_survives_and_gains_what_it_lacks() -> None:
    graph = graph_of({"x": (S, Z), "y": (T, Z)}, x={"a": 1, "b": 2}, y={"b": None})
    graph.propositions[link_id("x")]["metadata"] = {"m": 1, "_version": 9, "_created_at": "then"}
    assert merged(graph) == (0, 1, 1)
    (link,) = graph.propositions.values()
    assert link["attributes"] == {"a": 1, "b": None}
    assert link["metadata"] == {"m": 1, "_version": 2, "_updated_at": "now"}


def test_a_survivor_that_gains_nothing_keeps_its_version() -> None:
    graph = graph_of({"x": (S, Z), "y": (T, Z)}, x={"a": 1}, y={"a": 2})
    merged(graph)
    assert version(graph, link_id("y")) == 1


def test_a_link_from_the_source_to_the_target_is_deleted_with_everything_about_it() -> None:
    graph = graph_of({"x": (S, T), "y": (Z, "x"), "z": ("y", Z), "u": (Z, S), "v": ("u", "x")})
    assert merged(graph) == (1, 4, 1)
    assert ends(graph) == {"u": (Z, T)}


def test_links_about_links_that_become_one_become_one() -> None:
    links = {
        "x": (S, Z),
        "y": (T, Z),
        "ax": (Z, "x"),
        "ay": (Z, "y"),
        "bx": ("ax", T),
        "by": ("ay", S),
        "only": ("bx", Z),
    }
    graph = graph_of(links, ax={"a": 1}, bx={"b": 2})
    # x meets y; then ax meets ay; then bx, which says (ay, T), meets by, which was repointed.
    assert merged(graph) == (2, 3, 1)
    assert ends(graph) == {"y": (T, Z), "ay": (Z, "y"), "by": ("ay", T), "only": ("by", Z)}
    assert graph.propositions[link_id("ay")]["attributes"] == {"a": 1}
    assert graph.propositions[link_id("by")]["attributes"] == {"b": 2}
    assert [version(graph, link_id(name)) for name in ("y", "ay", "by", "only")] == [1, 2, 2, 2]


def test_a_link_between_two_links_that_become_one_is_deleted() -> None:
    graph = graph_of({"x": (S, Z), "y": (T, Z), "z": ("x", "y"), "u": (Z, "z")})
    assert merged(graph) == (0, 3, 1)
    assert ends(graph) == {"y": (T, Z)}


def test_three_links_become_one_through_two_survivors() -> None:
    # c meets d and waits; k meets m; then d meets e, which alone is left.
    links = {
        "k": (S, Z),
        "m": (T, Z),
        "c": (S, "k"),
        "d": (T, "k"),
        "e": (T, "m"),
        "z": (Z, "c"),
    }
    graph = graph_of(links, c={"a": 1}, d={"b": 2}, e={"c": 3})
    assert merged(graph) == (1, 3, 1)
    assert ends(graph) == {"m": (T, Z), "e": (T, "m"), "z": (Z, "e")}
    assert graph.propositions[link_id("e")]["attributes"] == {"a": 1, "b": 2, "c": 3}


def test_a_replacement_may_be_of_a_link_by_one_that_is_dropped_by_then() -> None:
    # c meets e and d meets f; with c gone, f meets g. Then h, which was about d, is about f like
    # i, and meets it; with f gone, i is about g.
    links = {
        "c": (Z, S),
        "e": (Z, T),
        "d": ("c", S),
        "f": ("c", T),
        "g": ("e", T),
        "h": ("d", T),
        "i": ("f", T),
    }
    graph = graph_of(links)
    assert merged(graph) == (1, 4, 1)
    assert ends(graph) == {"e": (Z, T), "g": ("e", T), "i": ("g", T)}


@pytest.mark.parametrize("self_joining", ["k", "x"])
def test_links_about_a_dropped_link_are_deleted_with_its_survivor(self_joining: str) -> None:
    # l and m say the same of a link that joins the target to itself, so z goes, too: whether the
    # two meet before (k < l < x) or the cascade takes both.
    links = {
        self_joining: (S, T),
        "l": (S, self_joining),
        "m": (T, self_joining),
        "z": (Z, "l"),
        "zz": ("z", Z),
    }
    graph = graph_of(links)
    assert merged(graph) == (0, 5, 1)
    assert ends(graph) == {}


def test_links_are_merged_in_the_order_of_their_ids() -> None:
    # a becomes (T, T) only by itself; b, then c, become (T, Z): b is there first.
    graph = graph_of({"c": (S, Z), "a": (T, S)}, c={"n": 1})
    graph.propositions[link_id("b")] = {
        "subject": S, "predicate": "q", "object": Z, "attributes": {}, "metadata": {},
    }  # fmt: skip
    assert merged(graph) == (2, 1, 1)
    assert ends(graph) == {"b": (T, Z), "c": (T, Z)}


# UPDATE ---------------------------------------------------------------------------------------


@each_case(
    "calculation, result",
    [
        ("ADD(?t.attributes.i, 1)", 4),
        ("ADD(?t.attributes.i, 1.0)", 4.0),
        ("ADD(1, 2, ?t.attributes.i)", 6),
        ("MUL(?t.attributes.f, 2)", 5.0),
        ("ADD(?t.attributes.missing, 1)", None),
        ("ADD(?t.attributes.null, 1)", None),
        ("ADD(?t.attributes.yes, 1)", None),
        ("ADD(?t.name, 1)", None),
        ("ADD(COALESCE(?t.attributes.null, ?t.attributes.i), 1)", 4),
        ("COALESCE(?t.attributes.missing, ?t.attributes.null)", None),
        ("COALESCE(?t.name, 1)", None),
        ("COALESCE(?t.attributes.yes, 1)", None),
        ("COALESCE(ADD(?t.attributes.null, 1), 7)", 7),
        ("ADD(?t.attributes.big, 1)", None),
        ("ADD(?t.attributes.big, 1, -1)", 2**63 - 1),
        ("MUL(?t.attributes.big, ?t.attributes.big, 1.0)", 8.507059173023462e37),
        ("MUL(?t.attributes.huge, 10)", None),
        ("COALESCE(MUL(?t.attributes.huge, 10), 1)", 1),
        ("CLAMP(MUL(?t.attributes.big, ?t.attributes.big), 0, 5.0)", 5.0),
        ("CLAMP(?t.attributes.i, 1.0, 3.0)", 3),
        ("CLAMP(?t.attributes.i, 4, 9)", 4),
        ("CLAMP(?t.attributes.i, 9, 4)", None),
        ("CLAMP(?t.attributes.i, ?t.attributes.null, 4)", None),
        ("ADD(?t.metadata._version, 0)", 1),
    ],
)
def test_calculations(calculation: str, result: Any) -> None:
    attributes = {
        "i": 3, "f": 2.5, "null": None, "yes": True, "big": 2**63 - 1, "huge": 1e308,
    }  # fmt: skip
    graph = graph_of(T=attributes)
    graph.concepts[T]["metadata"]["_version"] = 1
    text = f'UPDATE ?t SET ATTRIBUTES {{ r: {calculation} }} WHERE {{ ?t {{id: "C:T/T"}} }}'
    assert run(text, graph) == {"updated": int(result is not None), "matched": 1}
    written = {} if result is None else {"r": result}
    assert repr(graph.concepts[T]["attributes"]) == repr(attributes | written)


def test_an_integer_too_large_for_a_double_is_no_number() -> None:
    graph = graph_of(T={"big": 2**63 - 1})
    power = ", ".join(["?t.attributes.big"] * 17)
    text = f'UPDATE ?t SET ATTRIBUTES {{ r: %s }} WHERE {{ ?t {{id: "{T}"}} }}'
    assert run(text % f"ADD(MUL({power}), 1.0)", graph)["updated"] == 0
    assert run(text % f"MUL(MUL({power}), 0)", graph)["updated"] == 1
    assert graph.concepts[T]["attributes"]["r"] == 0


def test_values_are_calculated_from_the_state_before() -> None:
    graph = graph_of(T={"a": 1, "b": 2})
    text = (
        "UPDATE ?t SET METADATA { m: ADD(?t.attributes.a, 0) } SET ATTRIBUTES "
        "{ a: COALESCE(?t.attributes.b, 0), b: COALESCE(?t.attributes.a, 0), n: null } "
        'WHERE { ?t {id: "C:T/T"} }'
    )
    run(text, graph)
    assert graph.concepts[T]["attributes"] == {"a": 2, "b": 1, "n": None}
    assert graph.concepts[T]["metadata"] == {"m": 1, "_version": 2, "_updated_at": "now"}


def test_one_and_true_and_a_double_are_three_values() -> None:
    graph = graph_of()
    text = 'UPDATE ?t SET ATTRIBUTES { a: :value } WHERE { ?t {id: "C:T/T"} }'
    updated = [run(text, graph, value=value)["updated"] for value in (1, 1, 1.0, True, True)]
    assert updated == [1, 0, 1, 1, 0]
    assert version(graph, T) == 4


def test_targets_are_distinct_elements_of_both_kinds() -> None:
    graph = graph_of({"x": (S, Z), "y": (S, T), "z": (Z, "x")})
    text = 'UPDATE ?t SET ATTRIBUTES { a: 1 } WHERE { ?l (?s, "p", ?t) }'
    assert run(text, graph) == {"updated": 3, "matched": 3}
    optional = (
        'UPDATE ?t SET ATTRIBUTES { a: 1 } WHERE { ?s {name: "T"} OPTIONAL { ?t (?s, ?p, ?o) } }'
    )
    assert run(optional, graph) == {"updated": 0, "matched": 0}


def test_matched_counts_after_limit() -> None:
    graph = graph_of(S={"a": 1})
    text = 'UPDATE ?t SET ATTRIBUTES { a: 1 } WHERE { ?t {type: "T"} } LIMIT 2'
    assert run(text, graph, dry_run=True) == {"updated": 1, "matched": 2}
    statement: Any = parse(text)
    assert execute(statement, graph, chosen=[S, Z]) == {"updated": 1, "matched": 2}
    assert [version(graph, end) for end in (S, T, Z)] == [1, 1, 2]


SET = "UPDATE ?t SET ATTRIBUTES { a: 1 } WHERE"
CALCULATE = "UPDATE ?t SET ATTRIBUTES {{ a: ADD({}, 1) }} WHERE"


@each_case(
    "statement, where, code",
    [
        ("UPDATE ?t SET METADATA { _version: 1 } WHERE", '?t {type: "T"}', "KIP_2002"),
        ('UPDATE ?t SET ATTRIBUTES { "a b": 1 } WHERE', '?t {type: "T"}', "KIP_1002"),
        (CALCULATE.format(":word"), '?t {type: "T"}', "KIP_1001"),
        (CALCULATE.format("?t.attributes"), '?t {type: "T"}', "KIP_1001"),
        (CALCULATE.format("?t.subject"), '?t {type: "T"}', "KIP_1001"),
        (CALCULATE.format("?s.attributes.a"), '?t {type: "T"} ?s {type: "U"}', "KIP_1001"),
        (SET, "(?s, ?t, ?o)", "KIP_1001"),
        (SET, '?s {type: "T"}', "KIP_3001"),
        (SET, '?t {type: "T", name: "none"}', "KIP_3002"),
        (SET, '?t {type: "none"}', "KIP_2001"),
        ('DELETE METADATA {"_merged_from"} FROM ?t WHERE', '?t {type: "T"}', "KIP_2002"),
        ("DELETE CONCEPT ?t DETACH WHERE", '?t {id: "C:$ConceptType/T"}', "KIP_2002"),
        ("DELETE CONCEPT ?t DETACH WHERE", '?t (?s, "p", ?o)', "KIP_1001"),
        ("DELETE PROPOSITIONS ?t WHERE", '?t {type: "T"}', "KIP_1001"),
    ],
)
def test_refusals(statement: str, where: str, code: str) -> None:
    assert refusal(f"{statement} {{ {where} }}", word="a") == code


def test_a_limit_is_a_positive_integer() -> None:
    for limit in (0, 1.0, True, None):
        assert refusal(f'{SET} {{ ?t {{type: "T"}} }} LIMIT :limit', limit=limit) == "KIP_1001"


# DELETE ---------------------------------------------------------------------------------------


def test_deletion_deletes_the_links_about_it() -> None:
    links = {"x": (S, Z), "y": (T, "x"), "z": ("y", "x"), "u": (T, Z)}
    graph = graph_of(links)
    text = f'DELETE PROPOSITIONS ?l WHERE {{ ?l (id: "{link_id("x")}") }}'
    assert run(text, graph, dry_run=True) == {"deleted_propositions": 3}
    assert run(text, graph) == {"deleted_propositions": 3}
    assert ends(graph) == {"u": (T, Z)}
    graph = graph_of(links)
    text = 'DELETE CONCEPT ?c DETACH WHERE { ?c {type: "T"} FILTER(?c.name != "T") }'
    assert run(text, graph) == {"deleted_concepts": 2, "deleted_propositions": 4}


def test_a_definition_may_be_deleted_with_its_last_instance() -> None:
    graph = graph_of()
    text = 'DELETE CONCEPT ?c DETACH WHERE { ?c {type: "U"} UNION { ?c {name: "U"} } }'
    assert run(text, graph) == {"deleted_concepts": 2, "deleted_propositions": 0}
    assert not graph.is_type("U")


def test_keys_are_lost_and_counted() -> None:
    graph = graph_of({"x": (S, Z)}, S={"a": None, "b": 1}, T={"c": 1}, x={"a": 1})
    text = 'DELETE ATTRIBUTES {"a", "b"} FROM ?t WHERE { ?t {type: "T"} UNION { ?t (?s, ?p, ?o) } }'
    assert run(text, graph) == {"updated_concepts": 1, "updated_propositions": 1}
    assert run(text, graph) == {"updated_concepts": 0, "updated_propositions": 0}
    assert [version(graph, end) for end in (S, T, link_id("x"))] == [2, 1, 2]


# What a variable can be bound to --------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "kinds"),
    [
        ('?x {type: "T"}', CONCEPT),
        ('(?x, "p", ?y)', BOTH),
        ('(?x, "p", ?y) ?x {type: "T"}', CONCEPT),
        ('(?x {type: "T"}, "p", ?y)', CONCEPT),
        ('(?x (?a, "p", ?b), "p", ?y)', PROPOSITION),
        ('?y {type: "T"} OPTIONAL { ?x (?y, "p", ?z) }', PROPOSITION),
        ('(?x, "p", ?y) OPTIONAL { ?x {type: "T"} }', BOTH),
        ('(?x, "p", ?y) NOT { ?x {type: "T"} }', BOTH),
        ('?x {type: "T"} UNION { ?x (?y, "p", ?z) }', BOTH),
        ('?y {type: "T"} UNION { ?x (?y, "p", ?z) }', PROPOSITION),
        ('?y {type: "T"}', None),
    ],
)
def test_possible_kinds(where: str, kinds: frozenset[str] | None) -> None:
    find = parse(f"FIND(?y) WHERE {{ {where} }}")
    assert isinstance(find, ast.Find)
    assert possible_kinds("x", find.where) == kinds
