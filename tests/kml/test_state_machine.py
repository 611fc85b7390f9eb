"""Random statements against a dictionary: the dataset stays a nexus, receipts are the model's.

``KIPRDF_EXAMPLES`` sets how many histories are tried.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.long_runs import amount
from tests.nexus.support import RDF_TYPE, REIFIES, dataset, empty
from tests.properties.history import unexplained

EXAMPLES = amount("EXAMPLES", 10)
NAMES = ("A", "B", "c d", "é/", "~")
PREDICATES = ("likes", "about")
LINKS: dict[str, list[Any]] = {
    "B": [("likes", "A", {})],
    "c d": [("about", ("B", "likes", "A"), {"l": 1}), ("likes", "B", {})],
    "é/": [("about", ("c d", "about", ("B", "likes", "A")), {})],
}
KEYS = ("k", "l")
BASE = "urn:kip:nexus/"

names = st.sampled_from(NAMES)
predicates = st.sampled_from(PREDICATES)
values = st.sampled_from([None, True, 0, 1, 1.0, "x", '\u2028"\\', [1], {"b": 1, "a": [None]}])
maps = st.dictionaries(st.sampled_from(KEYS), values, max_size=2)
# An endpoint is a name, or a fact of endpoints.
endpoints = st.recursive(names, lambda end: st.tuples(end, predicates, end), max_leaves=3)
concepts = st.fixed_dictionaries(
    {
        "kind": st.just("concept"),
        "name": names,
        "attributes": maps,
        "metadata": maps,
        "links": st.lists(st.tuples(predicates, endpoints, maps), max_size=2),
    }
)
propositions = st.fixed_dictionaries(
    {
        "kind": st.just("proposition"),
        "fact": st.tuples(endpoints, predicates, endpoints),
        "attributes": maps,
        "metadata": maps,
    }
)
blocks = st.lists(concepts | propositions, min_size=1, max_size=4)
MISTAKES = {
    'CONCEPT { {type: "Unknown", name: "A"} }': "KIP_2001",
    'PROPOSITION { (?nobody, "likes", {type: "Thing", name: "A"}) }': "KIP_3001",
    'CONCEPT { {type: "Thing", name: "A"} } WITH METADATA { _version: 9 }': "KIP_2002",
    'CONCEPT { {type: "Thing", name: ".."} }': "KIP_1002",
}


class Refused(Exception):
    """What the model would not do."""


class Model:
    """Elements by id: their ends, attributes, metadata and version."""

    def __init__(self) -> None:
        self.elements: dict[str, dict[str, Any]] = {}

    def touch(self, identifier: str, attributes: Any, metadata: Any, **ends: str) -> str:
        new = {"attributes": {}, "metadata": {}, **ends}
        element = self.elements.setdefault(identifier, new)
        element["attributes"].update(attributes)
        element["metadata"].update(metadata)
        return identifier

    def find(self, endpoint: Any) -> str:
        """The id of an endpoint that exists."""
        if isinstance(endpoint, str):
            identifier = f"C:Thing/{endpoint}"
        else:
            subject, predicate, object_ = endpoint
            identifier = link_id(self.find(subject), predicate, self.find(object_))
        if identifier not in self.elements:
            raise Refused("KIP_3002")
        return identifier

    def link(self, subject: str, predicate: str, object_: str, attributes: Any, data: Any) -> str:
        identifier = link_id(subject, predicate, object_)
        ends = {"subject": subject, "predicate": predicate, "object": object_}
        return self.touch(identifier, attributes, data, **ends)

    def upsert(self, items: list[Any], outer: Any) -> dict[str, Any]:
        nodes, links = [], []
        for item in items:
            metadata = {**outer, **item["metadata"]}
            if item["kind"] == "concept":
                node = f"C:Thing/{item['name']}"
                nodes.append(self.touch(node, item["attributes"], metadata))
                for predicate, target, own in item["links"]:
                    self.link(node, predicate, self.find(target), {}, {**metadata, **own})
            else:
                subject, predicate, object_ = item["fact"]
                ends = self.find(subject), predicate, self.find(object_)
                links.append(self.link(*ends, item["attributes"], metadata))
        return {"blocks": 1, "upsert_concept_nodes": nodes, "upsert_proposition_links": links}

    def delete(self, identifiers: list[str]) -> tuple[int, int]:
        """Delete elements and what hangs on them; how many concepts, how many links."""
        gone = [0, 0]
        while identifiers:
            identifier = identifiers.pop()
            if self.elements.pop(identifier, None) is not None:
                gone[identifier.startswith("P:")] += 1
                identifiers += [
                    key
                    for key, element in self.elements.items()
                    if identifier in (element.get("subject"), element.get("object"))
                ]
        return gone[0], gone[1]


def link_id(subject: str, predicate: str, object_: str) -> str:
    text = json.dumps([subject, predicate, object_], ensure_ascii=False, separators=(",", ":"))
    return f"P:{hashlib.sha256(text.encode()).hexdigest()[:16]}:{predicate}"


def concept(name: str) -> str:
    return f'{{type: "Thing", name: {json.dumps(name)}}}'


def endpoint_text(endpoint: Any) -> str:
    return concept(endpoint) if isinstance(endpoint, str) else fact_text(endpoint)


def fact_text(fact: Any) -> str:
    subject, predicate, object_ = fact
    return f'({endpoint_text(subject)}, "{predicate}", {endpoint_text(object_)})'


def id_text(identifier: str) -> str:
    brackets = "{}" if identifier.startswith("C:") else "()"
    return f"{brackets[0]}id: {json.dumps(identifier)}{brackets[1]}"


def set_attributes(attributes: Any) -> str:
    return f"SET ATTRIBUTES {json.dumps(attributes)}" if attributes else ""


def with_metadata(metadata: Any) -> str:
    return f"WITH METADATA {json.dumps(metadata)}" if metadata else ""


def block_text(item: Any) -> str:
    if item["kind"] == "concept":
        links = " ".join(
            f'("{predicate}", {endpoint_text(target)}) {with_metadata(own)}'
            for predicate, target, own in item["links"]
        )
        body = f"{concept(item['name'])} {set_attributes(item['attributes'])} " + (
            f"SET PROPOSITIONS {{ {links} }}" if links else ""
        )
        return f"CONCEPT {{ {body} }} {with_metadata(item['metadata'])}"
    body = f"{fact_text(item['fact'])} {set_attributes(item['attributes'])}"
    return f"PROPOSITION {{ {body} }} {with_metadata(item['metadata'])}"


def same(left: Any, right: Any) -> bool:
    """Equal as RDF terms: 1, 1.0 and true are three values."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.nexus = empty()
        definitions = "".join(
            f'CONCEPT {{ {{type: "$PropositionType", name: "{name}"}} }}' for name in PREDICATES
        )
        self.nexus.execute(
            f'UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Thing"}} }} {definitions} }}'
        )
        self.model = Model()
        self.versions: dict[str, int] = {}

    def run(self, command: str, expected: Any, after: Model) -> None:
        """A receipt (and the model moves on) or an error code (and no quad moves)."""
        before = dataset(self.nexus)
        response = self.nexus.execute_kip({"command": command})
        if isinstance(expected, str):
            assert response["error"]["code"] == expected, (command, response)
            assert dataset(self.nexus) == before
            return
        assert unexplained(response) == {"result": expected}, (command, response)
        for identifier, element in after.elements.items():
            old = self.model.elements.get(identifier)
            if old is None or not same(old, element):
                self.versions[identifier] = 1 if old is None else self.versions[identifier] + 1
        if same(self.model.elements, after.elements):
            assert dataset(self.nexus) == before
        self.model = after

    @rule(items=blocks, outer=maps, mistake=st.none() | st.none() | st.sampled_from([*MISTAKES]))
    def upsert(self, items: list[Any], outer: Any, mistake: str | None) -> None:
        after = copy.deepcopy(self.model)
        try:
            expected: Any = after.upsert(items, outer)
        except Refused as refused:
            expected = str(refused)
        body = " ".join(map(block_text, items))
        if mistake is not None:
            body, expected = f"{body} {mistake}", MISTAKES[mistake]
        self.run(f"UPSERT {{ {body} }} {with_metadata(outer)}", expected, after)

    @initialize()
    def create_every_name(self) -> None:
        """And some links, so that few statements are refused, and deletions reach far."""
        blocks = [
            {
                "kind": "concept",
                "name": name,
                "attributes": {"k": 0},
                "metadata": {},
                "links": LINKS.get(name, []),
            }
            for name in NAMES
        ]
        self.upsert(blocks, {}, None)

    @rule()
    def create_every_name_again(self) -> None:
        self.create_every_name()

    @rule(data=st.data(), predicate=predicates, attributes=maps, metadata=maps)
    def link_what_exists(self, data: Any, predicate: str, attributes: Any, metadata: Any) -> None:
        """By id, so that links about links about links come about."""
        ends = st.sampled_from([*self.model.elements, "C:Thing/none"])
        subject, object_ = data.draw(ends), data.draw(ends)
        after = copy.deepcopy(self.model)
        try:
            if {subject, object_} - set(after.elements):
                raise Refused("KIP_3002")
            identifier = after.link(subject, predicate, object_, attributes, metadata)
            expected: Any = {
                "blocks": 1,
                "upsert_concept_nodes": [],
                "upsert_proposition_links": [identifier],
            }
        except Refused as refused:
            expected = str(refused)
        body = f'({id_text(subject)}, "{predicate}", {id_text(object_)})'
        self.run(
            f"UPSERT {{ PROPOSITION {{ {body} {set_attributes(attributes)} }} "
            f"{with_metadata(metadata)} }}",
            expected,
            after,
        )

    @rule(name=names)
    def delete_concept(self, name: str) -> None:
        after = copy.deepcopy(self.model)
        identifier = f"C:Thing/{name}"
        if identifier in after.elements:
            nodes, links = after.delete([identifier])
            expected: Any = {"deleted_concepts": nodes, "deleted_propositions": links}
        else:
            expected = "KIP_3002"
        self.run(f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {concept(name)} }}", expected, after)

    @rule(predicate=predicates, name=names)
    def delete_propositions(self, predicate: str, name: str) -> None:
        after = copy.deepcopy(self.model)
        targets = [
            key
            for key, element in after.elements.items()
            if element.get("predicate") == predicate and element["subject"] == f"C:Thing/{name}"
        ]
        expected = {"deleted_propositions": after.delete(targets)[1]}
        where = f'?l (?s, "{predicate}", ?o) FILTER(?s.name == {json.dumps(name)})'
        self.run(f"DELETE PROPOSITIONS ?l WHERE {{ {where} }}", expected, after)

    @rule(key=st.sampled_from(KEYS), part=st.sampled_from(["attributes", "metadata"]))
    def delete_keys(self, key: str, part: str) -> None:
        after = copy.deepcopy(self.model)
        lost = [0, 0]
        for identifier, element in after.elements.items():
            if key in element[part]:
                del element[part][key]
                lost[identifier.startswith("P:")] += 1
        expected = {"updated_concepts": lost[0], "updated_propositions": lost[1]}
        where = '?x {type: "Thing"} UNION { ?x (?s, "likes" | "about", ?o) }'
        command = f'DELETE {part.upper()} {{"{key}"}} FROM ?x WHERE {{ {where} }}'
        self.run(command, expected, after)

    @invariant()
    def the_elements_are_those_of_the_model(self) -> None:
        elements = self.nexus.execute('FIND(?x) WHERE { ?x {type: "Thing"} }')
        elements += self.nexus.execute("FIND(?x) WHERE { ?x (?s, ?p, ?o) }")
        stored = {}
        for item in elements:
            metadata = {k: v for k, v in item["metadata"].items() if not k.startswith("_")}
            ends = {k: item[k] for k in ("subject", "predicate", "object") if k in item}
            stored[item["id"]] = {
                "attributes": item.get("attributes", {}), "metadata": metadata, **ends
            }  # fmt: skip
            assert item["metadata"]["_version"] == self.versions[item["id"]], item
        assert same(stored, self.model.elements)

    @invariant()
    def every_fact_has_one_reifier_and_every_reifier_a_fact(self) -> None:
        triples = [quad[1:] for quad in dataset(self.nexus) if quad[0] == "None"]
        stated = sorted(f"<<( {s} {p} {o} )>>" for s, p, o in triples if "$PropositionType/" in p)
        reified = sorted(o for _, p, o in triples if p == REIFIES)
        assert stated == reified
        assert len(set(stated)) == len(stated)

    @invariant()
    def no_end_dangles(self) -> None:
        triples = [quad[1:] for quad in dataset(self.nexus) if quad[0] == "None"]
        elements = {s for s, p, _ in triples if p in (RDF_TYPE, REIFIES)}
        ends = {end for s, p, o in triples if "$PropositionType/" in p for end in (s, o)}
        assert ends <= elements
        assert {s for s, _, _ in triples} <= elements

    def teardown(self) -> None:
        self.nexus.close()


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=15,
)
