"""Random histories of every kind of statement, failing ones among them, against two dictionaries.

After each step the elements are the model's, versions and receipts included, and ``check`` finds
no fault; a refused statement moves no quad. ``KIPRDF_STEPS`` sets about how many steps are made,
``KIPRDF_SEED`` which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from kiprdf.language import parse
from tests.cases import each_case
from tests.long_runs import SEED, amount
from tests.nexus.support import dataset
from tests.oracle import Graph, TooManySolutions
from tests.properties.history import History
from tests.properties.statement_graphs import mirrored_graphs
from tests.properties.statements import Statement, calculations, statements
from tests.properties.upserts import upserts

STEPS = amount("STEPS", 60)
STEPS_A_HISTORY = 20

BREAKS: tuple[Callable[[str], str], ...] = (
    lambda text: text + " }",
    lambda text: text + " FIND(?x)",
    lambda text: text.replace("{", "[", 1),
    lambda text: text.replace(" ", " % ", 1),
    lambda text: "X" + text,
)
DOMAIN = '?x {type: "$ConceptType", name: "Domain"}'
CORE = '?x {type: "Domain", name: "CoreSchema"}'
SELF = '?x {type: "Person", name: "$self"}'
PROTECTED = (
    f'UPDATE ?x SET ATTRIBUTES {{ a: "protected" }} WHERE {{ {DOMAIN} }}',
    f"DELETE CONCEPT ?x DETACH WHERE {{ {CORE} }}",
    f"DELETE CONCEPT ?x DETACH WHERE {{ {SELF} }}",
    f'DELETE ATTRIBUTES {{"core_directives"}} FROM ?x WHERE {{ {SELF} }}',
    f"DELETE PROPOSITIONS ?l WHERE {{ ?l ({DOMAIN}, ?p, ?o) }}",
    f'MERGE CONCEPT ?x INTO ?y WHERE {{ {SELF} ?y {{type: "Person", name: "Ann"}} }}',
    f'MERGE CONCEPT ?y INTO ?x WHERE {{ {SELF} ?y {{type: "Person", name: "Ann"}} }}',
    'UPSERT { CONCEPT { {type: "T", name: "new"} } '
    'CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { a: "protected" } } }',
    'UPSERT { CONCEPT { {id: "C:Person/$self"} SET ATTRIBUTES { core_directives: [] } } }',
)
ALLOWED = (
    'UPSERT { CONCEPT { {type: "Person", name: "$self"} SET ATTRIBUTES { a: 1 } } }',
    f"UPDATE ?x SET ATTRIBUTES {{ b: ADD(?x.metadata._version, 1) }} WHERE {{ {SELF} }}",
    'UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} } }',
)


def with_what_is_protected(graph: Graph) -> None:
    graph.define(types=("Domain", "Person"), predicates=("belongs_to_domain",))
    core = graph.concept("Domain", "CoreSchema")
    graph.proposition("C:$ConceptType/Domain", "belongs_to_domain", core)
    graph.concept("Person", "$self", {"core_directives": ["learn"]})
    graph.concept("Person", "Ann")


@seed(SEED)
class Statements(RuleBasedStateMachine):
    done = 0
    """Steps of all histories, for whoever counts."""

    @initialize(graph=mirrored_graphs(), protecting=st.sampled_from((False, False, True)))
    def begin(self, graph: Graph, protecting: bool) -> None:
        if protecting:
            with_what_is_protected(graph)
        self.protecting = protecting
        self.history = History(graph)

    def step(self, statement: Statement, *, dry: bool = False) -> None:
        if self.protecting and "LIMIT" in statement.text:
            # Which targets a LIMIT takes is open, and some of them may be protected.
            return
        try:
            self.history.try_dry(statement)
            if not dry:
                self.history.run(statement)
        except TooManySolutions:
            return
        Statements.done += 1

    @rule(data=st.data())
    def upsert(self, data: Any) -> None:
        self.step(data.draw(upserts(self.history.model)))

    @rule(data=st.data())
    def change(self, data: Any) -> None:
        """UPDATE, MERGE or one of the four DELETEs."""
        if any(c["type"] == "T" for c in self.history.model.concepts.values()):
            self.step(data.draw(statements(self.history.model)))

    @rule(data=st.data())
    def calculate(self, data: Any) -> None:
        if self.history.model.is_type("T"):
            self.step(data.draw(calculations(self.history.model)))

    @rule(data=st.data())
    def repeat_an_upsert(self, data: Any) -> None:
        """What is said twice is said once; a version that was expected is no longer there."""
        statement = data.draw(upserts(self.history.model))
        self.step(statement)
        self.step(statement)

    @rule(data=st.data(), broken=st.sampled_from(BREAKS))
    def break_the_syntax(self, data: Any, broken: Callable[[str], str]) -> None:
        statement = data.draw(upserts(self.history.model))
        parse(statement.text)
        before = dataset(self.history.nexus)
        response = self.history.nexus.execute_kip({"command": broken(statement.text)})
        assert response["error"]["code"] == "KIP_1001", response
        assert dataset(self.history.nexus) == before
        Statements.done += 1

    @rule(text=st.sampled_from(PROTECTED + ALLOWED))
    def touch_what_is_protected(self, text: str) -> None:
        if self.protecting:
            self.step(Statement(text))

    @invariant()
    def nothing_is_wrong_with_the_nexus(self) -> None:
        if hasattr(self, "history"):
            report = self.history.nexus.check()
            assert (report["faults"], report["index"]) == ([], "sound")

    def teardown(self) -> None:
        if hasattr(self, "history"):
            self.history.nexus.close()


def test_histories_match_the_model(
    record_property: Callable[[str, object], None],
) -> None:
    Statements.done = 0
    run_state_machine_as_test(
        Statements,
        settings=settings(
            max_examples=max(1, STEPS // STEPS_A_HISTORY),
            stateful_step_count=STEPS_A_HISTORY,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    record_property("count", f"{Statements.done} statements")


@each_case("text", PROTECTED)
def test_protected_elements_are_kept(text: str) -> None:
    graph = Graph()
    graph.define(types=("T",))
    with_what_is_protected(graph)
    with History(graph) as history:
        assert history.expected(Statement(text), graph) == {"error": "KIP_3004"}
        history.run(Statement(text))
