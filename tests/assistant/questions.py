"""What the assistant is asked, and the answers that its record of the truth gives.

``ASKED`` has a pair of functions for each question: one asks a nexus, the other a record. Names
are turned into ids by hand: ``C:Person/Ada Adler``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.assistant.record import BUNDLED, End, Fact, Name, Record

CLOSED = ("kept", "broken", "released")
ENDED = ("completed", "failed", "cancelled")


@dataclass
class Asked:
    """A nexus that is asked: ``ask`` sends a read-only request, ``now`` is the time.

    ``record`` is read to choose what is searched for, and to check facts that changed at the same
    time, whose order is free.
    """

    ask: Callable[..., Any]
    now: str
    record: Record

    def rows(self, command: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a FIND with several expressions."""
        return list(zip(*self.ask(command, **parameters), strict=True))

    @cached_property
    def primer(self) -> dict[str, Any]:
        return dict(self.ask("DESCRIBE PRIMER"))


Question = tuple[Callable[[Asked], Any], Callable[[Record], Any]]


def present(counts: dict[str, int]) -> dict[str, int]:
    """The counts above 0."""
    return {name: number for name, number in counts.items() if number}


def of_type(record: Record, kind: str) -> dict[str, Any]:
    """The concepts of a type by name."""
    return {name.name: concept for name, concept in record.concepts.items() if name.type == kind}


def id_of(name: End) -> str:
    assert isinstance(name, Name)
    return f"C:{name.type}/{name.name}"


# How much there is ----------------------------------------------------------------------------


def types(record: Record) -> dict[str, int]:
    return dict(Counter(BUNDLED) + Counter(name.type for name in record.concepts))


def predicates(record: Record) -> dict[str, int]:
    counts = Counter(fact.predicate for fact in record.facts.values())
    # The bundled definitions are filed.
    return {**counts, "belongs_to_domain": counts["belongs_to_domain"] + 28}


def filed(record: Record, domain: str) -> list[Name]:
    """The members of a domain."""
    facts = record.facts_of("belongs_to_domain")
    return [f.subject for f in facts if f.object == Name("Domain", domain)]


def unfiled(record: Record) -> dict[str, int]:
    filed = {fact.subject for fact in record.facts_of("belongs_to_domain")}
    counts = Counter(name.type for name in record.concepts if name not in filed)
    del counts["Domain"]
    # $self and $system are filed nowhere.
    return {**counts, "Person": counts["Person"] + 2}


def members(record: Record) -> dict[str, int]:
    sizes = {domain: len(filed(record, domain)) for domain in ("People", "Work")}
    return {"Archived": 0, "CoreSchema": 28, "System": 0, "Unsorted": 0, **sizes}


