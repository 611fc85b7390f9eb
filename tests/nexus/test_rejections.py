"""Rejected values: no spelling, path or sequence brings one back, and a person can lift it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib

from kiprdf import KipError, Nexus

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Company"} }
  CONCEPT { {type: "$PropositionType", name: "works_at"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
}"""
FACT = """UPSERT {
  CONCEPT ?s { {type: :st, name: :s} }
  CONCEPT ?o { {type: :ot, name: :o} }
  PROPOSITION { (?s, "works_at", ?o) }
}"""
STATUS = 'FIND(?l.metadata.status) WHERE { ?l (?s, "works_at", ?o) }'
HOME = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { home: :home } } }'
ADA, EVIL = "C:Person/Ada", "C:Company/Evil Corp"
FACT_OF_ADA = (ADA, "works_at", EVIL)


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    with Nexus.memory(history=True) as nexus:
        nexus.execute(SCHEMA)
        yield nexus


def state(nexus: Nexus, s: str = "Ada", o: str = "Evil Corp", ot: str = "Company") -> str:
    """Write the fact, and return its id."""
    receipt = nexus.execute(FACT, st="Person", s=s, ot=ot, o=o)
    id: str = receipt["upsert_proposition_links"][0]
    return id


def refused(write: Callable[[], Any], words: str = "was rejected by") -> KipError:
    with pytest.raises(KipError) as caught:
        write()
    assert caught.value.code == "KIP_3004", caught.value
    assert words in caught.value.message
    return caught.value


# What a rejection is --------------------------------------------------------------------------


def test_a_stored_fact_is_retracted_and_refused_from_then_on(nexus: Nexus) -> None:
    name = nexus.reject(state(nexus), reason="She never worked there.")
    assert nexus.execute(STATUS) == ["retracted"]
    error = refused(lambda: state(nexus))
    (rejection,) = nexus.rejections()
    assert rejection == {
        "name": name,
        "by": "human/owner",
        "at": rejection["at"],
        "reason": "She never worked there.",
    }
    assert error.message == (
        "(C:Person/Ada, works_at, C:Company/Evil Corp) was rejected by human/owner "
        f'at {rejection["at"]}: "She never worked there.".'
    )
    assert error.hint == (
        f"Do not write it again. A person can lift the rejection: kiprdf lift {name}."
    )


def test_a_rejection_has_no_text_of_what_it_rejects(nexus: Nexus) -> None:
    name = nexus.reject(FACT_OF_ADA, reason="No.")
    (element,) = nexus.execute('FIND(?r) WHERE { ?r {type: "Rejection"} }')
    assert len(name) == 64
    assert (element["name"], set(element["attributes"])) == (name, {"by", "at", "reason"})
    assert "Evil" not in nexus.snapshot()
    nexus.execute(HOME, home="Paris")  # the control
    assert "Paris" in nexus.snapshot()


