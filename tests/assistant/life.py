"""Sixty days, lived on a nexus and on a record of the truth."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kiprdf
from tests.assistant import commands
from tests.assistant.record import Name, Record

DAYS = 60
TALKS_A_DAY = 6
TASKS_A_NIGHT = 5
BEGINNING = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
FIRST = (
    "Ada",
    "Bo",
    "Carla",
    "Dmitri",
    "Elif",
    "Farid",
    "Greta",
    "Hana",
    "Ivan",
    "Jonas",
    "Kaja",
    "Lucía",
    "Mara",
    "Noor",
    "Olga",
    "Pavel",
)
LAST = (
    "Adler",
    "Brandt",
    "Costa",
    "Dvorak",
    "Eriksen",
    "Fischer",
    "Garcia",
    "Hansen",
    "Ito",
    "Jensen",
    "Kowalski",
    "Lund",
)
EASTERN = (
    "王芳",
    "李伟",
    "张敏",
    "刘洋",
    "陈静",
    "杨磊",
    "赵丽",
    "黄强",
    "周杰",
    "吴霞",
    "佐藤健",
    "田中葵",
    "김민수",
    "이서연",
)
CITIES = ("Lisbon", "Oslo", "Kyoto", "Nairobi", "Quito", "Porto")
TASTES = (
    "tea",
    "coffee",
    "walking",
    "chess",
    "jazz",
    "opera",
    "cycling",
    "sushi",
    "gardening",
    "films",
)


class Life:
    """An assistant, its memory and the truth."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chance = random.Random(20260301)
        self.moment = BEGINNING
        self.record = Record()
        self.nexus = self._open()
        self.numbers: dict[str, int] = {}
        self.surprises: list[str] = []
        """The answers that differed from the record while the days were lived."""
        self.people: list[Name] = []
        self.doubles: dict[Name, Name] = {}
        self._begin()

    def _open(self) -> kiprdf.Nexus:
        return kiprdf.Nexus.open(self.folder, clock=lambda: self.moment)

    def restart(self) -> None:
        """Close the nexus and open it again."""
        self.nexus.close()
        self.nexus = self._open()

    # Requests -------------------------------------------------------------------------------

    @property
    def at(self) -> str:
        return stamp(self.moment)

    def ask(self, command: str, **parameters: Any) -> Any:
        """The result of one read-only request."""
        response = self.nexus.execute_kip_readonly({"command": command, "parameters": parameters})
        assert "error" not in response, response
        return response["result"]

    def do(self, *commands: tuple[str, dict[str, Any]]) -> list[Any]:
        """Run commands as one batch, or a single one by itself, a minute later than before."""
        if len(commands) == 1:
            ((command, parameters),) = commands
            request: dict[str, Any] = {"command": command, "parameters": parameters}
            responses = [self.nexus.execute_kip(request)]
        else:
            items = [{"command": text, "parameters": values} for text, values in commands]
            shared = {"at": self.at}
            request = {"commands": items, "parameters": shared}
            responses = self.nexus.execute_kip(request)["result"]
        for response in responses:
            assert "error" not in response, response
        return [response["result"] for response in responses]

    def later(self, minutes: int = 1) -> None:
        """Let time pass."""
        self.moment += timedelta(minutes=minutes)
        self.record.now = self.at

    def number(self, kind: str) -> int:
        """Count the things of a kind."""
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        return self.numbers[kind]

    def _expect(self, what: str, expected: object, actual: object) -> None:
        if expected != actual:
            self.surprises.append(f"{self.at} {what}: expected {expected}, got {actual}")

    # Days -----------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.record.now = self.at
        self.do((commands.SCHEMA, {}))
        record = self.record
        for domain in ("Work", "People"):
            record.put(Name("Domain", domain))
        work = Name("Domain", "Work")
        for kind, name in (
            ("$ConceptType", "Project"),
            ("$ConceptType", "Company"),
            ("$PropositionType", "works_at"),
        ):
            record.put(Name(kind, name))
            record.link(Name(kind, name), "belongs_to_domain", work)
        record.put(Name("$PropositionType", "stated"))
        for _ in range(6):
            self.add_company()
        for _ in range(4):
            self.add_project()
        for _ in range(8):
            self.meet()

    def live(self, day: int) -> None:
        """One day and the night after it."""
        self.moment = BEGINNING + timedelta(days=day)
        self.later()
        for _ in range(2):
            self.meet()
        if day % 3 == 0:
            self.add_project()
        if day % 10 == 5:
            self.add_company()
        for talk in range(TALKS_A_DAY):
            event = self.talk()
            if talk % 5 == 0:
                self.promise(event)
            if talk % 3 == 0:
                self.leave_task("consolidate_event", event, priority=1 + talk % 4)
        self.prefer()
        self.change_employer()
        self.hear()
        self.attempt()
        self.attempt()
        self.correct(day)
        if day % 2 == 0:
            self.meet_again()
        self.close_promises()
        self.leave_task("review_expired", Name("Event", "*"), priority=9)
        self.later(minutes=8 * 60)
        self.sleep()

    # What is learned ------------------------------------------------------------------------

    def source(self) -> str:
        return f"day {self.moment:%j}"

    def add_company(self) -> None:
        self.later()
        number = self.number("Company")
        name, city = f"{LAST[number % len(LAST)]} & Co {number}", self.chance.choice(CITIES)
        self.do((commands.ADD_COMPANY, {"name": name, "city": city, "source": self.source()}))
        metadata = {"source": self.source(), "author": "$self"}
        self.record.put(Name("Company", name), {"city": city}, metadata)

    def add_project(self) -> None:
        self.later()
        number = self.number("Project")
        name = Name("Project", f"Project {number}")
        attributes = {"goal": f"Reach goal {number}.", "aliases": [f"PRJ-{number:03d}"]}
        self.do(
            (commands.ADD_PROJECT, {"name": name.name, "source": self.source(), **attributes}),
        )
        self.record.put(name, attributes, {"source": self.source(), "author": "$self"})
        self.leave_task("file_into_domain", name, priority=3, domain="Work")

    def meet(self) -> Name:
        """Meet a new person."""
        self.later()
        number = self.number("Person")
        if number % 8 == 3 and number // 8 < len(EASTERN):
            called = EASTERN[number // 8]
            aliases = [f"guest {number}"]
        else:
            called = f"{FIRST[number % len(FIRST)]} {LAST[number // len(FIRST) % len(LAST)]}"
            aliases = [f"{called.split()[0].lower()}{number}"]
        person = Name("Person", called)
        self.introduce(person, aliases)
        self.people.append(person)
        self.leave_task("file_into_domain", person, priority=2, domain="People")
        return person

    def introduce(self, person: Name, aliases: list[str]) -> None:
        companies = [name for name in self.record.concepts if name.type == "Company"]
        company = self.chance.choice(companies)
        birthday = f"{self.chance.randrange(1950, 2005)}-0{self.chance.randrange(1, 10)}-11"
        values = {
            "name": person.name,
            "called": person.name.split()[0],
            "birthday": birthday,
            "aliases": aliases,
            "company": company.name,
            "source": self.source(),
        }
        self.do((commands.MEET, values))
        metadata = {"source": self.source(), "author": "$self", "confidence": 0.8}
        attributes = {
            "id": person.name,
            "person_class": "Human",
            "name": values["called"],
            "birthday": birthday,
            "aliases": aliases,
        }
        self.record.put(person, attributes, metadata)
        self.record.link(person, "works_at", company, metadata)

    def meet_again(self) -> None:
        """Meet a person under another name, and take them for a new one."""
        self.later()
        person = self.chance.choice(self.people)
        double = Name("Person", f"{person.name} ({self.number('double')})")
        self.introduce(double, [f"dup{self.numbers['double']}"])
        self.doubles[double] = person
        self.leave_task("merge_duplicates", double, priority=5, into=person.name)

    def talk(self) -> Name:
        self.later(minutes=7)
        number = self.number("Event")
        event = Name("Event", f"Conversation:{self.moment:%Y-%m-%d}:{number}")
        first, second = self.chance.sample(self.people, 2)
        projects = [name for name in self.record.concepts if name.type == "Project"]
        project = self.chance.choice(projects)
        expires = stamp(self.moment + timedelta(days=self.chance.choice((9, 25, 400))))
        values = {
            "name": event.name,
            "at": self.at,
            "summary": f"{first.name} and {second.name} spoke about {project.name}.",
            "first": first.name,
            "second": second.name,
            "project": project.name,
            "expires_at": expires,
        }
        counted = self.do((commands.TALK, values), (commands.COUNT_TALK, {"name": event.name}))[1]
        self._expect("people of a talk", 2, counted["updated"])
        record = self.record
        metadata = {"source": "chat", "author": "$self", "expires_at": expires}
        attributes = {
            "event_class": "Conversation",
            "start_time": self.at,
            "content_summary": values["summary"],
            "participants": [first.name, second.name],
        }
        record.put(event, attributes, metadata)
        for person in (first, second):
            record.link(event, "involves", person, metadata)
            talks = record.concepts[person].attributes.get("talks", 0) + 1
            record.put(person, {"talks": talks, "last_seen_at": self.at})
        record.link(event, "mentions", project, metadata)
        return event

    def prefer(self) -> None:
        """Learn three things that a person likes."""
        self.later()
        person, tastes = self.chance.choice(self.people), self.chance.sample(TASTES, 3)
        strength = self.chance.randrange(11) / 10
        names = [f"{taste}:{person.name}" for taste in tastes]
        values = dict(zip(("first", "second", "third"), names, strict=True))
        self.do((commands.PREFER, {"person": person.name, "strength": strength, **values}))
        for name in names:
            attributes = {"preference_class": "leisure", "strength": strength}
            self.record.put(Name("Preference", name), attributes)
            self.record.link(person, "prefers", Name("Preference", name))

    def change_employer(self) -> None:
        """A person leaves one company for another, perhaps for one where they have been before."""
        self.later()
        person = self.chance.choice(self.people[:12])
        companies = [name for name in self.record.concepts if name.type == "Company"]
        company = self.chance.choice(companies)
        values = {"person": person.name, "company": company.name, "source": self.source()}
        ended, _, again = self.do(
            (commands.END_WORK, {"person": person.name}),
            (commands.START_WORK, values),
            (commands.HOLDS_AGAIN, values),
        )
        record = self.record
        current = self.employers(person)
        self._expect("employments ended", len(current), ended["updated"])
        for fact in current:
            marks = {"superseded": True, "superseded_at": self.at, "valid_until": self.at}
            record.link(*fact.key, marks)
        metadata = {"source": self.source(), "author": "$self"}
        fact = record.link(person, "works_at", company, metadata)
        unmarked = record.unmark(fact, "superseded", "superseded_at", "valid_until")
        self._expect("employments that hold again", unmarked, again["updated_propositions"])

    def employers(self, person: Name) -> list[Any]:
        """The employments of a person that are not superseded."""
        facts = self.record.objects(person, "works_at")
        return [fact for fact in facts if fact.metadata.get("superseded") is not True]

    def hear(self) -> None:
        """Hear from one person where another one works."""
        self.later()
        witness, person = self.chance.sample(self.people, 2)
        fact = self.chance.choice(self.record.objects(person, "works_at"))
        metadata = {"source": self.source(), "confidence": self.chance.randrange(11) / 10}
        values = {
            "witness": witness.name,
            "person": person.name,
            "company": fact.object.name,
            **metadata,
        }
        self.do((commands.HEAR, values))
        self.record.link(witness, "stated", fact, metadata)

    def attempt(self) -> None:
        """Try to send a report, in three steps."""
        self.later()
        name = f"send_report:{self.number('Experience')}"
        goal, status = "Send the report.", self.chance.choice(("succeeded", "failed"))
        steps = {"first": f"{name}#1", "second": f"{name}#2", "third": f"{name}#3"}
        values = {"name": name, "goal": goal, "status": status, "at": self.at}
        self.do((commands.TRY, {**values, **steps}))
        record, attempt = self.record, Name("Experience", name)
        record.put(attempt, {"goal": goal, "status": status})
        for step in steps.values():
            record.put(Name("ExperienceStep", step))
            record.link(attempt, "has_step", Name("ExperienceStep", step))

    def correct(self, day: int) -> None:
        """A birthday was wrong; every fifth one has to be unlearned."""
        self.later()
        person = self.chance.choice(self.people)
        if day % 5 == 4:
            self.do((commands.UNLEARN, {"name": person.name}))
            self.record.forget(person, "birthday")
        else:
            birthday = f"19{self.chance.randrange(50, 99)}-12-24"
            self.do((commands.CORRECT, {"name": person.name, "birthday": birthday}))
            self.record.put(person, {"birthday": birthday})

    # Promises -------------------------------------------------------------------------------

    def promise(self, event: Name) -> None:
        self.later()
        name = Name("Commitment", f"promise {self.number('Commitment')}")
        to = self.chance.choice(self.people).name
        due = stamp(self.moment + timedelta(hours=self.chance.randrange(12, 9 * 24)))
        attributes = {
            "description": f"Send {to} the minutes.",
            "status": "open",
            "promised_by": "$self",
            "promised_to": to,
            "made_at": self.at,
            "due_at": due,
            "importance": self.chance.randrange(1, 6),
        }
        values = {
            "name": name.name,
            "description": attributes["description"],
            "by": "$self",
            "to": to,
            "at": self.at,
            "due_at": due,
            "importance": attributes["importance"],
            "event": event.name,
        }
        self.do((commands.PROMISE, values))
        self.record.put(name, attributes)
        self.record.link(name, "derived_from", event)

    def close_promises(self) -> None:
        """Keep most of what is due by tomorrow; some are released or broken, a few forgotten."""
        self.later()
        tomorrow = stamp(self.moment + timedelta(days=1))
        due = [
            name
            for name, concept in self.record.concepts.items()
            if name.type == "Commitment"
            and concept.attributes["status"] == "open"
            and concept.attributes["due_at"] <= tomorrow
        ]
        for name in due:
            status = self.chance.choice(("kept",) * 6 + ("released", "broken", "open", "open"))
            if status != "open":
                self.later()
                self.do(
                    (commands.CLOSE_PROMISE, {"name": name.name, "status": status, "at": self.at})
                )
                self.record.put(name, {"status": status, "closed_at": self.at})

    # Sleep ----------------------------------------------------------------------------------

    def leave_task(self, action: str, target: Name, priority: int, **details: str) -> None:
        self.later()
        name = Name("SleepTask", f"task {self.number('SleepTask'):04d}")
        values = {
            "name": name.name,
            "action": action,
            "priority": priority,
            "type": target.type,
            "target": target.name,
            "at": self.at,
            "details": details,
        }
        self.do((commands.LEAVE_TASK, values))
        attributes = {
            "requested_action": action,
            "status": "pending",
            "priority": priority,
            "target_type": target.type,
            "target_name": target.name,
            "requested_at": self.at,
            "parameters": details,
        }
        self.record.put(name, attributes)

    def pending(self) -> list[tuple[Name, dict[str, Any]]]:
        """The tasks that wait, the most urgent first."""
        tasks = [
            (name, concept.attributes)
            for name, concept in self.record.concepts.items()
            if name.type == "SleepTask" and concept.attributes["status"] == "pending"
        ]
        return sorted(tasks, key=lambda t: (-t[1]["priority"], t[1]["requested_at"], t[0]))

    def sleep(self) -> None:
        """Work on the most urgent tasks."""
        tasks = self.pending()[:TASKS_A_NIGHT]
        rows = self.ask(commands.PENDING, most=TASKS_A_NIGHT)
        expected = [[t.name for t, _ in tasks], [a["requested_action"] for _, a in tasks]]
        self._expect("pending tasks", expected, rows)
        for task, attributes in tasks:
            self.later()
            target = Name(attributes["target_type"], attributes["target_name"])
            is_there = target in self.record.concepts or target.name == "*"
            status = "completed" if is_there else "cancelled"
            close = (commands.CLOSE_TASK, {"name": task.name, "status": status})
            if is_there:
                work = getattr(self, f"_{attributes['requested_action']}")
                self._check(work(target, **attributes["parameters"]), close)
            else:
                self.do((commands.CLOSE_TASK, {**close[1], "at": self.at}))
            self.record.put(task, {"status": status, "finished_at": self.at})

    def _check(self, work: tuple[str, dict[str, Any], dict[str, Any]], close: Any) -> None:
        """Run a task and close it; its receipt holds what the record expects."""
        command, parameters, expected = work
        receipt, _ = self.do((command, parameters), close)
        self._expect(command.split()[0], expected, {key: receipt[key] for key in expected})

    def _consolidate_event(self, event: Name) -> tuple[str, dict[str, Any], dict[str, Any]]:
        insight = Name("Insight", f"insight {self.number('Insight')}")
        description = f"What {event.name} taught."
        values = {"insight": insight.name, "description": description, "event": event.name}
        metadata = {"source": "sleep", "author": "$system"}
        record = self.record
        record.put(insight, {"description": description, "evidence_count": 1}, metadata)
        record.link(insight, "derived_from", event, metadata)
        record.link(insight, "belongs_to_domain", Name("Domain", "People"), metadata)
        record.put(event, metadata=metadata)
        record.link(event, "consolidated_to", insight, metadata)
        return commands.CONSOLIDATE, values, {"blocks": 1}

    def _file_into_domain(
        self, target: Name, domain: str
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        self.record.link(target, "belongs_to_domain", Name("Domain", domain))
        values = {"type": target.type, "name": target.name, "domain": domain}
        return commands.FILE, values, {"blocks": 1}

    def _merge_duplicates(
        self, double: Name, into: str
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        self.record.merge(double, Name("Person", into))
        return commands.MERGE, {"double": double.name, "name": into}, {"merged": True}

    def _review_expired(self, _: Name) -> tuple[str, dict[str, Any], dict[str, Any]]:
        expired = [
            name
            for name, concept in self.record.concepts.items()
            if name.type == "Event" and concept.metadata["expires_at"] < self.at
        ]
        concepts, facts = self.record.delete(expired)
        expected = {"deleted_concepts": concepts, "deleted_propositions": facts}
        return commands.EXPIRE, {"now": self.at}, expected


def stamp(moment: datetime) -> str:
    """A time as the nexus writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
