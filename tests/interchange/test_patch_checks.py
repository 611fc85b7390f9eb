"""A patch is checked like a statement: protection, the schema, definitions in use, metadata."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import kiprdf
from kiprdf.interchange.differences import patch
from tests.interchange.pairs import triples
from tests.nexus.support import StoppedClock, untouched

ATTR, META = "urn:kip:attribute", "urn:kip:metadata"
BASE = "urn:kip:nexus"
XSD = "http://www.w3.org/2001/XMLSchema#"


def opened_nexus(*, strict: bool = True) -> kiprdf.Nexus:
    """A nexus with the bundled schema, sensors in rooms, and a link to a link."""
    nexus = kiprdf.Nexus.memory(clock=StoppedClock(), strict_schema=strict)
    nexus.execute(STRICT)
    return nexus


STRICT = """
UPSERT {
  CONCEPT {
    {type: "$ConceptType", name: "Sensor"}
    SET ATTRIBUTES {
      description: "Measures.", instance_schema: {unit: {type: "string", is_required: true}}
    }
  }
  CONCEPT { {type: "$ConceptType", name: "Room"} SET ATTRIBUTES { description: "A place." } }
  CONCEPT {
    {type: "$PropositionType", name: "hangs_in"}
    SET ATTRIBUTES { description: "Where.", subject_types: ["Sensor"], object_types: ["Room"] }
  }
}
UPSERT {
  CONCEPT ?hall { {type: "Room", name: "Hall"} }
  CONCEPT { {type: "Room", name: "Attic"} }
  CONCEPT {
    {type: "Sensor", name: "t1"}
    SET ATTRIBUTES { unit: "C" } SET PROPOSITIONS { ("hangs_in", ?hall) }
  }
}
"""
SENSOR, HALL = f"<{BASE}/Sensor/t1>", f"<{BASE}/Room/Hall>"
SELF = f"<{BASE}/Person/$self>"
VERSION = f'<{META}/_version> "1"^^<{XSD}integer>'


def of(nexus: kiprdf.Nexus, *words: str) -> list[str]:
    """The triples with some words, in N-Triples."""
    rows = (f"{triple}" for triple in triples(nexus))
    return sorted(row for row in rows if all(word in row for word in words))


def patch_of(deleted: list[str], added: list[str] = []) -> str:  # noqa: B006
    return "".join(
        f"{sign} {row} .\n" for sign, rows in (("D", deleted), ("A", added)) for row in rows
    )


def directives(nexus: kiprdf.Nexus) -> str:
    [row] = of(nexus, f"{SELF} <{ATTR}/core_directives>")
    return patch_of([row], [row.replace("Integrity", "Obedience")])


def without_directives(nexus: kiprdf.Nexus) -> str:
    return patch_of(of(nexus, f"{SELF} <{ATTR}/core_directives>"))


def changed_meta_type(nexus: kiprdf.Nexus) -> str:
    row = f"<{BASE}/$ConceptType/$PropositionType> <{ATTR}/description>"
    return patch_of(of(nexus, row), [f'{row} "Anything."'])


def deleted_core_link(nexus: kiprdf.Nexus) -> str:
    """A link of a protected subject, with its fact."""
    fact = f"<{BASE}/$ConceptType/Domain> <{BASE}/$PropositionType/belongs_to_domain>"
    [link] = (row.split(" ")[0] for row in of(nexus, fact, "reifies"))
    return patch_of(
        sorted({*of(nexus, f"{link} "), *(r for r in of(nexus, fact) if "<<" not in r)})
    )


def deleted_domain(nexus: kiprdf.Nexus) -> str:
    """The definition of a protected type, while there are domains."""
    links = {row.split(" ")[0] for row in of(nexus, f"<{BASE}/$ConceptType/Domain> ", "reifies")}
    rows = of(nexus, f"<{BASE}/$ConceptType/Domain>")
    rows = [row for row in rows if row.startswith(f"<{BASE}/$ConceptType/Domain> ")]
    return patch_of([*rows, *(row for link in links for row in of(nexus, f"{link} "))])


def missing_attribute(nexus: kiprdf.Nexus) -> str:
    return patch_of(of(nexus, f"{SENSOR} <{ATTR}/unit>"))


def wrong_type(nexus: kiprdf.Nexus) -> str:
    row = f"{SENSOR} <{ATTR}/unit>"
    return patch_of(of(nexus, row), [f'{row} "1"^^<{XSD}integer>'])


def new_instance(nexus: kiprdf.Nexus) -> str:
    node = f"<{BASE}/Sensor/t2>"
    return patch_of([], [
        f"{node} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{BASE}/$ConceptType/Sensor>",
        f'{node} <http://www.w3.org/2000/01/rdf-schema#label> "t2"',
        f"{node} {VERSION}",
    ])  # fmt: skip


def other_end(nexus: kiprdf.Nexus) -> str:
    """A link to a room becomes one to a person."""
    rows = of(nexus, SENSOR, HALL)
    return patch_of(rows, [row.replace(HALL, SELF) for row in rows])


def defined(nexus: kiprdf.Nexus) -> str:
    """The definition of a type of which there are rooms."""
    rows = of(nexus, f"<{BASE}/$ConceptType/Room> ")
    return patch_of([row for row in rows if row.startswith(f"<{BASE}/$ConceptType/Room> ")])


def time(nexus: kiprdf.Nexus) -> str:
    row = f"{SENSOR} <{META}/_created_at>"
    return patch_of(of(nexus, row), [f'{row} "long ago"'])


def trail(nexus: kiprdf.Nexus) -> str:
    return patch_of([], [f'{SENSOR} <{META}/_merged_from> "Sensor:t0"'])


def version(nexus: kiprdf.Nexus) -> str:
    row = f"{SENSOR} <{META}/_version>"
    return patch_of(of(nexus, row), [f'{row} "0"^^<{XSD}integer>'])


HARMLESS = f'A {HALL} <{ATTR}/floor> "1"^^<{XSD}integer> .\n'


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    """A nexus that no patch changes."""
    return opened_nexus()


@pytest.mark.parametrize(
    ("hostile", "code", "named"),
    [
        (directives, "KIP_3004", "C:Person/$self"),
        (without_directives, "KIP_3004", "C:Person/$self"),
        (changed_meta_type, "KIP_3004", "C:$ConceptType/$PropositionType"),
        (deleted_core_link, "KIP_3004", "core schema"),
        (deleted_domain, "KIP_3004", "C:$ConceptType/Domain"),
        (defined, "KIP_2002", "'Room' still has 2 concepts."),
        (missing_attribute, "KIP_2002", "Sensor 't1' lacks the required attribute 'unit'."),
        (wrong_type, "KIP_2003", "'unit' of Sensor 't1'"),
        (new_instance, "KIP_2002", "Sensor 't2' lacks"),
        (other_end, "KIP_2002", "The object of 'hangs_in' may be Room, and is Person"),
        (time, "KIP_2002", "'_created_at' of C:Sensor/t1"),
        (trail, "KIP_2002", "'_merged_from' of C:Sensor/t1"),
        (version, "KIP_2002", "_version"),
    ],
)
def test_a_patch_is_checked_like_a_statement(
    hostile: Callable[[kiprdf.Nexus], str], code: str, named: str, nexus: kiprdf.Nexus
) -> None:
    rows = hostile(nexus)
    assert rows
    # The rest of the patch is not written either.
    for dry_run in (True, False):
        with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
            nexus.apply_patch(HARMLESS + rows, dry_run=dry_run)
        assert raised.value.code == code, raised.value
        assert named in raised.value.message
        assert raised.value.hint


def test_a_patch_that_fits_is_written_unless_it_is_only_tried() -> None:
    nexus = opened_nexus()
    floor = 'FIND(?r.attributes.floor) WHERE { ?r {type: "Room", name: "Hall"} }'
    assert nexus.apply_patch(HARMLESS, dry_run=True) == {"deleted": 0, "added": 1}
    assert nexus.execute(floor) == [None]
    assert nexus.apply_patch(HARMLESS) == {"deleted": 0, "added": 1}
    assert nexus.execute(floor) == [1]


@pytest.mark.parametrize("hostile", [missing_attribute, wrong_type, new_instance, other_end])
def test_a_schema_is_guidance_for_patches_too(hostile: Callable[[kiprdf.Nexus], str]) -> None:
    nexus = opened_nexus(strict=False)
    nexus.apply_patch(hostile(nexus))
    assert nexus.check()["faults"] == []


def test_a_patch_carries_versions_and_times_also_of_what_is_protected() -> None:
    before, after = opened_nexus(), kiprdf.Nexus.memory()
    after.execute(STRICT)
    after.execute('UPDATE ?p SET ATTRIBUTES { mood: "calm" } WHERE { ?p {name: "$self"} }')
    after.execute('DELETE CONCEPT ?r DETACH WHERE { ?r {type: "Room"} }')
    after.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Room"} }')
    there, back = (
        patch.write(*patch.between(triples(one), triples(other)))
        for one, other in ((before, after), (after, before))
    )
    text = before.snapshot()
    before.apply_patch(there)
    assert before.snapshot() == after.snapshot()
    before.apply_patch(back)
    assert before.snapshot() == text