def test_what_is_rejected_need_not_exist(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    nexus.reject((ADA, "attributes.home", "The Moon"), reason="No.")
    refused(lambda: state(nexus))
    refused(lambda: nexus.execute(HOME, home="The Moon"))
    assert state(nexus, o="Good Corp").startswith("P:")
    assert state(nexus, s="Bo").startswith("P:")
    nexus.execute(HOME, home="The Sun")


def test_a_stored_value_leaves_its_element_and_the_others_stay(nexus: Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"}'
        ' SET ATTRIBUTES { home: "The Moon", born: 1815 } } }'
    )
    nexus.reject((ADA, "attributes.home", "the moon"), reason="No.")
    (ada,) = nexus.execute('FIND(?p) WHERE { ?p {type: "Person", name: "Ada"} }')
    assert ada["attributes"] == {"born": 1815}
    assert "status" not in ada["metadata"]


def test_one_item_of_an_array_is_a_value(nexus: Nexus) -> None:
    nexus.execute(HOME, home=["Paris", "The Moon", ["THE MOON"]])
    nexus.reject((ADA, "attributes.home", "The Moon"), reason="No.")
    homes = 'FIND(?p.attributes.home) WHERE { ?p {type: "Person", name: "Ada"} }'
    assert nexus.execute(homes) == [["Paris", []]]
    refused(lambda: nexus.execute(HOME, home=["Rome", "the moon"]))
    refused(lambda: nexus.execute(HOME, home=["Rome", ["Paris", ["the moon"]]]))
    refused(lambda: nexus.execute(HOME, home=[["Rome", ["the moon"]]]))
    nexus.execute(HOME, home=["Rome", "Paris"])
    # An array that is rejected as a whole says nothing of its items.
    nexus.reject((ADA, "attributes.home", ["Rome", "Paris"]), reason="No.")
    refused(lambda: nexus.execute(HOME, home=["ROME", "paris"]))
    nexus.execute(HOME, home="Rome")


def test_the_values_of_a_proposition_can_be_rejected(nexus: Nexus) -> None:
    id = state(nexus)
    nexus.reject((id, "attributes.role", "spy"), reason="No.")
    values = {"st": "Person", "s": "Ada", "ot": "Company", "o": "Evil Corp"}
    write = FACT.replace(
        '(?s, "works_at", ?o) }', '(?s, "works_at", ?o) SET ATTRIBUTES { role: :role } }'
    )
    refused(lambda: nexus.execute(write, **values, role="SPY"))
    nexus.execute(write, **values, role="clerk")


def test_rejecting_twice_is_one_rejection(nexus: Nexus) -> None:
    name = nexus.reject(FACT_OF_ADA, reason="No.")
    commit = nexus.info()["commit"]
    assert nexus.reject((ADA, "works_at", "C:Company/EVIL CORP"), reason="Again.") == name
    assert nexus.info()["commit"] == commit
    assert [each["reason"] for each in nexus.rejections()] == ["No."]


@pytest.mark.parametrize(
    ("what", "reason", "code"),
    [
        ("P:0123456789abcdef:works_at", "No.", "KIP_3002"),
        (ADA, "No.", "KIP_3002"),
        ("nonsense", "No.", "KIP_1001"),
        ((ADA, "works_at"), "No.", "KIP_1001"),
        ((ADA, "works at", EVIL), "No.", "KIP_1001"),
        ((ADA, "works_at", "Evil Corp"), "No.", "KIP_1001"),
        ((ADA, "works_at", 7), "No.", "KIP_1001"),
        ((ADA, "attributes.a b", 7), "No.", "KIP_1001"),
        ((ADA, "attributes.home", object()), "No.", "KIP_1001"),
        ((1, "attributes.home", 7), "No.", "KIP_1001"),
        (("C:Person/\ud800", "works_at", EVIL), "No.", "KIP_1001"),
        ((ADA, "attributes.home", "\ud800"), "No.", "KIP_1001"),
        ((ADA, "attributes.home", float("nan")), "No.", "KIP_1001"),
        (FACT_OF_ADA, "\ud800", "KIP_1001"),
        (7, "No.", "KIP_1001"),
        (FACT_OF_ADA, "", "KIP_1001"),
        (FACT_OF_ADA, "  ", "KIP_1001"),
        (FACT_OF_ADA, None, "KIP_1001"),
    ],
)
def test_what_is_no_value_or_no_reason_is_an_error(
    nexus: Nexus, what: Any, reason: Any, code: str
) -> None:
    with pytest.raises(KipError) as caught:
        nexus.reject(what, reason=reason)
    assert caught.value.code == code
    assert nexus.rejections() == []


# Spellings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        *("evil corp", "EVIL\u00a0 CORP", "Evil\u200b Corp", "\u0415vil \u0421orp", "EviI C0rp"),
        *("Evil\u3164Corp", "EVIL\u115fcorp", "Evil\u2800Corp"),
    ],
)
@pytest.mark.parametrize("type", ["Company", "Person"])
def test_another_spelling_or_type_of_the_object(nexus: Nexus, spelling: str, type: str) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    refused(lambda: state(nexus, o=spelling, ot=type))


def test_every_stored_spelling_is_retracted(nexus: Nexus) -> None:
    for name in ("Evil Corp", "EVIL CORP", "Good Corp"):
        state(nexus, o=name)
    nexus.reject(FACT_OF_ADA, reason="No.")
    assert sorted(map(str, nexus.execute(STATUS))) == ["None", "retracted", "retracted"]


