"""A FIND in what is believed: by the library, a request, the past, and on other stores."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
import rdflib

import kiprdf
from kiprdf.execution import statements
from kiprdf.kql import beliefs
from kiprdf.rdf import vocab

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT ?fever { {type: "Symptom", name: "Fever"} }
  CONCEPT ?aspirin { {type: "Drug", name: "Aspirin"} }
  CONCEPT ?quartz { {type: "Drug", name: "Quartz"} }
  PROPOSITION { (?aspirin, "treats", ?fever) }
  PROPOSITION ?false { (?quartz, "treats", ?fever) }
  PROPOSITION { (?aspirin, "stated", ?false) }
}
"""
FALSE = '({type: "Drug", name: "Quartz"}, "treats", {type: "Symptom", name: "Fever"})'
CURES = 'FIND(?d.name) WHERE { (?d, "treats", {type: "Symptom", name: "Fever"}) } ORDER BY ?d.name'
BOTH = ["Aspirin", "Quartz"]


def now() -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC)


def filled(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    nexus.execute(SCHEMA)
    return nexus


def mark(nexus: kiprdf.Nexus, **metadata: Any) -> None:
    """Write metadata of the false fact."""
    nexus.execute(f"UPDATE ?l SET METADATA :metadata WHERE {{ ?l {FALSE} }}", metadata=metadata)


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return filled(kiprdf.Nexus.memory(history=True, clock=now))


@pytest.mark.parametrize(
    ("metadata", "is_believed"),
    [
        ({"status": "draft"}, False),
        ({"status": "deprecated"}, False),
        ({"status": "retracted"}, False),
        ({"status": "active"}, True),
        ({"status": "Retracted"}, True),
        ({"superseded": True}, False),
        ({"superseded": False}, True),
        ({"superseded_by": "P:1"}, False),
        ({"superseded_by": None}, True),
        ({"valid_from": "2026-03-01"}, True),
        ({"valid_from": "2026-03-02"}, False),
        ({"valid_until": "2026-03-01T12:00:00Z"}, False),
        ({"valid_until": "2026-03-01T12:00:01Z"}, True),
        ({"expires_at": "2020-01-01"}, True),
    ],
)
def test_what_is_believed_now(
    nexus: kiprdf.Nexus, metadata: dict[str, Any], is_believed: bool
) -> None:
    mark(nexus, **metadata)
    assert nexus.execute(CURES) == BOTH
    expected = BOTH if is_believed else ["Aspirin"]
    assert nexus.believed(CURES).column("?d.name") == expected
    assert nexus.execute(kiprdf.believed(CURES)) == expected
    assert nexus.execute_kip({"command": CURES, "view": "believed"})["result"] == expected
    about = 'FIND(COUNT(?d)) WHERE { (?d, "stated", ?fact) }'
    assert nexus.execute(kiprdf.believed(about)) == int(is_believed)


def test_a_fact_is_believed_at_a_time(nexus: kiprdf.Nexus) -> None:
    mark(nexus, valid_from="2026-02-01", valid_until="2026-03-01")
    names = {at: nexus.believed(CURES, at=at).column("?d.name") for at in ("2026-01-31", "2026-02")}
    assert names == {"2026-01-31": ["Aspirin"], "2026-02": BOTH}
    assert nexus.believed(CURES, at=datetime(2026, 2, 28, tzinfo=UTC)).column("?d.name") == BOTH
    assert nexus.believed(CURES).column("?d.name") == ["Aspirin"]


def test_moments_share_a_plan(nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch) -> None:
    mark(nexus, valid_from="2026-02-01")
    compiled: list[object] = []
    prepare = statements.prepare

    def counted(*arguments: Any) -> Any:
        compiled.append(arguments)
        return prepare(*arguments)

    monkeypatch.setattr(statements, "prepare", counted)
    for day in range(1, 29):
        nexus.believed(CURES, at=f"2026-01-{day:02}")
        nexus.execute(kiprdf.believed(CURES, at=f"2026-01-{day:02}"))
    assert len(compiled) == 1


def test_each_commit_is_seen(nexus: kiprdf.Nexus) -> None:
    seen = []
    for status in ("retracted", "active", "draft", None):
        mark(nexus, status=status)
        seen.append(len(nexus.believed(CURES)))
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Other"} } }')
        assert len(nexus.believed(CURES)) == seen[-1]
    assert seen == [1, 2, 1, 2]
    mark(nexus, status="retracted")
    link = f'UPSERT {{ PROPOSITION {{ ({{type: "Drug", name: "Other"}}, "stated", {FALSE}) }} }}'
    stated = 'FIND(?d.name) WHERE { (?d, "stated", ?fact) }'
    assert nexus.believed(stated).column("?d.name") == []
    nexus.execute(link)
    assert nexus.believed(stated).column("?d.name") == []
    nexus.execute('DELETE METADATA {"status"} FROM ?l WHERE { ?l ' + FALSE + " }")
    assert sorted(nexus.believed(stated).column("?d.name")) == ["Aspirin", "Other"]


def test_an_element_that_is_not_believed_matches_nothing(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPDATE ?d SET METADATA {status: "retracted"} WHERE { ?d {type: "Drug", name: "Quartz"} }'
    )
    named = 'FIND(?d.id) WHERE { ?d {type: "Drug", name: "Quartz"} }'
    assert nexus.execute(named) == ["C:Drug/Quartz"]
    assert nexus.execute(named.replace('type: "Drug", name: "Quartz"', 'id: "C:Drug/Quartz"'))
    for command in (named, 'FIND(?d.id) WHERE { ?d {id: "C:Drug/Quartz"} }'):
        for _ in range(3):
            assert len(nexus.believed(command)) == 0
    assert nexus.believed('FIND(?d.name) WHERE { ?d {type: "Drug"} }').column("?d.name") == [
        "Aspirin"
    ]
    assert nexus.believed(CURES).column("?d.name") == ["Aspirin"]
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.believed('FIND(?d.id) WHERE { ?d {type: "Drug", name: "Nothing"} }')


def test_what_is_not_said_of_what_is_retracted_is_not_there(nexus: kiprdf.Nexus) -> None:
    mark(nexus, status="retracted")
    useless = 'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "treats", ?s) } }'
    assert nexus.execute(useless) == []
    assert nexus.believed(useless).column("?d.name") == ["Quartz"]
    optional = 'FIND(?d.name, ?s.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) } }'
    assert set(nexus.believed(optional).tuples()) == {("Aspirin", "Fever"), ("Quartz", None)}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (f"FIND(?l) WHERE {{ ?l {FALSE} }}", "1 retracted"),
        ('FIND(?d.name) WHERE { (?d, "stated", ?fact) }', "1 retracted"),
        ('FIND(COUNT(?d)) WHERE { (?d, "stated", (?x, "treats", ?s)) }', "1 retracted"),
        (
            'FIND(?s.name) WHERE { ({type: "Drug", name: "Quartz"}, "treats"{1,3}, ?s) }',
            "1 retract",
        ),
    ],
)
def test_an_empty_answer_says_what_is_not_believed(
    nexus: kiprdf.Nexus, command: str, reason: str
) -> None:
    assert nexus.find(command).warnings == ()
    mark(nexus, status="retracted")
    (warning,) = nexus.believed(command).warnings
    assert warning.name == "NotBelieved"
    assert warning.message.startswith(f"It is there, but not believed: {reason}")
    assert "P:" in str(warning.hint)
    (again,) = nexus.diagnose(kiprdf.believed(command)).warnings
    assert again.message == warning.message
    other = 'FIND(?d.name) WHERE { (?d, "treats", {type: "Drug", name: "Aspirin"}) }'
    assert [one.name for one in nexus.believed(other).warnings] == ["NoSolution"]


