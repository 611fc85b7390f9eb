"""A nexus as large as a person's after half a year: what the pages for people are tried on.

5 000 concepts of 40 types, 20 000 facts, some 150 commits of six authors, hubs of 300 neighbours, a
type with 2 200 members, facts about facts, texts of 2 000 characters, names of every script, and
names that attack a page. It is the same each time.

    python -m tests.serve.generated FOLDER
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import kiprdf

BASE = "http://kb.example/kb/"
PEOPLE, COMPANIES, CITIES, COUNTRIES, TOPICS, PAPERS, EVENTS = 2_200, 300, 250, 60, 120, 400, 200
OTHERS = 1_500
"""Members of the other types together."""
HUB_PERSON, HUB_COMPANY, HUB_CITY = "Ada Byron", "Orbis Labs", "Lisbon"
LONG = "李明 Long Text"
ODDITY = "Oddity"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE people; --",
    '=HYPERLINK("http://elsewhere.example","click")',
    "+1+1|cmd",
    "x" * 500,
    "👩‍👩‍👧‍👦 family 🚀",
    "left\u202eright",
    "a/b?c=d&e#f%20g",
    "../../etc/passwd",
    "{{ 7 * 7 }}",
    "مرحبا بالعالم",
    "中文名字 — 日本語の名前",
)
LINES = "first line\nsecond line\tbehind a tab\r\n=1+1"
"""A value; no name has control characters."""
AUTHORS: tuple[tuple[str, str], ...] = (
    ("claude-desktop", "model"),
    ("research-agent", "model"),
    ("nightly-import", "job"),
    ("ada", "human"),
    ("ben", "human"),
    ("mail-agent", "model"),
)
SOURCES = (
    *(f"Conversation {number}" for number in range(1, 41)),
    "https://intranet.example/directory",
    "annual report 2025, page 14",
    "会议记录 2025-11-03",
)
TYPES = {
    "People": ("Role", "Team", "Skillset", "Language", "Family"),
    "Organizations": ("Company", "University", "Agency", "Department", "Investor"),
    "Places": ("City", "Country", "Building", "Room", "Region", "River", "Airport"),
    "Science": ("Topic", "Paper", "Dataset", "Method", "Experiment", "Instrument", "Grant"),
    "Work": ("Project", "Product", "Task", "Contract", "Invoice", "Release", "Incident", "Tool"),
    "Culture": ("Book", "Film", "Song", "Recipe", "Sport", "Museum", "Festival", ODDITY),
}
"""The types by domain; those of every nexus (Person, Event, …) come to them."""
_NAMES = """
Ada Ben Clara Dov Elif Farid Greta Hugo Ines Jan Kofi Lena Mei Nora Omar Pia Quentin Rosa Sven Tala
Uma Viktor Wen Ximena Yusuf Zoë Åsa Łukasz 伟 芳 さくら 健太 محمد فاطمة Anh Björn Chiara Dmitri
Eun-ji Fatou Goran Hana Ivo Jelena Kwame
;
Abara Berg Costa Dahl Eriksen Fontaine García Haddad Ito Jansen Kowalski Lindqvist Moreau Nguyễn
Okafor Petrov Quispe Rossi Šimić Tanaka Ueda Vogel Wang Xu Yılmaz Zhao Ahmadi Byrne Cohen Diallo
Evans Fischer Gupta Horvat Ivanova Jørgensen Kim Laurent Meyer Novák O'Neil Park Reyes Silva Torres
王 山田 العلي Østergaard Cruz-Núñez
;
amber basin cedar delta ember fjord glacier harbor iris juniper kelp lagoon meadow nectar orchid
prairie quartz river saffron tundra umber valley willow xylem yarrow zephyr
"""
FIRST, LAST, WORDS = (part.split() for part in _NAMES.split(";"))
PREDICATES = {
    "works_for": ("Person", "Company"),
    "lives_in": ("Person", "City"),
    "member_of": ("Person", "Team"),
    "wrote": ("Person", "Paper"),
    "attends": ("Person", "Event"),
    "located_in": ("*", "*"),
    "cites": ("Paper", "Paper"),
    "about": ("*", "Topic"),
    "part_of": ("*", "*"),
    "uses": ("*", "*"),
    "stated": ("Person", "*"),
    "contradicts": ("*", "*"),
}
OF_A_PERSON = (
    ("works_for", "Company", 1),
    ("lives_in", "City", 1),
    ("knows", "Person", 2),
    ("interested_in", "Topic", 1),
    ("member_of", "Team", 1),
)
OF_A_TYPE = {
    "Company": (("located_in", "City", 1), ("about", "Topic", 2)),
    "City": (("located_in", "Country", 1),),
    "Paper": (("cites", "Paper", 3), ("about", "Topic", 2)),
    "Event": (("located_in", "City", 1), ("about", "Topic", 1)),
}
OF_OTHERS = (("about", "Topic", 1), ("uses", "Tool", 1), ("part_of", "Project", 1))


class Clock:
    """The time of the next commit."""

    def __init__(self) -> None:
        self.moment = datetime(2025, 9, 1, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


def write(folder: Path) -> None:
    """The nexus in a new folder, without its text index; eight seconds of processor time."""
    clock = Clock()
    with kiprdf.Nexus.open(folder, BASE, clock=clock) as nexus:
        _Writer(nexus, clock).all()


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _map(values: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_text(value)}" for key, value in values.items()) + "}"


def _concept(type: str, name: str) -> str:
    return f"{{type: {_text(type)}, name: {_text(name)}}}"


class _Writer:
    def __init__(self, nexus: kiprdf.Nexus, clock: Clock) -> None:
        self.nexus, self.clock, self.random = nexus, clock, random.Random(44)
        self.names: dict[str, list[str]] = {}
        """Of each type, those that are written already."""
        self.commits = 0

    def all(self) -> None:
        self.schema()
        concepts = list(self.concepts())
        first = [
            one for one in concepts if one[1] in (HUB_PERSON, HUB_COMPANY, HUB_CITY, "Topic 1")
        ]
        self.random.shuffle(concepts)
        concepts = first + [one for one in concepts if one not in first]
        for start in range(0, len(concepts), 52):
            blocks = [self.block(*one) for one in concepts[start : start + 52]]
            self.commit("UPSERT { " + " ".join(blocks) + " }")
        self.hub()
        self.facts_about_facts()
        self.corrections()
        self.waiting()

    def commit(self, command: str, author: int | None = None, **parameters: Any) -> Any:
        """Run a command some hours later, in the name of one of the authors."""
        self.commits += 1
        # Some days are busy, and a month is quiet.
        hours = self.random.choice((1, 1, 2, 3, 20, 40, 90)) + (400 if self.commits == 60 else 0)
        self.clock.moment += timedelta(hours=hours, minutes=self.random.randrange(60))
        name, kind = AUTHORS[self.commits % len(AUTHORS) if author is None else author]
        session = f"{name}-{self.commits // 7}"
        with self.nexus.acting(author=name, kind=kind, session=session):  # type: ignore[arg-type]
            return self.nexus.execute(command, **parameters)

    def schema(self) -> None:
        for domain, types in TYPES.items():
            blocks = [f"CONCEPT {{ {_concept('Domain', domain)} }}"] + [
                f"CONCEPT {{ {_concept('$ConceptType', type)} SET ATTRIBUTES "
                f"{_map({'description': f'One {type} that the team speaks of.'})} SET PROPOSITIONS "
                f'{{ ("belongs_to_domain", {_concept("Domain", domain)}) }} }}'
                for type in types
            ]
            self.commit("UPSERT { " + " ".join(blocks) + " }", author=3)
        blocks = [
            f"CONCEPT {{ {_concept('$PropositionType', name)} SET ATTRIBUTES "
            + _map({"subject_types": [subject], "object_types": [object]})
            + " }"
            for name, (subject, object) in PREDICATES.items()
        ]
        self.commit("UPSERT { " + " ".join(blocks) + " }", author=3)

    def concepts(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Type, name and attributes of each."""
        pairs = [f"{first} {last}" for first in FIRST for last in LAST]
        self.random.shuffle(pairs)
        people = [HUB_PERSON, LONG, *HOSTILE, *pairs][:PEOPLE]
        yield from (("Person", name, self.person(name)) for name in people)
        named = {
            "Company": (COMPANIES, HUB_COMPANY),
            "City": (CITIES, HUB_CITY),
            "Country": (COUNTRIES, "Portugal"),
            "Topic": (TOPICS, "Machine learning"),
            "Paper": (PAPERS, "Notes on the Analytical Engine"),
            "Event": (EVENTS, "Opening day"),
        }
        for type, (amount, first) in named.items():
            for number in range(amount):
                yield type, first if number == 0 else self.name(type, number), self.thing(type)
        rest = [type for types in TYPES.values() for type in types if type not in named]
        for number in range(OTHERS):
            type = rest[number % len(rest)]
            yield type, self.name(type, number), self.thing(type)
        yield from ((ODDITY, name, {"note": name + LINES}) for name in HOSTILE)

    def name(self, type: str, number: int) -> str:
        return f"{self.random.choice(WORDS).title()} {type} {number}"

    def day(self, first: int, last: int) -> str:
        return (
            date(first, 1, 1) + timedelta(days=self.random.randrange((last - first) * 365))
        ).isoformat()

    def prose(self, words: int) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(words)).capitalize() + "."

    def person(self, name: str) -> dict[str, Any]:
        chance = self.random.random
        born = self.day(1950, 2004)
        values: dict[str, Any] = {
            "age": 2025 - int(born[:4]),
            "born": born,
            "height": round(1.5 + chance() / 2, 2),
            "active": chance() < 0.8,
            "role": self.random.choice(("engineer", "designer", "researcher", "manager", "编辑")),
            "languages": self.random.sample(("en", "pt", "fr", "zh", "ar", "de"), 2),
        }
        if chance() < 0.1:
            values["orcid"] = (
                f"0000-000{self.random.randrange(10)}-{self.random.randrange(10**8):08}"
            )
        if chance() < 0.03:
            values["nickname"] = name.split()[0][:3] + "o"
        if chance() < 0.05 or name == LONG:
            values["biography"] = self.prose(330)
        if name in HOSTILE:
            values["nickname"] = name
        return values

    def thing(self, type: str) -> dict[str, Any]:
        values: dict[str, Any] = {
            "since": self.day(1990, 2025),
            "level": self.random.choice(("low", "medium", "high")),
            "score": round(self.random.random() * 100, 1),
            "open": self.random.random() < 0.5,
        }
        if type == "Company":
            values |= {"employees": self.random.randrange(5, 90_000), "country": "PT"}
        if self.random.random() < 0.2:
            values["description"] = self.prose(12)
        return values

    def metadata(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "source": self.random.choice(SOURCES),
            "confidence": self.random.choice((0.35, 0.6, 0.8, 0.9, 0.95, 1)),
        }
        status = self.random.random()
        if status < 0.01:
            values["status"] = "draft"
        return values

    def block(self, type: str, name: str, attributes: dict[str, Any]) -> str:
        """The clause of a concept with its facts, some of which have their own confidence."""
        links: dict[tuple[str, str, str], str] = {}
        of_type = OF_A_PERSON if type == "Person" else OF_A_TYPE.get(type, OF_OTHERS)
        count = len(self.names.get(type, ()))
        for predicate, object_type, amount in of_type:
            written = self.names.get(object_type, ())
            # The first 306 people work for one company, 300 live in one city.
            is_hub = predicate in ("works_for", "lives_in") and count < 306
            several = min(amount, len(written))
            chosen = written[:1] if is_hub else self.random.sample(written, several)
            for target in chosen:
                own = (
                    f" WITH METADATA {_map(self.metadata())}" if self.random.random() < 0.1 else ""
                )
                link = f'("{predicate}", {_concept(object_type, target)}){own}'
                links[predicate, object_type, target] = link
        self.names.setdefault(type, []).append(name)
        facts = f" SET PROPOSITIONS {{ {' '.join(links.values())} }}" if links else ""
        return (
            f"CONCEPT {{ {_concept(type, name)} SET ATTRIBUTES {_map(attributes)}{facts} }} "
            f"WITH METADATA {_map(self.metadata())}"
        )

    def hub(self) -> None:
        """One person with 300 neighbours by four predicates."""
        links = [
            f'("{predicate}", {_concept(type, name)})'
            for predicate, type, amount in (
                ("wrote", "Paper", 120),
                ("attends", "Event", 90),
                ("knows", "Person", 60),
                ("interested_in", "Topic", 30),
            )
            for name in [one for one in self.names[type] if one != HUB_PERSON][:amount]
        ]
        for start in range(0, len(links), 60):
            facts = " ".join(links[start : start + 60])
            block = f"CONCEPT {{ {_concept('Person', HUB_PERSON)} SET PROPOSITIONS {{ {facts} }} }}"
            self.commit(f"UPSERT {{ {block} }} WITH METADATA {_map(self.metadata())}")

    def facts_about_facts(self) -> None:
        """Facts about facts: who stated what, and statements that contradict each other."""
        where = '({type: "Person", name: :person}, "works_for", {type: "Company", name: :company})'
        for number in range(10):
            blocks = []
            for name in self.names["Person"][20 + 25 * number : 45 + 25 * number]:
                fact = (
                    f'({_concept("Person", name)}, "works_for", {_concept("Company", HUB_COMPANY)})'
                )
                blocks.append(
                    f'PROPOSITION {{ ({_concept("Person", HUB_PERSON)}, "stated", {fact}) '
                    f"SET ATTRIBUTES {_map({'wording': self.prose(8)})} }}"
                )
            self.commit(f"UPSERT {{ {' '.join(blocks)} }} WITH METADATA {_map(self.metadata())}")
        for person in self.names["Person"][400:408]:
            company = self.names["Company"][7]
            fact = where.replace(":person", _text(person)).replace(":company", _text(company))
            other = (
                f'({_concept("Person", person)}, "works_for", {_concept("Company", HUB_COMPANY)})'
            )
            self.commit(
                f"UPSERT {{ PROPOSITION ?new {{ {fact} }} PROPOSITION ?old {{ {other} }} "
                'PROPOSITION { (?new, "contradicts", ?old) } } WITH METADATA {confidence: 0.4}'
            )

    def corrections(self) -> None:
        """What a person corrects: values, retractions, what is superseded, deleted, rejected."""
        people = self.names["Person"]
        for number in range(12):
            values = {"role": ("manager", "engineer")[number % 2], "age": 40 + number}
            person = _concept("Person", HUB_PERSON if number < 6 else people[number + 500])
            self.commit(f"UPSERT {{ CONCEPT {{ {person} SET ATTRIBUTES {_map(values)} }} }}")
        retract = (
            'UPDATE ?link SET METADATA { status: "retracted", retraction_reason: :reason } WHERE '
            '{ ?link ({type: "Person", name: :name}, "lives_in", ?city) }'
        )
        for number in range(6):
            self.commit(retract, author=3, name=people[600 + number], reason="She has moved.")
        supersede = (
            "UPDATE ?link SET METADATA { superseded: true, superseded_at: :at, valid_until: :at } "
            'WHERE { ?link ({type: "Person", name: :name}, "works_for", ?company) }'
        )
        for number in range(6):
            now = self.clock().isoformat()
            self.commit(supersede, name=people[610 + number], at=now)
        delete = 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person", name: :name} }'
        for number in range(2):
            self.commit(delete, author=3, name=people[700 + number])
        for name in people[620:623]:
            value = (self.nexus.id_of(f"Person:{name}"), "attributes.age", 7)
            self.nexus.reject(value, reason="A typing error.")

    def waiting(self) -> None:
        """Commitments, sleep tasks and proposals, which wait for a person."""
        for number, who in enumerate(self.names["Person"][30:36]):
            values = {
                "description": f"Send the report {number} to {who}.",
                "status": ("open", "kept")[number % 2],
                "promised_by": HUB_PERSON,
                "promised_to": who,
                "made_at": self.clock().isoformat(),
                "due_at": (self.clock() + timedelta(days=9)).isoformat(),
            }
            task = {"requested_action": "consolidate", "status": "pending", "reason": self.prose(6)}
            promise, look = (
                f"CONCEPT {{ {_concept(type, name)} SET ATTRIBUTES {_map(attributes)} }}"
                for type, name, attributes in (
                    ("Commitment", f"Report {number}", values),
                    ("SleepTask", f"Look at {who}", task),
                )
            )
            self.commit(f"UPSERT {{ {promise} {look} }}")
        person = 'CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES { age: :age } }'
        for number, name in enumerate((*self.names["Person"][40:43], HOSTILE[0])):
            with self.nexus.acting(author="mail-agent", kind="model", access="propose"):
                self.nexus.execute(f"UPSERT {{ {person} }}", name=name, age=30 + number)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    with kiprdf.Nexus.open(sys.argv[1]) as opened:
        opened.build_index()