def test_another_spelling_of_the_subject(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    refused(lambda: state(nexus, s="\u0410DA"))


@pytest.mark.parametrize(
    ("rejected", "again"),
    [
        (7, [7.0, "7"]),
        (7.5, [7.5]),
        (True, [True]),
        ("Straße", ["STRASSE", {"@value": "strasse", "@language": "de"}]),
        ({"city": "Paris", "since": 2}, [{"since": 2.0, "city": "PARIS"}]),
        (None, [None]),
    ],
)
def test_a_value_in_another_spelling(nexus: Nexus, rejected: Any, again: list[Any]) -> None:
    nexus.reject((ADA, "attributes.home", rejected), reason="No.")
    for value in again:
        refused(lambda value=value: nexus.execute(HOME, home=value))  # type: ignore[misc]
    nexus.execute(HOME, home=[1, "other"])


def test_a_link_of_an_attributes_name_is_the_same_value(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    attribute = HOME.replace("home: :home", 'works_at: "evil corp"')
    refused(lambda: nexus.execute(attribute))


def test_a_fact_about_a_fact_is_known_by_its_parts(nexus: Nexus) -> None:
    statement = """UPSERT {
      CONCEPT ?a { {type: "Person", name: "Ada"} } CONCEPT ?b { {type: "Person", name: "Bo"} }
      CONCEPT ?o { {type: "Company", name: :o} }
      PROPOSITION ?f { (?a, "works_at", ?o) }
      PROPOSITION { (?b, "says", ?f) }
    }"""
    ids = nexus.execute(statement, o="Good Corp")["upsert_proposition_links"]
    nexus.reject(ids[1], reason="No.")
    refused(lambda: nexus.execute(statement, o="Good Corp"))
    refused(lambda: nexus.execute(statement, o="GOOD CORP"))
    nexus.execute(statement, o="Other Corp")


def test_a_high_tower_of_facts_about_facts(nexus: Nexus) -> None:
    bo = nexus.store.iris.id(nexus.store.iris.concept("Person", "Bo"))
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Bo"} } }')
    below = state(nexus)
    for _ in range(600):
        (below,) = nexus.execute(
            'UPSERT { PROPOSITION { ({id: :bo}, "says", (id: :below)) } }', bo=bo, below=below
        )["upsert_proposition_links"]
    nexus.reject(below, reason="No.")
    write = "UPSERT { PROPOSITION { (id: :id) } WITH METADATA { a: 1 } }"
    refused(lambda: nexus.execute(write, id=below))


# Paths and sequences --------------------------------------------------------------------------


def test_an_update_cannot_make_it_active_again(nexus: Nexus) -> None:
    id = state(nexus)
    nexus.reject(id, reason="No.")
    for status in ("active", "reviewed", "draft"):
        text = "UPDATE ?l SET METADATA { status: :status } WHERE { ?l (id: :id) }"
        refused(lambda text=text, status=status: nexus.execute(text, status=status, id=id))  # type: ignore[misc]
    refused(
        lambda: nexus.execute('DELETE METADATA {"status"} FROM ?l WHERE { ?l (id: :id) }', id=id)
    )
    nexus.execute("UPDATE ?l SET METADATA { confidence: 0.1 } WHERE { ?l (id: :id) }", id=id)
    assert nexus.execute(STATUS) == ["retracted"]


def test_deleting_it_first_does_not_help(nexus: Nexus) -> None:
    id = state(nexus)
    nexus.reject(id, reason="No.")
    nexus.execute("DELETE PROPOSITIONS ?l WHERE { ?l (id: :id) }", id=id)
    refused(lambda: state(nexus))
    nexus.execute('DELETE CONCEPT ?c DETACH WHERE { ?c {type: "Company"} }')
    refused(lambda: state(nexus))


def test_an_alias_does_not_help(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    alias = """UPSERT { CONCEPT { {type: "Company", name: "EvilCo"}
        SET ATTRIBUTES { aliases: ["Evil Corp"] } } }"""
    # The alias after the fact, and before it.
    state(nexus, o="EvilCo")
    refused(lambda: nexus.execute(alias))
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?s, "works_at", ?o) }')
    nexus.execute(alias)
    refused(lambda: state(nexus, o="EvilCo"))


def test_an_alias_that_it_had_is_rejected_too(nexus: Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Company", name: "Evil Corp"}'
        ' SET ATTRIBUTES { aliases: ["EvilCo"] } } }'
    )
    name = nexus.reject(FACT_OF_ADA, reason="No.")
    refused(lambda: state(nexus, o="EvilCo"))
    assert [each["name"] for each in nexus.rejections()] == [name]
    nexus.lift(name)
    state(nexus, o="EvilCo")
    assert nexus.execute('FIND(?r) WHERE { ?r {type: "Rejection"} }') == []


def merge(nexus: Nexus, source: str, target: str, type: str = "Company") -> Any:
    return nexus.execute(
        "MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: :t, name: :a} ?b {type: :t, name: :b} }",
        t=type,
        a=source,
        b=target,
    )


def test_a_merge_cannot_make_it_active(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "Evil Corp"} } }')
    state(nexus, o="EvilCo")
    refused(lambda: merge(nexus, "EvilCo", "Evil Corp"))
    refused(lambda: merge(nexus, "Evil Corp", "EvilCo"))
    nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "Third"} } }')
    merge(nexus, "EvilCo", "Third")
    refused(lambda: merge(nexus, "Evil Corp", "Third"))
    assert nexus.execute(STATUS) == [None]