@pytest.mark.parametrize(
    "command",
    [
        "DESCRIBE PRIMER",
        'SEARCH CONCEPT "aspirin"',
        'EXPORT ?d WHERE { ?d {type: "Drug"} }',
        'UPSERT { CONCEPT { {type: "Drug", name: "New"} } }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }',
    ],
)
def test_only_a_find_is_asked_for_what_is_believed(nexus: kiprdf.Nexus, command: str) -> None:
    before = nexus.info()["commit"]
    for call in (kiprdf.believed, nexus.believed):
        with pytest.raises(kiprdf.KipError, match=r"Only a FIND|takes FIND only"):
            call(command)
    response = nexus.execute_kip({"command": command, "view": "believed"})
    assert response["error"]["code"] == "KIP_1001"
    assert response["error"]["hint"] == "Leave the view out, or send a FIND."
    marked = f"// Believed now\n{command}"
    for call in (nexus.execute, nexus.export, nexus.diagnose, nexus.explain):
        with pytest.raises(kiprdf.KipError, match="KIP_1001"):
            call(marked)
    assert nexus.info()["commit"] == before


def test_the_line_of_the_view_is_never_a_comment_that_is_passed_over(nexus: kiprdf.Nexus) -> None:
    marked = kiprdf.believed(CURES)
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        kiprdf.valid_at(marked)
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        kiprdf.believed(marked)
    mark(nexus, status="retracted")
    for call in (nexus.find, nexus.answer, nexus.execute, nexus.execute_kip_readonly):
        result: Any = call({"command": marked} if call == nexus.execute_kip_readonly else marked)
        assert "Quartz" not in str(result)
    rows = nexus.transaction(lambda tx: tx.find(marked))
    assert rows.column("?d.name") == ["Aspirin"]
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        nexus.transaction(lambda tx: tx.execute(marked))
    with pytest.raises(kiprdf.KipError, match="KIP_1001"):
        nexus.forget(marked, dry_run=True)
    for line in ("// Believed soon\n", "// Believed at 12 o'clock\n", "// Believed at\n"):
        with pytest.raises(kiprdf.KipError, match="KIP_1001"):
            nexus.execute(line + CURES)
    for at in ("soon", "2026-13-01", 7):
        with pytest.raises(kiprdf.KipError, match="is not a time"):
            nexus.believed(CURES, at=at)  # type: ignore[arg-type]


