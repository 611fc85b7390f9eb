"""What follows from the definitions, asked for by every call of the library, and by default."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import rdflib
from pyoxigraph import Literal, Quad

import kiprdf
from kiprdf.copying import copy_element

SCHEMA = """
UPSERT {
  CONCEPT ?place { {type: "$ConceptType", name: "Place"} }
  CONCEPT ?city { {type: "$ConceptType", name: "City"} }
  CONCEPT { {type: "$PropositionType", name: "near"} SET ATTRIBUTES {is_symmetric: true} }
  CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
  CONCEPT { {type: "$PropositionType", name: "same_as"} }
  PROPOSITION { (?city, "subclass_of", ?place) }
}
"""
FACTS = """
UPSERT {
  CONCEPT { {type: "Place", name: "Alps"} }
  CONCEPT ?turin { {type: "City", name: "Turin"} }
  CONCEPT ?torino { {type: "City", name: "Torino"} }
  PROPOSITION { (?turin, "same_as", ?torino) }
}
"""
PLACES = 'FIND(?p.name) WHERE { ?p {type: "Place"} } ORDER BY ?p.name'
FORGET_ZURICH = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "City"} FILTER(?p.name == "Zurich") }'
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATED, FOLLOWS, MERGED = ["Alps"], ["Alps", "Torino", "Turin"], ["Alps", "Torino"]
ANSWERS: dict[Any, list[str]] = {False: STATED, True: FOLLOWS, "same_as": MERGED}
VALUES = [None, False, True, "same_as"]


def filled(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def requested(nexus: kiprdf.Nexus, **request: Any) -> Any:
    """The result of a request, without a field that is None."""
    return nexus.execute_kip({key: value for key, value in request.items() if value is not None})[
        "result"
    ]


def item(entail: Any) -> dict[str, Any]:
    return {"command": PLACES} if entail is None else {"command": PLACES, "entail": entail}


def in_past(nexus: kiprdf.Nexus, entail: Any) -> Any:
    commit = nexus.info()["commit"]
    nexus.execute('UPSERT { CONCEPT { {type: "City", name: "Zurich"} } }')
    with nexus.at(commit) as past:
        return past.execute(PLACES, entail=entail)


def in_requested_past(nexus: kiprdf.Nexus, entail: Any) -> Any:
    commit = nexus.info()["commit"]
    nexus.execute('UPSERT { CONCEPT { {type: "City", name: "Zurich"} } }')
    return requested(nexus, command=PLACES, entail=entail, as_of={"seq": commit})


def page_after_page(nexus: kiprdf.Nexus, entail: Any) -> list[str]:
    names, cursor = [], ""
    while True:
        rows = nexus.find(f"{PLACES} LIMIT 1 {cursor}", entail=entail)
        names += rows.column("?p.name")
        if rows.next_cursor is None:
            return names
        cursor = f'CURSOR "{rows.next_cursor}"'


def twice(nexus: kiprdf.Nexus, entail: Any) -> Any:
    """The answer by a plan that is kept, after one with every other value."""
    for value in (*VALUES, *VALUES):
        nexus.execute(PLACES, entail=value)
    return nexus.execute(PLACES, entail=entail)


CALLS: dict[str, Callable[[kiprdf.Nexus, Any], Any]] = {
    "find": lambda n, e: n.find(PLACES, entail=e).column("?p.name"),
    "find with a parameter": lambda n, e: n.find(
        "FIND(?p.name) WHERE { ?p {type: :type} } ORDER BY ?p.name", entail=e, type="Place"
    ).column("?p.name"),
    "execute": lambda n, e: n.execute(PLACES, entail=e),
    "execute, only reading": lambda n, e: n.execute(PLACES, readonly=True, entail=e),
    "execute, a dry run": lambda n, e: n.execute(PLACES, dry_run=True, entail=e),
    "kept plans": twice,
    "pages": page_after_page,
    "answer": lambda n, e: n.answer(PLACES, entail=e).result,
    "why": lambda n, e: n.why(PLACES, entail=e).result,
    "why of a row": lambda n, e: n.why(PLACES, row=0, entail=e).result,
    "believed": lambda n, e: n.believed(PLACES, entail=e).column("?p.name"),
    "a marked text": lambda n, e: n.execute(kiprdf.believed(PLACES), entail=e),
    "a transaction": lambda n, e: n.transaction(
        lambda tx: tx.find(PLACES, entail=e).column("?p.name")
    ),
    "a dry transaction": lambda n, e: n.transaction(
        lambda tx: tx.find(PLACES, entail=e).column("?p.name"), dry_run=True
    ),
    "request": lambda n, e: requested(n, command=PLACES, entail=e),
    "request, only reading": lambda n, e: n.execute_kip_readonly(item(e))["result"],
    "request with why": lambda n, e: requested(n, command=PLACES, entail=e, why=True),
    "request with view": lambda n, e: requested(n, command=PLACES, entail=e, view="believed"),
    "batch": lambda n, e: requested(n, commands=[PLACES], entail=e)[0]["result"],
    "a command of a batch": lambda n, e: requested(n, commands=[item(e)])[0]["result"],
    "as of a commit": in_requested_past,
    "at": in_past,
    "async find": lambda n, e: asyncio.run(kiprdf.AsyncNexus(n).find(PLACES, entail=e)).column(
        "?p.name"
    ),
    "async execute": lambda n, e: asyncio.run(kiprdf.AsyncNexus(n).execute(PLACES, entail=e)),
    "async why": lambda n, e: asyncio.run(kiprdf.AsyncNexus(n).why(PLACES, entail=e)).result,
    "diagnose": lambda n, e: ["Alps", "Torino", "Turin"][
        : n.diagnose(PLACES, entail=e).steps[-1].solutions
    ],
}


@pytest.mark.parametrize("default", [False, "same_as"])
def test_every_call_asks_as_its_argument_says_and_else_as_the_default_does(default: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory(history=True, entail=default))
    wrong = []
    for name, call in CALLS.items():
        for value in VALUES:
            expected = ANSWERS[default if value is None else value]
            if name == "diagnose":
                expected = FOLLOWS[: len(expected)]
            given = call(nexus, value)
            nexus.execute(FORGET_ZURICH)
            if given != expected:
                wrong.append((name, value, given))
    assert wrong == []


@pytest.mark.parametrize("door", ["execute_kip", "execute_kip_readonly"])
def test_a_command_of_a_batch_may_ask_for_something_else(door: str) -> None:
    nexus = filled(kiprdf.Nexus.memory())
    commands = [PLACES, {"command": PLACES, "entail": False}, {"command": PLACES, "entail": True}]
    answers = getattr(nexus, door)({"commands": commands, "entail": "same_as"})["result"]
    assert [answer["result"] for answer in answers] == [MERGED, STATED, FOLLOWS]


# Other commands -----------------------------------------------------------------------------------

WHERE = 'WHERE { ?p {type: "Place"} }'
OTHERS = [
    f"UPDATE ?p SET ATTRIBUTES {{ seen: true }} {WHERE}",
    f"DELETE CONCEPT ?p DETACH {WHERE}",
    'UPSERT { CONCEPT { {type: "Place", name: "Po"} } }',
    f'MERGE CONCEPT ?p INTO ?q {WHERE[:-2]} ?q {{type: "City", name: "Turin"}} }}',
    "DESCRIBE PRIMER",
    'DESCRIBE CONCEPT TYPE "Place"',
    'SEARCH CONCEPT "Turin"',
    f"EXPORT ?p {WHERE}",
]


@pytest.mark.parametrize("entail", [True, "same_as"])
def test_only_a_find_is_asked_for_what_follows(entail: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory())
    for command in OTHERS:
        refuses(nexus, command, entail)


def refuses(nexus: kiprdf.Nexus, command: str, entail: Any) -> None:
    before = nexus.snapshot()
    asked: list[Callable[[], Any]] = [
        lambda: nexus.execute(command, entail=entail),
        lambda: nexus.execute(command, dry_run=True, entail=entail),
        lambda: nexus.answer(command, entail=entail),
    ]
    for call in asked:
        for _ in range(3):  # the text, and its shape, are known after the first time
            with pytest.raises(kiprdf.KipError) as raised:
                call()
            assert raised.value.code == "KIP_1001"
            assert raised.value.message == "Only a FIND can be asked for what follows."
            assert raised.value.hint == "Leave entail out."
    error = nexus.execute_kip({"command": command, "entail": entail})["error"]
    assert error["message"] == "1:1 Only a FIND can be asked for what follows."
    assert nexus.snapshot() == before


def test_what_selects_or_writes_has_no_such_option_and_ignores_none() -> None:
    nexus = filled(kiprdf.Nexus.memory())
    find = f"FIND(?p) {WHERE}"
    calls: list[Callable[[], Any]] = [
        lambda: nexus.forget(find, dry_run=True, entail=True),
        lambda: nexus.forget(["C:Place/Alps"], dry_run=True, entail=True),
        lambda: nexus.export(f"EXPORT ?p {WHERE}", entail=True),
        lambda: nexus.transaction(lambda tx: tx.execute(OTHERS[1], entail=True)),
    ]
    for call in calls:
        with pytest.raises(kiprdf.KipError, match="Only a FIND can be asked for what follows"):
            call()
    named = "FIND(?p) WHERE { ?p {name: :entail} }"
    assert nexus.forget(named, dry_run=True, entail="Turin")["elements"] == ["C:City/Turin"]
    nexus.transaction(
        lambda tx: tx.execute(
            "DELETE CONCEPT ?p DETACH WHERE { ?p {name: :entail} }", entail="Turin"
        )
    )
    assert nexus.execute('FIND(?p.name) WHERE { ?p {type: "City"} }') == ["Torino"]


@pytest.mark.parametrize("command", OTHERS)
def test_a_default_changes_no_other_command(command: str) -> None:
    answers, snapshots = [], []
    for entail in (False, True, "same_as"):
        nexus = filled(kiprdf.Nexus.memory(entail=entail, clock=lambda: NOON))
        dry = nexus.execute_kip({"command": command, "dry_run": True, "entail": False})
        answers.append((dry, nexus.execute_kip({"command": command})))
        snapshots.append(nexus.snapshot())
    assert answers == answers[:1] * 3
    assert snapshots == snapshots[:1] * 3


@pytest.mark.parametrize("default", [True, "same_as"])
def test_a_write_matches_only_what_is_stated(default: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory(entail=default))
    assert nexus.execute(PLACES) == ANSWERS[default]
    for _ in range(3):
        assert nexus.execute(OTHERS[0])["matched"] == 1
    seen = "FIND(?p.name) WHERE { ?p {} FILTER(?p.attributes.seen == true) }"
    assert nexus.execute(seen) == ["Alps"]

    def mark(tx: Any) -> None:
        tx.execute(f"UPDATE ?p SET ATTRIBUTES {{ seen: false }} {WHERE}")

    nexus.transaction(mark)
    assert nexus.execute(seen) == []
    assert "City" not in nexus.execute(f"EXPORT ?p {WHERE}")["capsule"].split("Alps")[0]
    assert nexus.forget(f"FIND(?p) {WHERE}", dry_run=True)["elements"] == ["C:Place/Alps"]
    nexus.execute(OTHERS[1])
    rest = nexus.execute('FIND(?p.name) WHERE { ?p {type: "City"} } ORDER BY ?p.name', entail=False)
    assert rest == ["Torino", "Turin"]


@pytest.mark.parametrize("default", [True, "same_as"])
def test_what_the_library_itself_asks_is_what_is_stated(default: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory(entail=default))
    link = nexus.execute(
        """UPSERT {
          CONCEPT ?turin { {type: "City", name: "Turin"} }
          PROPOSITION ?l { (?turin, "near", {type: "Place", name: "Alps"}) }
        }"""
    )["upsert_proposition_links"][0]
    assert nexus.id_of("(City:Turin, near, Place:Alps)") == link
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.id_of("(Place:Alps, near, City:Turin)")
    assert nexus.id_of("Turin") == "C:City/Turin"
    other = kiprdf.Nexus.memory()
    copy_element("City:Turin", nexus, other, "here")
    assert other.id_of("Turin") == "C:City/Turin"


# Placeholders -------------------------------------------------------------------------------------

NAMED = 'FIND(?p.name) WHERE { ?p {type: "City", name: :entail} }'


def test_a_placeholder_that_is_called_like_the_option_is_given_its_own_way() -> None:
    nexus = filled(kiprdf.Nexus.memory())
    for _ in range(3):
        assert nexus.answer(NAMED, {"entail": "Turin"}).result == ["Turin"]
        assert nexus.answer(NAMED, {"entail": "Turin"}, entail=True).result == ["Turin"]
    request = {"command": NAMED, "parameters": {"entail": "Turin"}, "entail": True}
    assert nexus.execute_kip(request) == {"result": ["Turin"]}


@pytest.mark.parametrize("call", ["find", "execute", "why", "explain", "diagnose", "believed"])
def test_a_placeholder_that_is_called_like_the_option_is_never_passed_over(call: str) -> None:
    nexus = filled(kiprdf.Nexus.memory())
    for value in (True, False, "same_as"):
        with pytest.raises(kiprdf.KipError) as raised:
            getattr(nexus, call)(NAMED, entail=value)
        error = raised.value
        assert error.located_message == (
            "1:47 `entail` is an option, and the placeholder :entail has no parameter."
        )
        assert error.hint == "Give the placeholder and its parameter another name."
    with pytest.raises(kiprdf.KipError) as raised:
        getattr(nexus, call)(NAMED, entail="Turin")
    assert raised.value.message == (
        """The argument entail is True, False or "same_as", not 'Turin'."""
    ).replace("'Turin'", "'Turin'")
    assert nexus.execute('FIND(?p.name) WHERE { ?p {name: ":entail"} }', entail=True) == []


@pytest.mark.parametrize("value", ["yes", "", "SAME_AS", 1, 0, 1.0, [], {}, b"same_as", object()])
def test_another_value_is_refused(value: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory())
    calls: list[Callable[[], Any]] = [
        lambda: nexus.find(PLACES, entail=value),
        lambda: nexus.execute(PLACES, entail=value),
        lambda: nexus.answer(PLACES, entail=value),
        lambda: nexus.why(PLACES, entail=value),
        lambda: nexus.explain(PLACES, entail=value),
        lambda: nexus.transaction(lambda tx: tx.find(PLACES, entail=value)),
        lambda: kiprdf.Nexus.memory(entail=value),
    ]
    for call in calls:
        with pytest.raises(kiprdf.KipError) as raised:
            call()
        assert raised.value.code == "KIP_1001"
        assert raised.value.message.startswith('The argument entail is True, False or "same_as", ')
        assert raised.value.hint == 'Leave entail out, or give True, False or "same_as".'


@pytest.mark.parametrize("value", ["yes", "1", 1, 0.0, [], {}])
def test_a_request_with_another_value_is_refused(value: Any) -> None:
    nexus = filled(kiprdf.Nexus.memory())
    for request in (
        {"command": PLACES, "entail": value},
        {"commands": [PLACES], "entail": value},
        {"commands": [{"command": PLACES, "entail": value}]},
    ):
        error = nexus.execute_kip(request)["error"]
        assert error["code"] == "KIP_1001"
        assert "entail" in error["message"]
        hint = '`entail` is true, false or "same_as"; left out, the memory decides.'
        assert error["hint"].endswith(hint)


# The default --------------------------------------------------------------------------------------


def test_the_default_is_stored_until_another_one_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        assert (nexus.entail, nexus.info()["entail"]) == (False, False)
        filled(nexus)
    for value in (True, "same_as", False, "same_as", True):
        with kiprdf.Nexus.open(folder, entail=value) as nexus:
            assert (nexus.entail, nexus.info()["entail"]) == (value, value)
            assert nexus.execute(PLACES) == ANSWERS[value]
            commit = nexus.info()["commit"]
        for again in ({}, {"entail": value}, {"read_only": True}):
            with kiprdf.Nexus.open(folder, **again) as nexus:
                assert (nexus.entail, nexus.execute(PLACES)) == (value, ANSWERS[value])
                assert nexus.info()["commit"] == commit
        with kiprdf.Nexus.open(folder, entail=value, read_only=True) as nexus:
            assert nexus.entail == value


@pytest.mark.parametrize(
    ("stored", "given", "state"),
    [(True, False, "True"), (False, "same_as", "False"), ("same_as", True, "'same_as'")],
)
def test_a_nexus_that_is_only_read_keeps_its_default(
    tmp_path: Path, stored: Any, given: Any, state: str
) -> None:
    kiprdf.Nexus.open(tmp_path / "kb", entail=stored).close()
    with pytest.raises(kiprdf.StoreError) as raised:
        kiprdf.Nexus.open(tmp_path / "kb", read_only=True, entail=given)
    assert str(raised.value) == (
        f"The default of the nexus is entail={state}; open it for writing to change that."
    )


def test_a_backup_has_the_default(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", entail="same_as") as nexus:
        filled(nexus).backup(tmp_path / "copy")
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert (copy.entail, copy.execute(PLACES)) == ("same_as", MERGED)


def test_a_restore_keeps_the_default_and_a_snapshot_has_none(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory() as plain, kiprdf.Nexus.memory(entail=True) as entailing:
        snapshots = [filled(n).snapshot(engine_metadata=False) for n in (plain, entailing)]
        assert snapshots[0] == snapshots[1]
        snapshot = entailing.snapshot()
    for value in (True, False):
        with kiprdf.Nexus.memory(entail=value) as copy:
            copy.restore(snapshot)
            assert (copy.entail, copy.execute(PLACES)) == (value, ANSWERS[value])


@pytest.mark.parametrize(
    ("logged", "given", "kept"),
    [
        (True, None, True),
        ("same_as", None, "same_as"),
        (None, True, True),
        (True, False, True),
        (True, "same_as", "same_as"),
    ],
)
def test_a_history_has_the_default_of_its_nexus(
    tmp_path: Path, logged: Any, given: Any, kept: Any
) -> None:
    with kiprdf.Nexus.memory(history=True, entail=logged) as nexus:
        filled(nexus).snapshot(tmp_path / "kb.ttl", history=tmp_path / "kb.log")
    with kiprdf.Nexus.open(tmp_path / "copy", entail=given) as copy:
        copy.restore(tmp_path / "kb.ttl", history=tmp_path / "kb.log")
        assert (copy.entail, copy.execute(PLACES)) == (kept, ANSWERS[kept])
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert (copy.entail, copy.execute(PLACES)) == (kept, ANSWERS[kept])


def test_an_earlier_state_is_asked_by_the_default_of_now(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        commit = filled(nexus).info()["commit"]
    with kiprdf.Nexus.open(tmp_path / "kb", entail=True) as nexus, nexus.at(commit) as past:
        assert (past.entail, past.info()["entail"], past.execute(PLACES)) == (True, True, FOLLOWS)
        assert past.execute(PLACES, entail=False) == STATED
        answer = nexus.execute_kip({"command": PLACES, "as_of": {"seq": commit}})
        assert answer["result"] == FOLLOWS


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        ((None, None), False),
        ((True, None), True),
        ((None, True), True),
        ((True, "same_as"), "same_as"),
    ],
)
@pytest.mark.parametrize("writes", [False, True])
def test_a_view_asks_as_the_member_does_that_matches_most(
    defaults: tuple[Any, Any], expected: Any, writes: bool
) -> None:
    team, ada = (kiprdf.Nexus.memory(entail=default) for default in defaults)
    team.execute(SCHEMA)
    with kiprdf.View([team, ada], write=ada if writes else None) as view:
        ada.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "City"} } }')
        ada.execute('UPSERT { CONCEPT { {type: "City", name: "Turin"} } }')
        assert (view.entail, view.info()["entail"]) == (expected, expected)
        assert view.execute(PLACES) == (["Turin"] if expected else [])
        assert view.execute(PLACES, entail=False) == []
        assert view.execute(PLACES, entail=True) == ["Turin"]


def test_a_graph_of_rdflib_keeps_the_default() -> None:
    graph = rdflib.Graph()
    nexus = filled(kiprdf.Nexus.connect(graph, entail=True))
    assert (nexus.entail, nexus.execute(PLACES)) == (True, FOLLOWS)
    again = kiprdf.Nexus.connect(graph)
    for value in VALUES:
        expected = ANSWERS[True if value is None else value]
        assert again.execute(PLACES, entail=value) == expected


def test_check_names_a_record_that_is_none(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", entail="same_as") as nexus:
        assert nexus.check()["faults"] == []
        engine = nexus.store.engine
        [quad] = [quad for quad in engine if quad.predicate.value.endswith("record/entail")]
        assert quad.object == Literal("same_as")
        engine.remove(quad)
        engine.add(Quad(quad.subject, quad.predicate, Literal("yes"), quad.graph_name))
        del engine
        assert nexus.check()["faults"] == [
            'The record entail is "yes"; it is either "true" or "false" or "same_as".'
        ]
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert nexus.entail is False