def test_a_merge_with_the_stored_fact_leaves_it_retracted(nexus: Nexus) -> None:
    nexus.reject(state(nexus), reason="No.")
    active = (
        "UPDATE ?l SET METADATA { status: :s } WHERE { ?l (?s, 'works_at', {type: :t, name: :n}) }"
    )
    for name in ("EvilCo", "Third"):
        state(nexus, o=name)
    nexus.execute(active.replace("'", '"'), s="active", t="Company", n="Third")
    merge(nexus, "EvilCo", "Evil Corp")
    refused(lambda: merge(nexus, "Evil Corp", "Third"))
    assert sorted(map(str, nexus.execute(STATUS))) == ["active", "retracted"]


def test_a_merge_may_move_what_stays_retracted(nexus: Nexus) -> None:
    nexus.reject(state(nexus), reason="No.")
    nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "EvilCo"} } }')
    merge(nexus, "Evil Corp", "EvilCo")
    assert nexus.execute(STATUS) == ["retracted"]
    # It is rejected under both names.
    refused(lambda: state(nexus, o="EvilCo"))
    refused(lambda: state(nexus, o="Evil Corp"))


@pytest.mark.parametrize("first", ["Evil Corp", "evil corp", "EVIL CORP"])
def test_a_merge_with_several_spellings_of_one_fact(nexus: Nexus, first: str) -> None:
    """Some are retracted, and a merge gives the subject the name by which all are rejected."""
    nexus.reject(FACT_OF_ADA, reason="No.")
    for name in ("Evil Corp", "evil corp", "EVIL CORP"):
        state(nexus, s="Bo", o=name)
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "ADA"} } }')
    text = (
        'UPDATE ?l SET METADATA {status: "retracted"} WHERE { ?l (?s, "works_at", {name: :name}) }'
    )
    for name in (first, "evil corp", "EVIL CORP", "Evil Corp"):
        refused(lambda: merge(nexus, "ADA", "Bo", type="Person"))
        nexus.execute(text, name=name)
        if None not in nexus.execute(STATUS):
            break
    merge(nexus, "ADA", "Bo", type="Person")
    assert nexus.execute(STATUS) == ["retracted"] * 3