def test_a_batch_may_ask_for_the_view_once(nexus: kiprdf.Nexus) -> None:
    mark(nexus, status="retracted")
    commands = [CURES, {"command": CURES, "view": "believed"}, "DESCRIBE DOMAINS"]
    results = nexus.execute_kip({"commands": commands})["result"]
    assert [result["result"] for result in results[:2]] == [BOTH, ["Aspirin"]]
    results = nexus.execute_kip({"commands": commands, "view": "believed"})["result"]
    assert [result.get("result") for result in results] == [["Aspirin"], ["Aspirin"], None]
    assert results[2]["error"]["code"] == "KIP_1001"


def test_the_past_is_asked_for_what_it_believed(nexus: kiprdf.Nexus) -> None:
    commit = nexus.info()["commit"]
    mark(nexus, status="retracted")
    with nexus.at(commit) as past:
        assert past.believed(CURES).column("?d.name") == BOTH
    with nexus.at(commit + 1) as past:
        assert past.believed(CURES).column("?d.name") == ["Aspirin"]
    request = {"command": CURES, "view": "believed", "as_of": {"seq": commit}}
    assert nexus.execute_kip(request)["result"] == BOTH


def test_pages_are_those_of_the_view(nexus: kiprdf.Nexus) -> None:
    for number in range(7):
        write = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } WITH METADATA :metadata }'
        nexus.execute(
            write, name=f"d{number}", metadata={"status": ["active", "draft"][number % 2]}
        )
    for order in ("", " ORDER BY ?d.name"):
        names: list[str] = []
        command = f'FIND(?d.name) WHERE {{ ?d {{type: "Drug"}} }}{order} LIMIT 2'
        rows = nexus.believed(command)
        names += rows.column("?d.name")
        cursor = rows.next_cursor
        with pytest.raises(kiprdf.KipError, match="belongs to another command"):
            nexus.find(f"{command} CURSOR :cursor", cursor=cursor)
        while cursor is not None:
            rows = nexus.believed(f"{command} CURSOR :cursor", cursor=cursor)
            names += rows.column("?d.name")
            cursor = rows.next_cursor
        assert sorted(names) == ["Aspirin", "Quartz", "d0", "d2", "d4", "d6"]


def test_a_graph_of_rdflib_is_asked_for_what_is_believed() -> None:
    graph = rdflib.Graph()
    with kiprdf.Nexus.connect(graph) as nexus:
        filled(nexus)
        assert nexus.believed(CURES).column("?d.name") == BOTH
        mark(nexus, status="retracted")
        assert nexus.believed(CURES).column("?d.name") == ["Aspirin"]
        status = rdflib.URIRef(vocab.metadata("status").value)
        statuses = list(graph.triples((None, status, rdflib.Literal("retracted"))))
        assert len(statuses) == 1
        graph.remove(statuses[0])
        assert nexus.believed(CURES).column("?d.name") == BOTH


def test_facts_of_a_time_are_asked_in_what_is_believed(nexus: kiprdf.Nexus) -> None:
    command = kiprdf.valid_at(CURES)
    assert nexus.believed(command, t="2026-01-01").column("?d.name") == BOTH
    mark(nexus, status="draft")
    assert nexus.believed(command, t="2026-01-01").column("?d.name") == ["Aspirin"]
    assert nexus.find(command, t="2026-01-01").column("?d.name") == BOTH


def test_explain_shows_what_the_engine_is_asked(nexus: kiprdf.Nexus) -> None:
    assert nexus.explain(kiprdf.believed(CURES)) == nexus.explain(CURES)
    mark(nexus, status="retracted")
    assert "fn:believed(" in nexus.explain(kiprdf.believed(CURES))
    hops = kiprdf.believed('FIND(?s.name) WHERE { (?d, "treats"{1,}, ?s) }')
    assert nexus.explain(hops).startswith("# The hops are walked over facts that are believed.\n")
    assert "believed" not in nexus.explain(CURES)