def largest(counts: dict[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:5]


def domain_of(asked: Asked, name: str) -> dict[str, Any]:
    (domain,) = [item for item in asked.primer["domain_map"] if item["name"] == name]
    return dict(domain)


def key_concepts(record: Record, domain: str) -> list[str]:
    links: Counter[str] = Counter()
    for name in filed(record, domain):
        if not name.type.startswith("$"):
            at = record.facts_at(name)
            links[name.name] += sum(fact.predicate != "belongs_to_domain" for fact in at)
    return largest(links)


def key_types_of_work(record: Record) -> list[str]:
    # The domain defines both types: all projects and companies count, filed or not.
    return largest({kind: len(of_type(record, kind)) for kind in ("Project", "Company")})


# What changed, what happened ------------------------------------------------------------------


def recent_concepts(record: Record) -> list[tuple[str, str]]:
    changes = [(concept.changed_at, id_of(name)) for name, concept in record.concepts.items()]
    changes.sort(key=lambda change: change[1])
    changes.sort(key=lambda change: change[0], reverse=True)
    return [(id, at) for at, id in changes[:5]]


def recent_facts(record: Record) -> list[str]:
    changes = [f.changed_at for f in record.facts.values() if f.predicate != "belongs_to_domain"]
    return sorted(changes, reverse=True)[:5]


def shown_facts(asked: Asked) -> list[str]:
    """The times of the facts that the primer shows, if they are those of the record."""
    at = {}
    for fact in asked.record.facts.values():
        superseded = fact.metadata.get("superseded") is True
        at[*_ends(fact), superseded] = fact.changed_at
    shown = []
    for entry in asked.primer["recent_changes"]["propositions"]:
        key = (entry["subject"], entry["predicate"], entry["object"])
        if "P:" in entry["object"]:
            key = (entry["subject"], entry["predicate"], entry["object"].partition(":")[0])
        changed_at = entry["changed_at"]
        assert at.get((*key, entry.get("superseded", False))) is not None, entry
        shown.append(changed_at)
    return shown


def _ends(fact: Fact) -> tuple[str, str, str]:
    """The ids of a fact; the id of a fact about which it is cannot be computed by hand."""
    object = "P" if isinstance(fact.object, Fact) else id_of(fact.object)
    return id_of(fact.subject), fact.predicate, object


LAST_EVENTS = """
FIND(?event.name) WHERE { ?event {type: "Event"} }
ORDER BY ?event.attributes.start_time DESC LIMIT 10
"""


def last_events(record: Record) -> list[str]:
    events = of_type(record, "Event")
    ordered = sorted(events, key=lambda name: events[name].attributes["start_time"], reverse=True)
    return ordered[:10]


LAST_PEOPLE = """
FIND(?person.metadata._updated_at) WHERE { ?person {type: "Person"} }
ORDER BY ?person.metadata._updated_at DESC LIMIT 5
"""


def last_people(record: Record) -> list[str]:
    people = of_type(record, "Person").values()
    return sorted((person.changed_at for person in people), reverse=True)[:5]


SINCE = """
FIND(?x.name) WHERE { ?x {type: "Preference"} FILTER(?x.metadata._updated_at >= :day) }
ORDER BY ?x.name
"""


def preferences_of_today(asked: Asked) -> list[str]:
    return list(asked.ask(SINCE, day=asked.now[:10]))


# What waits -----------------------------------------------------------------------------------


def open_promises(record: Record) -> dict[str, Any]:
    promises = of_type(record, "Commitment")
    return {n: c.attributes for n, c in promises.items() if c.attributes["status"] not in CLOSED}


def waiting_promises(record: Record) -> dict[str, Any]:
    waiting = open_promises(record)

    def rank(name: str) -> Any:
        return waiting[name]["due_at"], -waiting[name]["importance"]

    first = sorted(waiting, key=rank)[:5]
    return {
        "count": len(waiting),
        "due": sum(promise["due_at"] <= record.now for promise in waiting.values()),
        "next": [
            {
                "name": name,
                **{
                    key: waiting[name][key]
                    for key in ("description", "promised_by", "promised_to", "due_at")
                },
            }
            for name in first
        ],
    }


LATE = """
FIND(?promise.name)
WHERE {
  ?promise {type: "Commitment"}
  FILTER(?promise.attributes.status == "open" && ?promise.attributes.due_at < :now)
}
ORDER BY ?promise.attributes.importance DESC, ?promise.name
"""


def late_promises(record: Record) -> list[str]:
    late = {n: p for n, p in open_promises(record).items() if p["due_at"] < record.now}
    return sorted(late, key=lambda name: (-late[name]["importance"], name))


def waiting_tasks(record: Record) -> tuple[int, list[str]]:
    tasks = of_type(record, "SleepTask")
    waiting = {n: c.attributes for n, c in tasks.items() if c.attributes["status"] not in ENDED}
    ordered = sorted(waiting, key=lambda n: (-waiting[n]["priority"], waiting[n]["requested_at"]))
    return len(waiting), ordered[:5]


def shown_tasks(asked: Asked) -> tuple[int, list[str]]:
    tasks = asked.primer["waiting"]["sleep_tasks"]
    return tasks["count"], [task["name"] for task in tasks["next"]]


def by_status(kind: str) -> Question:
    """The number of concepts of a type by their status."""

    def ask(asked: Asked) -> dict[str, int]:
        command = "FIND(?x.attributes.status, COUNT(?x)) WHERE { ?x {type: :kind} }"
        return dict(asked.rows(command, kind=kind))

    def expected(record: Record) -> dict[str, int]:
        concepts = of_type(record, kind).values()
        return dict(Counter(concept.attributes["status"] for concept in concepts))

    return ask, expected


# What is the case -----------------------------------------------------------------------------

EMPLOYERS = """
FIND(?person.name, ?company.name)
WHERE { ?link (?person, "works_at", ?company) FILTER(?link.metadata.superseded != true) }
"""
EVER = """
FIND(?person.name, ?company.name, ?link.metadata.superseded)
WHERE { ?link (?person, "works_at", ?company) }
"""
STATEMENTS = """
FIND(?witness.name, ?person.name, ?company.name, ?said.metadata.confidence)
WHERE { ?said (?witness, "stated", (?person, "works_at", ?company)) }
"""
TALKS = """
FIND(?person.name, ?person.attributes.talks, ?person.attributes.birthday)
WHERE { ?person {type: "Person"} FILTER(?person.attributes.person_class == "Human") }
"""
UNGROUNDED = """
FIND(COUNT(?i)) WHERE { ?i {type: "Insight"} NOT { (?i, "derived_from", ?event) } }
"""
STEPS = """
FIND(?step.name, ?step.attributes.status)
WHERE { ({type: "Experience", name: "send_report:3"}, "has_step", ?step) }
ORDER BY ?step.attributes.position
"""


def employments(record: Record) -> list[tuple[Any, ...]]:
    facts = record.facts_of("works_at")
    return sorted(
        ((f.subject.name, f.object.name, f.metadata.get("superseded")) for f in facts),
        key=str,
    )


def current_employments(record: Record) -> list[tuple[Any, ...]]:
    return [(person, company) for person, company, ended in employments(record) if not ended]


def statements(record: Record) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for fact in record.facts_of("stated"):
        assert isinstance(fact.subject, Name)
        assert isinstance(fact.object, Fact)
        person, company = fact.object.subject, fact.object.object
        assert isinstance(person, Name)
        assert isinstance(company, Name)
        rows.append((fact.subject.name, person.name, company.name, fact.metadata["confidence"]))
    return sorted(rows, key=str)


def people(record: Record) -> list[tuple[Any, ...]]:
    attributes = {n: c.attributes for n, c in of_type(record, "Person").items()}
    return sorted(((n, a.get("talks"), a.get("birthday")) for n, a in attributes.items()), key=str)


def ungrounded(record: Record) -> int:
    grounded = {fact.subject for fact in record.facts_of("derived_from")}
    return sum(Name("Insight", name) not in grounded for name in of_type(record, "Insight"))


def steps(record: Record) -> list[tuple[Any, ...]]:
    status = record.concepts[Name("Experience", "send_report:3")].attributes["status"]
    ended = ("send_report:3#3", status)
    return [("send_report:3#1", "succeeded"), ("send_report:3#2", "succeeded"), ended]


# Searching ------------------------------------------------------------------------------------


def searched(record: Record) -> list[str]:
    """Some names, a third of them of people in Chinese, Japanese or Korean."""
    names = sorted(of_type(record, "Person"))
    return [name for name in names if name > "\u3000"][:4] + names[::12]


def first_hits(asked: Asked, terms: Iterable[str], kind: str) -> list[str]:
    command = "SEARCH CONCEPT :term WITH TYPE :kind LIMIT 3"
    hits = [asked.ask(command, term=term, kind=kind) for term in terms]
    return [some[0]["name"] if some else "" for some in hits]


def aliases(record: Record, prefix: str) -> dict[str, str]:
    """The concepts that have an alias with a prefix, by the alias."""
    return {
        alias: name.name
        for name, concept in sorted(record.concepts.items())
        for alias in concept.attributes.get("aliases", ())
        if alias.startswith(prefix)
    }


# Types ----------------------------------------------------------------------------------------


def promises_in_use(asked: Asked) -> tuple[Any, ...]:
    usage = asked.ask('DESCRIBE CONCEPT TYPE "Commitment"')["usage"]
    attributes = {key: entry["count"] for key, entry in usage["attributes"].items()}
    origin = usage["outgoing"].get("derived_from", {}).get("types", {})
    return usage["count"], attributes["status"], attributes.get("closed_at", 0), origin


def promises_by_use(record: Record) -> tuple[Any, ...]:
    promises = of_type(record, "Commitment")
    closed = sum("closed_at" in promise.attributes for promise in promises.values())
    facts = record.facts_of("derived_from")
    origins = sum(isinstance(f.subject, Name) and f.subject.type == "Commitment" for f in facts)
    return len(promises), len(promises), closed, present({"Event": origins})


def statements_in_use(asked: Asked) -> dict[str, Any]:
    return dict(asked.ask('DESCRIBE PROPOSITION TYPE "stated"')["usage"])


def statements_by_use(record: Record) -> dict[str, Any]:
    number = len(record.facts_of("stated"))
    return {
        "count": number,
        "subjects": {"Person": number},
        "objects": {"(works_at)": number},
    }


def by_text(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=str)


ASKED: dict[str, Question] = {
    "concepts by type": (lambda a: present(a.primer["totals"]["concept_types"]), types),
    "facts by predicate": (
        lambda a: present(a.primer["totals"]["proposition_types"]),
        predicates,
    ),
    "unfiled concepts by type": (lambda a: a.primer["totals"]["unfiled_types"], unfiled),
    "members of domains": (
        lambda a: {d["name"]: d["concept_count"] for d in a.primer["domain_map"]},
        members,
    ),
    "key types of work": (
        lambda a: domain_of(a, "Work")["key_concept_types"],
        key_types_of_work,
    ),
    "key concepts of work": (
        lambda a: domain_of(a, "Work")["key_concepts"],
        lambda r: key_concepts(r, "Work"),
    ),
    "key concepts of people": (
        lambda a: domain_of(a, "People")["key_concepts"],
        lambda r: key_concepts(r, "People"),
    ),
    "size of the primer": (
        lambda a: len(json.dumps(a.primer, ensure_ascii=False).encode()) <= 8 * 1024,
        lambda r: True,
    ),
    "recent concepts": (
        lambda a: [
            (entry["id"], entry["changed_at"]) for entry in a.primer["recent_changes"]["concepts"]
        ],
        recent_concepts,
    ),
    "recent facts": (shown_facts, recent_facts),
    "last ten events": (lambda a: a.ask(LAST_EVENTS), last_events),
    "people who changed last": (lambda a: a.ask(LAST_PEOPLE), last_people),
    "preferences of today": (
        preferences_of_today,
        lambda r: sorted(
            name
            for name, concept in of_type(r, "Preference").items()
            if concept.changed_at >= r.now[:10]
        ),
    ),
    "waiting promises": (lambda a: a.primer["waiting"]["commitments"], waiting_promises),
    "late promises": (lambda a: a.ask(LATE, now=a.now), late_promises),
    "waiting tasks": (shown_tasks, waiting_tasks),
    "tasks by status": by_status("SleepTask"),
    "promises by status": by_status("Commitment"),
    "current employers": (lambda a: by_text(a.rows(EMPLOYERS)), current_employments),
    "all employers": (lambda a: by_text(a.rows(EVER)), employments),
    "who said what": (lambda a: by_text(a.rows(STATEMENTS)), statements),
    "talks and birthdays": (lambda a: by_text(a.rows(TALKS)), people),
    "insights whose event is forgotten": (lambda a: a.ask(UNGROUNDED), ungrounded),
    "steps of an attempt": (lambda a: a.rows(STEPS), steps),
    "search by name": (lambda a: first_hits(a, searched(a.record), "Person"), searched),
    "search by alias": (
        lambda a: first_hits(a, aliases(a.record, "PRJ-"), "Project"),
        lambda r: list(aliases(r, "PRJ-").values()),
    ),
    "search by the alias of a double": (
        lambda a: first_hits(a, aliases(a.record, "dup"), "Person"),
        lambda r: list(aliases(r, "dup").values()),
    ),
    "use of promises": (promises_in_use, promises_by_use),
    "use of statements": (statements_in_use, statements_by_use),
}