def test_chains_of_merges(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    for name in ("Evil Corp", "B", "C"):
        nexus.execute('UPSERT { CONCEPT { {type: "Company", name: :n} } }', n=name)
    merge(nexus, "Evil Corp", "B")
    merge(nexus, "B", "C")
    refused(lambda: state(nexus, o="C"))
    merge_people = 'UPSERT { CONCEPT { {type: "Person", name: :n} } }'
    for name in ("Ada", "A. L."):
        nexus.execute(merge_people, n=name)
    merge(nexus, "Ada", "A. L.", type="Person")
    refused(lambda: state(nexus, s="A. L.", o="C"))
    assert state(nexus, s="Bo", o="C").startswith("P:")


def test_a_name_that_was_merged_away_is_that_of_the_other(nexus: Nexus) -> None:
    state(nexus, o="EvilCo")
    nexus.execute('UPSERT { CONCEPT { {type: "Company", name: "Evil Corp"} } }')
    merge(nexus, "Evil Corp", "EvilCo")
    nexus.reject(FACT_OF_ADA, reason="No.")
    assert nexus.execute(STATUS) == ["retracted"]
    refused(lambda: state(nexus, o="EvilCo"))


def test_a_capsule_and_a_transaction(nexus: Nexus) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    capsule = """UPSERT { CONCEPT ?a { {type: "Person", name: "Ada"} }
        CONCEPT ?o { {type: "Company", name: "evil corp"} }
        PROPOSITION { (?a, "works_at", ?o) } }"""
    refused(lambda: nexus.apply_capsule(capsule))
    ends = {"subject": {"type": "Person", "name": "Ada"}, "predicate": "works_at"}
    fact = {**ends, "object": {"type": "Company", "name": "Evil Corp"}}
    concepts: list[dict[str, Any]] = [fact["subject"], fact["object"]]  # type: ignore[list-item]
    refused(lambda: nexus.transaction(lambda tx: tx.write([*concepts, fact])))
    refused(lambda: nexus.transaction(lambda tx: tx.write([*concepts, fact]), dry_run=True))


def test_an_import(nexus: Nexus) -> None:
    turtle = """
        @prefix e: <https://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        e:ada a e:Person ; rdfs:label "Ada" ; e:works_at e:evil ; e:home "The Moon" .
        e:evil a e:Company ; rdfs:label "Evil Corp" .
    """
    with Nexus.memory() as other:
        other.execute(SCHEMA)
        other.import_rdf(turtle, format="turtle", define=True)
        assert other.execute('FIND(?o.name) WHERE { (?s, "works_at", ?o) }') == ["Evil Corp"]
    name = nexus.reject(FACT_OF_ADA, reason="No.")
    refused(lambda: nexus.import_rdf(turtle, format="turtle", define=True))
    nexus.lift(name)
    nexus.reject((ADA, "attributes.home", "the moon"), reason="No.")
    refused(lambda: nexus.import_rdf(turtle, format="turtle", define=True))


def test_a_patch(nexus: Nexus) -> None:
    id = state(nexus)
    nexus.reject(id, reason="No.")
    with Nexus.memory() as other:
        other.restore(nexus.snapshot())
        for rejection in other.rejections():
            other.lift(rejection["name"])
        other.execute("UPDATE ?l SET METADATA {status: null} WHERE { ?l (id: :id) }", id=id)
        patch = nexus.patch_to(other).text
    refused(lambda: nexus.apply_patch(patch), "is written by a rejection alone")


def test_an_undo_cannot_bring_it_back(nexus: Nexus) -> None:
    id = state(nexus)
    stated = nexus.info()["commit"]
    nexus.reject(id, reason="No.")
    with pytest.raises(KipError) as caught:
        nexus.undo(seq=stated + 1)
    assert caught.value.code == "KIP_2002"
    assert "is written by a rejection alone" in caught.value.message
    report = nexus.undo(seq=stated + 1, conflicts="skip")
    # The definition of the type is protected, or used by the rejection: as the order is.
    protected = {each["id"] for each in report["conflicts"] if "protected" in each}
    assert protected - {"C:$ConceptType/Rejection"} == {
        f"C:Rejection/{nexus.rejections()[0]['name']}",
        id,
    }
    assert nexus.execute(STATUS) == ["retracted"]
    nexus.execute("DELETE PROPOSITIONS ?l WHERE { ?l (id: :id) }", id=id)
    with pytest.raises(KipError, match="was rejected by"):
        nexus.undo(seq=nexus.info()["commit"])
    nexus.undo(seq=nexus.info()["commit"], conflicts="skip")
    assert nexus.execute(STATUS) == []
    assert len(nexus.rejections()) == 1


def test_a_write_that_was_prepared_before_the_rejection(nexus: Nexus) -> None:
    """A capsule is drafted without the lock; a rejection that comes meanwhile holds for it."""
    nexus.reject((ADA, "attributes.home", "nowhere"), reason="The type is defined.")
    writer = nexus._engine.writer
    prepare = writer.run_prepared

    def late(function: Callable[[Any], Any]) -> Any:
        def run(store: Any) -> Any:
            result = function(store)
            if len(nexus.rejections()) == 1:
                nexus.reject(FACT_OF_ADA, reason="No.")
            return result

        return prepare(run)

    writer.run_prepared = late  # type: ignore[method-assign,assignment]
    refused(
        lambda: nexus.apply_capsule(
            'UPSERT { CONCEPT ?a { {type: "Person", name: "Ada"} }'
            ' CONCEPT ?o { {type: "Company", name: "Evil Corp"} }'
            ' PROPOSITION { (?a, "works_at", ?o) } }'
        )
    )


# What is protected ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "Rejection", name: "x"} } }',
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Rejection"} SET ATTRIBUTES {a: 1} } }',
        'UPDATE ?r SET ATTRIBUTES { reason: "" } WHERE { ?r {type: "Rejection"} }',
        'DELETE ATTRIBUTES {"by"} FROM ?r WHERE { ?r {type: "Rejection"} }',
        'DELETE CONCEPT ?r DETACH WHERE { ?r {type: "Rejection"} }',
        'DELETE CONCEPT ?r DETACH WHERE { ?r {type: "$ConceptType", name: "Rejection"} }',
    ],
)
def test_no_statement_writes_or_deletes_a_rejection(nexus: Nexus, text: str) -> None:
    nexus.reject(FACT_OF_ADA, reason="No.")
    before = nexus.snapshot()
    refused(lambda: nexus.execute(text), "is written by a rejection alone")
    assert nexus.snapshot() == before