def test_what_runs_on_a_thread_asks_for_what_is_believed(nexus: kiprdf.Nexus) -> None:
    mark(nexus, status="retracted")
    rows = asyncio.run(kiprdf.AsyncNexus(nexus).believed(CURES))
    assert rows.column("?d.name") == ["Aspirin"]


def test_a_count_of_all_facts_names_those_that_are_not_believed(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = 'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) }'
    texts: list[str] = []
    select = type(nexus.store).select

    def noted(store: Any, query: str, *arguments: Any) -> Any:
        texts.append(query)
        return select(store, query, *arguments)

    monkeypatch.setattr(type(nexus.store), "select", noted)
    mark(nexus, status="retracted")
    assert nexus.execute(counted) == 2
    assert not texts  # the number is kept
    assert nexus.execute(kiprdf.believed(counted)) == 1
    assert "MINUS { VALUES (?d ?s) { (<urn:kip:nexus/Drug/Quartz> " in texts[-1]
    monkeypatch.setattr(beliefs, "MOST_NAMED", 0)
    assert nexus.execute(kiprdf.believed(counted)) == 1
    assert "fn:believed(TRIPLE(" in texts[-1] or "function/believed>(TRIPLE(" in texts[-1]


def test_a_commit_without_a_mark_keeps_the_view(nexus: kiprdf.Nexus) -> None:
    mark(nexus, status="retracted")
    nexus.believed(CURES)
    (view,) = nexus.beliefs._views.current
    write = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } WITH METADATA :metadata }'
    active = {"status": "active", "superseded": None, "valid_until": None}
    nexus.execute(write, name="New", metadata=active)
    assert [each.hidden for each in nexus.beliefs._views.current] == [view.hidden]
    assert "New" in nexus.believed('FIND(?d.name) WHERE { ?d {type: "Drug"} }').column("?d.name")
    nexus.execute(write, name="New", metadata={"status": "draft"})
    assert nexus.beliefs._views.current == ()
    names = nexus.believed('FIND(?d.name) WHERE { ?d {type: "Drug"} }').column("?d.name")
    assert "New" not in names


@pytest.mark.parametrize("marked", ['?x {type: "Stop", name: "B"}', '?x (?a, "near", {name: "B"})'])
def test_hops_lead_over_what_is_believed(marked: str) -> None:
    with kiprdf.Nexus.memory(clock=now) as nexus:
        nexus.execute("""
        UPSERT {
          CONCEPT { {type: "$ConceptType", name: "Stop"} }
          CONCEPT { {type: "$PropositionType", name: "near"} }
          CONCEPT ?a { {type: "Stop", name: "A"} }
          CONCEPT ?b { {type: "Stop", name: "B"} }
          CONCEPT ?c { {type: "Stop", name: "C"} }
          CONCEPT ?d { {type: "Stop", name: "D"} }
          PROPOSITION { (?a, "near", ?b) }
          PROPOSITION { (?b, "near", ?c) }
          PROPOSITION { (?c, "near", ?d) }
        }""")
        a, d = '{type: "Stop", name: "A"}', '{type: "Stop", name: "D"}'
        commands = {
            f'FIND(?x.name) WHERE {{ ({a}, "near"{{1,3}}, ?x) }}': ["B", "C", "D"],
            f'FIND(?x.name) WHERE {{ ({a}, "near"{{0,}}, ?x) }}': ["A", "B", "C", "D"],
            f'FIND(?x.name) WHERE {{ (?x, "near"{{2,}}, {d}) }}': ["A", "B"],
            'FIND(?y.name) WHERE { ?x {type: "Stop"} (?x, "near"{3}, ?y) }': ["D"],
            'FIND(?x.name) WHERE { ?x {type: "Stop"} (?x, "near"{0}, ?y) }': ["A", "B", "C", "D"],
            'FIND(?p, ?x.name) WHERE { ({name: "A"}, ?p, ?x) }': ["B"],
            f'FIND(?x.name) WHERE {{ ?x {{type: "Stop"}} NOT {{ ({a}, "near"{{1,}}, ?x) }} }}': [
                "A"
            ],
        }
        for command, names in commands.items():
            assert sorted(row[-1] for row in nexus.believed(command).tuples()) == names, command
        nexus.execute(f'UPDATE ?x SET METADATA {{status: "retracted"}} WHERE {{ {marked} }}')
        is_stop = "type" in marked
        left = ["A", "C", "D"] if is_stop else ["A", "B", "C", "D"]
        expected = [[], ["A"], [] if is_stop else ["B"], [], left, [], left]
        for command, names in zip(commands, expected, strict=True):
            for _ in range(3):
                assert sorted(row[-1] for row in nexus.believed(command).tuples()) == names, command
