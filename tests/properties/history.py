"""An engine and the model of what it holds, side by side, one statement after another."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from hypothesis import currently_in_test_context, note

import kiprdf
from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse, to_text
from tests.nexus.support import RDF_TYPE, REIFIES, StoppedClock, dataset
from tests.oracle import Graph
from tests.oracle.graph import META_TYPES
from tests.oracle.statements import execute, stamp
from tests.oracle.statements_targets import canonical
from tests.oracle.statements_update import update_targets
from tests.properties.statements import Statement


class History:
    """An engine and the model of what it holds, `_version` and `_updated_at` included."""

    def __init__(self, graph: Graph) -> None:
        self.clock = StoppedClock()
        self.nexus = kiprdf.Nexus.memory(genesis=False, clock=self.clock)
        self.model = graph
        for request in graph.requests():
            if currently_in_test_context():
                note(str(request))
            response = self.nexus.execute_kip(request)
            assert "error" not in response, response
        stamp(Graph(), graph, self.now)
        self.compare_elements()

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.nexus.close()

    @property
    def now(self) -> str:
        return self.clock.moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    # Steps ------------------------------------------------------------------------------------

    def try_dry(self, statement: Statement) -> None:
        """A dry run answers what the model says, and writes nothing."""
        expected = self.expected(statement, copy.deepcopy(self.model), dry_run=True)
        before = dataset(self.nexus)
        response = self.nexus.execute_kip({**statement.request, "dry_run": True})
        limit = self.open_limit(statement)
        if limit is not None and "result" in response:
            # Which targets it would take is open: the others are left out of the whole.
            command = bound(statement)
            assert isinstance(command, ast.Update)
            whole = execute(replace(command, limit=None), copy.deepcopy(self.model), self.now)
            left_out = whole["matched"] - limit
            assert response["result"]["matched"] == limit
            most = min(limit, whole["updated"])
            assert whole["updated"] - left_out <= response["result"]["updated"] <= most
        else:
            same(response, expected)
        assert dataset(self.nexus) == before

    def run(self, statement: Statement) -> None:
        """A receipt, and every element is the model's; or an error, and no quad moves."""
        self.clock.forward(seconds=1)
        before = dataset(self.nexus)
        model_before = copy.deepcopy(self.model)
        response = self.nexus.execute_kip(statement.request)
        expected = self.limited(statement, response)
        if expected is None:
            expected = self.expected(statement, self.model)
        same(response, expected)
        if "error" in expected or alike(model_before, self.model):
            assert dataset(self.nexus) == before
        self.compare_elements()
        self.check_links()

    def try_batch(self, batch: list[Statement]) -> None:
        """A dry run of a batch, with all elements read in between, equals the batch itself."""
        everything = (
            'FIND(?x, ?x.attributes, ?x.metadata) WHERE { ?x {type: "$ConceptType"} '
            'UNION { ?x {type: "$PropositionType"} } UNION { ?x {type: "T"} } '
            "UNION { ?x (?s, ?p, ?o) } } ORDER BY ?x.id"
        )
        commands = [part for statement in batch for part in (statement.request, everything)]
        before = dataset(self.nexus)
        dry = self.nexus.execute_kip({"commands": commands, "dry_run": True})["result"]
        assert dataset(self.nexus) == before
        done = self.nexus.execute_kip({"commands": commands})["result"]
        assert [unexplained(one) for one in dry] == [unexplained(one) for one in done]

    # What is expected -------------------------------------------------------------------------

    def expected(self, statement: Statement, graph: Graph, **options: Any) -> dict[str, Any]:
        """The model's response; the model is updated unless the call says otherwise."""
        try:
            return {"result": execute(bound(statement), graph, self.now, **options)}
        except KipError as error:
            return {"error": error.code}

    def open_limit(self, statement: Statement) -> int | None:
        """The LIMIT of an UPDATE that leaves open which targets it takes."""
        try:
            command = bound(statement)
            targets = update_targets(command, self.model) if isinstance(command, ast.Update) else []
        except KipError:
            return None
        limit: int | None = getattr(getattr(command, "limit", None), "value", None)
        return None if limit is None or limit >= len(targets) else limit

    def limited(self, statement: Statement, response: dict[str, Any]) -> dict[str, Any] | None:
        """What is expected where a LIMIT leaves open which targets it takes: what the engine has
        changed is what it took, and all the others it took would not have changed."""
        limit = self.open_limit(statement)
        if limit is None or "error" in response:
            return None
        command = bound(statement)
        assert isinstance(command, ast.Update)
        targets = update_targets(command, self.model)
        whole = execute(
            ast.Update(command.target, command.where, command.attributes, command.metadata),
            copy.deepcopy(self.model),
        )
        shown = self.shown()
        changed = [i for i in targets if canonical(shown[i]) != canonical(self.model.element(i))]
        assert len(changed) <= limit
        assert limit - len(changed) <= whole["matched"] - whole["updated"]
        receipt = execute(command, self.model, self.now, chosen=changed)
        return {"result": {**receipt, "matched": limit}}

    # Comparing --------------------------------------------------------------------------------

    def shown(self) -> dict[str, dict[str, Any]]:
        """Every element of the engine, in the form of the model."""
        types = [c["name"] for c in self.model.concepts.values() if c["type"] == META_TYPES[0]]
        where = f'?x {{type: "{META_TYPES[0]}"}}' + "".join(
            f' UNION {{ ?x {{type: "{name}"}} }}' for name in (META_TYPES[1], *types)
        )
        elements = self.nexus.execute(f"FIND(?x) WHERE {{ {where} UNION {{ ?x (?s, ?p, ?o) }} }}")
        assert len({item["id"] for item in elements}) == len(elements)
        for item in elements:
            del item["_type"]
        return {item.pop("id"): {"attributes": {}, "metadata": {}, **item} for item in elements}

    def compare_elements(self) -> None:
        shown = self.shown()
        expected = {
            identifier: self.model.element(identifier) for identifier in self.model.elements()
        }
        for identifier in {*shown, *expected}:
            assert canonical(shown.get(identifier)) == canonical(expected.get(identifier)), (
                identifier
            )

    def check_links(self) -> None:
        """One reifier for each fact and one fact for each reifier; no end dangles."""
        triples = [quad[1:] for quad in dataset(self.nexus) if quad[0] == "None"]
        stated = [triple for triple in triples if "$PropositionType/" in triple[1]]
        reified = sorted(o for _, p, o in triples if p == REIFIES)
        assert reified == sorted(f"<<( {s} {p} {o} )>>" for s, p, o in stated)
        assert len(set(reified)) == len(reified)
        elements = {s for s, p, _ in triples if p in (RDF_TYPE, REIFIES)}
        assert {s for s, _, _ in triples} | {o for _, _, o in stated} <= elements


def bound(statement: Statement) -> Any:
    command = parse(statement.text)
    assert parse(to_text(command)) == command
    return bind(command, statement.parameters)


def unexplained(response: dict[str, Any]) -> dict[str, Any]:
    """A response without warnings: to find the reason of an empty answer has 50 ms, so a busy
    machine leaves some out. tests/properties/test_empty_answers.py compares them with the model."""
    return {key: value for key, value in response.items() if key != "warnings"}


def same(response: dict[str, Any], expected: dict[str, Any]) -> None:
    response = unexplained(response)
    if "error" in response:
        response = {"error": response["error"]["code"]}
    assert canonical(response) == canonical(expected)


def alike(left: Graph, right: Graph) -> bool:
    return canonical([left.concepts, left.propositions]) == canonical(
        [right.concepts, right.propositions]
    )