def test_the_type_cannot_be_defined_by_others(nexus: Nexus) -> None:
    define = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Rejection"} } }'
    refused(lambda: nexus.execute(define), "is written by a rejection alone")


def test_a_rejection_is_not_merged_and_not_forgotten(nexus: Nexus) -> None:
    names = [
        nexus.reject((ADA, "attributes.home", value), reason="No.") for value in ("Moon", "Mars")
    ]
    refused(lambda: merge(nexus, *names, type="Rejection"), "")
    refused(lambda: nexus.forget([f"C:Rejection/{names[0]}"]), "is written by a rejection alone")
    assert len(nexus.rejections()) == 2


# Who rejects, and lifting ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["model", "job"])
def test_only_a_person_rejects_and_lifts(nexus: Nexus, kind: Any) -> None:
    with nexus.acting(author="claude", kind=kind):
        refused(lambda: nexus.reject(FACT_OF_ADA, reason="No."), f"{kind}/claude")
    with nexus.acting(kind=kind):
        refused(lambda: nexus.reject(FACT_OF_ADA, reason="No."), f"{kind}/owner is none")
    name = nexus.reject(FACT_OF_ADA, reason="No.")
    with nexus.acting(author="claude", kind=kind):
        refused(lambda: nexus.lift(name), f"{kind}/claude")
        refused(lambda: state(nexus))
    with nexus.acting(author="ada", kind="human", access="propose"):
        refused(lambda: nexus.lift(name), "has the access 'propose' only")
    with nexus.acting(author="ada", kind="human", access="write"):
        nexus.lift(name)
        assert nexus.reject(FACT_OF_ADA, reason="No.") == name
    assert [each["by"] for each in nexus.rejections()] == ["human/ada"]


def test_what_is_lifted_may_be_written_and_stays_retracted_until_a_person_says_so(
    nexus: Nexus,
) -> None:
    id = state(nexus)
    name = nexus.reject(id, reason="No.")
    refused(lambda: state(nexus))
    nexus.lift(name)
    assert nexus.rejections() == []
    assert state(nexus) == id
    assert nexus.execute(STATUS) == ["retracted"]
    nexus.execute('UPDATE ?l SET METADATA { status: "active" } WHERE { ?l (id: :i) }', i=id)
    assert nexus.execute(STATUS) == ["active"]
    for absent in (name, "", "\ud800", "x" * 64, None):
        with pytest.raises(KipError) as caught:
            nexus.lift(absent)  # type: ignore[arg-type]
        assert caught.value.code == "KIP_3002"


def test_rejecting_and_lifting_are_in_the_history(nexus: Nexus) -> None:
    start = nexus.info()["commit"]
    with nexus.acting(author="ada", kind="human", session="s"):
        nexus.lift(nexus.reject(FACT_OF_ADA, reason="No."))
    commits = nexus.changes(start)["commits"]
    assert [each["kind"] for each in commits] == ["REJECT", "LIFT"]
    assert {(each["author"], each["session"]) for each in commits} == {("ada", "s")}
    assert all(each["at"] for each in commits)


# It lasts -------------------------------------------------------------------------------------


def test_a_nexus_without_rejections_is_as_before(nexus: Nexus) -> None:
    state(nexus)
    assert "Rejection" not in nexus.snapshot()


def test_it_survives_snapshot_backup_forgetting_and_compaction(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        nexus.reject(state(nexus), reason="No.")
        nexus.forget([ADA])
        refused(lambda: state(nexus))
        nexus.compact_history(nexus.info()["commit"])
        refused(lambda: state(nexus))
        nexus.optimize()
        refused(lambda: state(nexus))
        nexus.backup(tmp_path / "copy")
        snapshot = nexus.snapshot()
    for folder in ("kb", "copy"):
        with Nexus.open(tmp_path / folder) as again:
            refused(lambda again=again: state(again))  # type: ignore[misc]
            assert again.check()["faults"] == []
    with Nexus.memory() as restored:
        assert restored.rejections() == []
        restored.restore(snapshot)
        refused(lambda: state(restored))
        assert state(restored, o="Good Corp").startswith("P:")


def test_a_nexus_in_a_sparql_store_asks_it() -> None:
    graph = rdflib.Graph()
    nexus, other = Nexus.connect(graph), Nexus.connect(graph)
    nexus.execute(SCHEMA)
    id = state(nexus)
    name = other.reject(id, reason="No.")
    refused(lambda: state(nexus))
    refused(lambda: state(nexus, o="EVIL CORP"))
    assert state(nexus, o="Good Corp").startswith("P:")
    other.lift(name)
    assert state(nexus) == id


def test_it_is_in_no_answer_of_search_and_primer(nexus: Nexus) -> None:
    nexus.execute(HOME, home="Paris")
    primer = nexus.execute("DESCRIBE PRIMER")
    nexus.reject((ADA, "attributes.home", "The Moon"), reason="Astronauts only, zanzibar.")
    after = nexus.execute("DESCRIBE PRIMER")
    assert after == primer
    assert nexus.execute('SEARCH CONCEPT "zanzibar"') == []
    assert nexus.execute('SEARCH CONCEPT "Rejection"') == []
    nexus.execute(HOME, home="Zanzibar")
    assert len(nexus.execute('SEARCH CONCEPT "Ada"')) == 1


def test_it_is_in_no_capsule_and_on_no_published_page(nexus: Nexus, tmp_path: Path) -> None:
    nexus.execute(HOME, home="Paris")
    nexus.reject((ADA, "attributes.home", "The Moon"), reason="Astronauts only, zanzibar.")
    capsule = nexus.execute("EXPORT ?x WHERE { ?x {} }")["capsule"]
    assert "Rejection" not in capsule
    with Nexus.memory() as other:
        other.apply_capsule(capsule)
        homes = 'FIND(?p.attributes.home) WHERE { ?p {type: "Person", name: "Ada"} }'
        assert other.execute(homes) == ["Paris"]
    nexus.publish(tmp_path / "pages")
    pages = [path.read_text() for path in (tmp_path / "pages").rglob("*") if path.is_file()]
    assert not any("zanzibar" in page for page in pages)
    assert any("Paris" in page for page in pages)


@pytest.mark.parametrize(
    ("rejected", "spelling"),
    [
        (170, "1.7e2"),
        (170, "+170"),
        (170, "170.0"),
        (170, " 0170"),
        (170, "\u0661\u0667\u0660"),
        ("170.00", 170),
        (0.5, ".50"),
        ([170], ["170.0"]),
        (10**15, "1e15"),
        ("555-0199", "\u0665\u0665\u0665-\u0660\u0661\u0669\u0669"),
    ],
)
def test_a_number_in_other_forms(nexus: Nexus, rejected: Any, spelling: Any) -> None:
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { size: :size } } }'
    nexus.execute(write, size=spelling)
    nexus.reject((ADA, "attributes.size", rejected), reason="No.")
    assert nexus.execute('FIND(?p.attributes.size) WHERE { ?p {type: "Person", name: "Ada"} }') == [
        None
    ]
    refused(lambda: nexus.execute(write, size=spelling))
    nexus.execute(write, size=171)


def test_a_type_of_a_subject_that_looks_alike(nexus: Nexus) -> None:
    nexus.reject(state(nexus), reason="No.")
    for type in ("person", "PERSON"):
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: :type} } }', type=type)
        refused(lambda: nexus.execute(FACT, st=type, s="Ada", ot="Company", o="Evil Corp"))  # noqa: B023
    nexus.execute(FACT, st="Company", s="Ada", ot="Company", o="Evil Corp")


def test_a_fact_about_a_fact_whose_end_gets_a_name(nexus: Nexus) -> None:
    of_bob, of_robert = state(nexus, "Bob"), state(nexus, "Robert")
    says = """UPSERT {
      CONCEPT ?a { {type: "Person", name: "Ada"} }
      PROPOSITION { (?a, "works_at", (id: :id)) }
    }"""
    about_bob = nexus.execute(says, id=of_bob)["upsert_proposition_links"][0]
    nexus.execute(says, id=of_robert)
    nexus.reject(about_bob, reason="No.")
    give = 'UPDATE ?p SET ATTRIBUTES { aliases: [:name] } WHERE { ?p {name: "Robert"} }'
    refused(lambda: nexus.execute(give, name="bob"))
    nexus.execute(give, name="Rob")


@pytest.mark.parametrize(
    "aliases",
    [
        [["Ada"]],
        [{"@value": "Ada", "@language": "en"}],
        {"@value": "ada", "@language": "en"},
        ["Zed", [{"@value": "ADA", "@language": "de"}]],
    ],
)
def test_an_alias_with_a_language_or_in_an_array(nexus: Nexus, aliases: Any) -> None:
    nexus.reject(state(nexus), reason="No.")
    state(nexus, "Zed")
    give = 'UPDATE ?p SET ATTRIBUTES { aliases: :aliases } WHERE { ?p {name: "Zed"} }'
    refused(lambda: nexus.execute(give, aliases=aliases))
    nexus.execute(give, aliases=[["Zeta"], {"@value": "Zeta", "@language": "en"}])


def test_a_value_of_a_fact_whose_end_gets_many_names(nexus: Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Zed"} } }')
    id = state(nexus)
    set_pay = "UPDATE ?l SET ATTRIBUTES { pay: :pay } WHERE { ?l (id: :id) }"
    give = 'UPDATE ?p SET ATTRIBUTES { aliases: :names } WHERE { ?p {name: "Zed"} }'
    nexus.reject((id, "attributes.pay", 100), reason="No.")
    nexus.execute(give, names=[f"Zed {number}" for number in range(300)])
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Person", name: "Ada"} ?b {name: "Zed"} }'
    )
    refused(lambda: nexus.execute(set_pay, id=id, pay=100))
    nexus.execute(set_pay, id=id, pay=99)
    # What has more names than can be compared is not written.
    give = 'UPDATE ?c SET ATTRIBUTES { aliases: :names } WHERE { ?c {type: "Company"} }'
    nexus.execute(give, names=[f"Evil {number}" for number in range(20)])
    with pytest.raises(KipError, match="6,342 facts") as caught:
        nexus.execute(set_pay, id=id, pay=100)
    assert caught.value.code == "KIP_4002"
