"""Embedded stores of other libraries, and kiprdf: loaded with the same data, asked, written.

A library is imported by its store alone, since what a process takes is measured, too.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = dict[str, Any]
PEOPLE, TOPICS, COMPANIES = 8_000, 1_500, 500
WORDS = ("river", "stone", "copper", "signal", "market", "garden", "window", "engine", "paper")
if "KIPRDF_PEERS" in os.environ:
    sys.path.append(os.environ["KIPRDF_PEERS"])


class Question(NamedTuple):
    """One question in four languages, and its values in turn; ``$name`` in SPARQL is replaced.

    Without a text, a store is not asked. ``is_item``: the answer becomes one map.
    """

    kip: str
    sparql: str
    sql: str
    cypher: str
    values: Callable[[int], Values] = lambda turn: {}
    is_item: bool = False


# Data ---------------------------------------------------------------------------------------------


def rare(number: int) -> str:
    """A word of one topic."""
    return "x" + "".join("bdfglmnprt"[int(digit)] + "a" for digit in f"{number:04}")


def _metadata(number: int) -> Values:
    return {"source": "import", "confidence": (50 + number % 50) / 100, "author": f"A{number % 9}"}


@functools.cache
def rows() -> tuple[list[Row], list[Row]]:
    """Concepts and propositions, as ``Nexus.load`` takes them."""
    chance = random.Random(20261128)
    concepts: list[Row] = [("Company", f"K{n}", {"founded": 1900 + n % 120}) for n in range(500)]
    for n in range(TOPICS):
        text = f"{' '.join(chance.choices(WORDS, k=4))} {rare(n)}"
        concepts.append(("Topic", f"T{n}", {"description": text}))
    for n, score in enumerate(chance.sample(range(10**6), PEOPLE)):
        about = {"age": 18 + n % 70, "city": f"City {n % 40}", "score": score / 10**6}
        concepts.append(("Person", f"P{n}", about))
    facts: dict[Row, None] = {}
    for n in range(PEOPLE):
        somebody, company = ("Person", f"P{n}"), ("Company", f"K{n * 7 % COMPANIES}")
        facts[somebody, "works_at", company] = None
        for step in (1, 3, 11):
            facts[somebody, "knows", ("Person", f"P{(n * step + step) % PEOPLE}")] = None
        for topic in (n, n + 700)[: 1 + (n < 2_700)]:
            facts[somebody, "interested_in", ("Topic", f"T{topic % TOPICS}")] = None
        if n % 8 == 0:
            facts[somebody, "member_of", company] = None
        if n % 3 == 0 and n < 6_900:
            fact = (somebody, "works_at", company)
            facts[("Person", f"P{n + 1}"), "stated", fact] = None
    return (
        [(*concept, _metadata(n)) for n, concept in enumerate(concepts)],
        [(*fact, {}, _metadata(n)) for n, fact in enumerate(facts)],
    )


_TYPES, _PREDICATES = (
    " ".join(f'CONCEPT {{ {{type: "{kind}", name: "{name}"}} }}' for name in names.split())
    for kind, names in (
        ("$ConceptType", "Person Company Topic"),
        ("$PropositionType", "works_at knows interested_in member_of stated"),
    )
)


def _guest(number: int) -> Values:
    """The names of a write: who, and three ends."""
    return {"name": f"G{number}", "company": f"K{number % 500}", "topic": f"T{number % 1_500}"}


def _ends(number: int) -> Iterable[tuple[str, str, str]]:
    names = _guest(number)
    yield "works_at", "Company", names["company"]
    yield "knows", "Person", "P1"
    yield "interested_in", "Topic", names["topic"]


def person(turn: int) -> Values:
    """A person of whom a fact is stated."""
    number = turn * 391 % 2_300 * 3
    company = f"K{number * 7 % COMPANIES}"
    return {"name": f"P{number}", "company": company, "id": f"C:Person/P{number}"}


# Stores ------------------------------------------------------------------------------------------


class Peer:
    """A store of one library; ``prepared`` is a folder with its input as files."""

    name: ClassVar[str]
    language: ClassVar[str]
    sigil = "$"
    has_text = False

    def __init__(self, prepared: Path, folder: Path | None = None, sync: str = "normal") -> None:
        self.prepared, self.folder = prepared, folder
        self.module: Any = importlib.import_module(self.name)
        self.open(sync)

    def open(self, sync: str) -> None:
        """In memory, or in the folder."""
        raise NotImplementedError

    def load(self) -> None:
        """Write all data."""
        raise NotImplementedError

    def query(self, text: str, values: Values) -> Any:
        """The answer, with Python values, as this library gives it."""
        raise NotImplementedError

    def rows(self, answer: Any) -> list[Row]:
        """An answer as the others give it, for the comparison."""
        return list(map(tuple, answer))

    def item(self, answer: Any) -> Values:
        """A person with all attributes and metadata."""
        return dict(answer[0])

    def index_text(self) -> None:
        """What the search for words needs."""

    def write(self, number: int) -> None:
        """A concept with two attributes and three facts, as one commit."""
        raise NotImplementedError

    def export(self, path: Path) -> bool:
        """All data as Turtle; False if that cannot be had."""
        return False

    def close(self) -> None:
        """Let go of the folder."""

    def ask(self, question: Question) -> Callable[[int], Any]:
        """The question with its values of a turn: those that this language names."""
        text = getattr(question, self.language)
        used = re.findall(rf"{re.escape(self.sigil)}([a-z]+)", text)

        def asked(turn: int) -> Any:
            values = question.values(turn)
            answer = self.query(text, {name: values[name] for name in used if name in values})
            return self.item(answer) if question.is_item else answer

        return asked


class Kiprdf(Peer):
    """What is measured."""

    name, language, sigil, has_text = "kiprdf", "kip", ":", True
    UPSERT = (
        'UPSERT { CONCEPT { {type: "Person", name: :name} '
        'SET ATTRIBUTES { age: 42, city: "City 7" } SET PROPOSITIONS { '
        '("works_at", {type: "Company", name: :company}) ("knows", {type: "Person", name: "P1"}) '
        '("interested_in", {type: "Topic", name: :topic}) } } } WITH METADATA { source: "chat" }'
    )

    def open(self, sync: Any) -> None:
        nexus, folder = self.module.Nexus, self.folder
        self.nexus = (
            nexus.open(folder, sync=sync, genesis=False) if folder else nexus.memory(genesis=False)
        )

    def load(self) -> None:
        self.nexus.execute(f"UPSERT {{ {_TYPES} {_PREDICATES} }}")
        self.nexus.load(*rows())

    def query(self, text: str, values: Values) -> Any:
        return self.nexus.execute(text, **values)

    def rows(self, answer: Any) -> list[Row]:
        if not isinstance(answer, list):
            return [(answer,)]
        return list(zip(*answer, strict=True)) if isinstance(answer[0], list) else [*zip(answer)]

    def index_text(self) -> None:
        self.nexus.build_index(propositions=False)  # as the others, of concepts alone

    def write(self, number: int) -> None:
        self.nexus.execute(self.UPSERT, **_guest(number))

    def export(self, path: Path) -> bool:
        self.nexus.write_snapshot(path, profile="rdf12", format="turtle")
        return True

    def close(self) -> None:
        self.nexus.close()


_PREFIXES = """\
PREFIX type: <urn:kip:nexus/$ConceptType/>
PREFIX p: <urn:kip:nexus/$PropositionType/>
PREFIX attr: <urn:kip:attribute/>
PREFIX meta: <urn:kip:metadata/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


class Sparql(Peer):
    """A store that has the triples of kiprdf, and is asked in SPARQL."""

    language = "sparql"

    def query(self, text: str, values: Values) -> Any:
        for name, value in values.items():
            text = text.replace(f"${name}", f"{value}e0" if name == "sure" else str(value))
        run = self.select if text.startswith("SELECT") else self.update
        return run(_PREFIXES + text)

    def select(self, text: str) -> Any:
        """The rows of a SELECT."""
        raise NotImplementedError

    def update(self, text: str) -> Any:
        """Run an update."""
        raise NotImplementedError

    def item(self, answer: Any) -> Values:
        item: Values = {"attributes": {}, "metadata": {}}
        for key, value in answer:
            if key.startswith("urn:kip:attribute/"):
                item["attributes"][key[18:]] = value
            elif key.startswith("urn:kip:metadata/"):
                item["metadata"][key[17:]] = value
            elif key.endswith(("#type", "#label")):
                item[key.rpartition("#")[2]] = value.rpartition("/")[2]
        item["name"] = item.pop("label")
        return item

    @staticmethod
    def triples(number: int) -> str:
        """The triples of a write as N-Triples: those that kiprdf writes."""
        node, types = f"<urn:kip:nexus/Person/G{number}>", "http://www.w3.org/2001/XMLSchema#"
        about = '{0} <urn:kip:metadata/_created_at> "2026-11-28T12:00:00.000Z" .\n'
        about += '{0} <urn:kip:metadata/_updated_at> "2026-11-28T12:00:00.000Z" .\n'
        about += f'{{0}} <urn:kip:metadata/_version> "1"^^<{types}integer> .\n'
        about += '{0} <urn:kip:metadata/source> "chat" .\n'
        parts = [
            f"{node} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
            f"<urn:kip:nexus/$ConceptType/Person> .\n{about.format(node)}"
            f'{node} <http://www.w3.org/2000/01/rdf-schema#label> "G{number}" .\n'
            f'{node} <urn:kip:attribute/age> "42"^^<{types}integer> .\n'
            f'{node} <urn:kip:attribute/city> "City 7" .\n'
        ]
        for predicate, kind, name in _ends(number):
            ends = f'["C:Person/G{number}","{predicate}","C:{kind}/{name}"]'
            digits = hashlib.sha256(ends.encode()).hexdigest()[:16]
            link = f"<urn:kip:nexus/$proposition/{digits}/{predicate}>"
            fact = f"{node} <urn:kip:nexus/$PropositionType/{predicate}> "
            fact += f"<urn:kip:nexus/{kind}/{name}>"
            reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
            parts.append(f"{fact} .\n{link} {reifies} <<( {fact} )>> .\n{about.format(link)}")
        return "".join(parts)


class Pyoxigraph(Sparql):
    """The store of kiprdf, used by hand."""

    name = "pyoxigraph"

    def open(self, sync: str) -> None:
        self.store = self.module.Store(*[str(self.folder)] if self.folder else [])
        self.format, self.literal = self.module.RdfFormat, self.module.Literal
        schema = "http://www.w3.org/2001/XMLSchema#"
        self.types: dict[str, Any] = {f"{schema}integer": int, f"{schema}double": float}

    def load(self) -> None:
        self.store.bulk_load(path=self.prepared / "data.nt", format=self.format.N_TRIPLES)

    def select(self, text: str) -> Any:
        return [tuple(map(self.value, row)) for row in self.store.query(text)]

    def update(self, text: str) -> Any:
        self.store.update(text)

    def value(self, term: Any) -> Any:
        """A term as a Python value."""
        if isinstance(term, self.literal):
            return self.types.get(term.datatype.value, str)(term.value)
        return term.value

    def write(self, number: int) -> None:
        self.store.load(self.triples(number), self.format.N_TRIPLES)

    def export(self, path: Path) -> bool:
        graph, prefixes = self.module.DefaultGraph(), dict(re.findall("(\\w+): <(.+)>", _PREFIXES))
        self.store.dump(str(path), self.format.TURTLE, from_graph=graph, prefixes=prefixes)
        return True

    def close(self) -> None:
        del self.store


def statements(text: str) -> str:
    """Triples, or a question, in which a fact has no term, but parts."""
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    parts = rf"<{rdf}subject> \1 ; <{rdf}predicate> \2 ; <{rdf}object> \3"
    return re.sub(r"(?:rdf:|<[^>]*#)reifies>? <<\( (\S+) (\S+) (\S+) \)>>", parts, text)


class Fluree(Sparql):
    """Fluree: RDF with history. A fact has parts, which it finds faster than a term."""

    name, has_text = "fluree", True

    def open(self, sync: str) -> None:
        self.connection = self.module.connect(self.folder or ":memory:")
        if "bench" in self.connection:
            self.ledger = self.connection.ledger("bench")

    def load(self) -> None:
        if self.folder is None:
            self.ledger = self.connection.create("bench")
            self.ledger.insert(self.prepared / "statements.ttl")
        else:
            self.ledger = self.connection.create("bench", source=self.prepared / "statements.ttl")

    def select(self, text: str) -> Any:
        return list(self.ledger.select(statements(text)))

    def update(self, text: str) -> Any:
        return self.ledger.update(statements(text))

    def index_text(self) -> None:
        self.ledger.set_full_text(["urn:kip:attribute/description"])

    def write(self, number: int) -> None:
        self.ledger.insert(statements(self.triples(number)), format="turtle")

    def export(self, path: Path) -> bool:
        return self.ledger.export(path) is None

    def close(self) -> None:
        self.connection.close()


class Holosdb(Sparql):
    """Holos: RDF with access policies."""

    name = "holosdb"

    def open(self, sync: str) -> None:
        self.store = self.module.Store(*[str(self.folder)] if self.folder else [])

    def load(self) -> None:
        self.store.load(str(self.prepared / "data.nt"), bulk=self.folder is not None)

    def select(self, text: str) -> Any:
        return [tuple([row[n] for n in range(len(row))]) for row in self.store.query(text)]

    def update(self, text: str) -> Any:
        return self.store.update(text)

    def write(self, number: int) -> None:
        self.store.update(f"INSERT DATA {{ {self.triples(number)} }}")

    def close(self) -> None:
        del self.store


class Sqlite(Peer):
    """Two tables with the indexes for these questions, and FTS5; a fact as an object is its id,
    negative."""

    name, language, sigil, has_text = "sqlite3", "sql", ":", True
    TABLES = """
CREATE TABLE concept (id INTEGER PRIMARY KEY, type TEXT, name TEXT, attributes TEXT, metadata TEXT);
CREATE TABLE fact (id INTEGER PRIMARY KEY, subject INTEGER, predicate TEXT, object INTEGER,
    attributes TEXT, metadata TEXT);
CREATE UNIQUE INDEX named ON concept (type, name);
CREATE UNIQUE INDEX forth ON fact (subject, predicate, object);
CREATE INDEX back ON fact (object, predicate);
CREATE INDEX age ON concept (type, attributes ->> 'age');
CREATE INDEX city ON concept (type, attributes ->> 'city');
CREATE INDEX score ON concept (type, attributes ->> 'score');
CREATE INDEX confidence ON fact (predicate, metadata ->> 'confidence');
"""

    def open(self, sync: str) -> None:
        if self.folder is not None:
            self.folder.mkdir(exist_ok=True)
        self.connection = self.module.connect(self.folder / "db" if self.folder else ":memory:")
        self.connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {sync}")

    def load(self) -> None:
        concepts, facts = rows()
        ids: dict[Row, int] = {row[:2]: n for n, row in enumerate(concepts, 1)}
        ids |= {row[:3]: -n for n, row in enumerate(facts, 1)}
        people = ((ids[c[:2]], *c[:2], *map(json.dumps, c[2:])) for c in concepts)
        links = ((-ids[f[:3]], ids[f[0]], f[1], ids[f[2]], *map(json.dumps, f[3:])) for f in facts)
        self.connection.executescript(self.TABLES)
        with self.connection as connection:
            connection.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?)", people)
            connection.executemany("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?)", links)
        self.connection.execute("ANALYZE")

    def query(self, text: str, values: Values) -> Any:
        answer = self.connection.execute(text, values).fetchall()
        self.connection.commit()
        return answer

    def item(self, answer: Any) -> Values:
        kind, name, attributes, about = answer[0]
        values = {"attributes": json.loads(attributes), "metadata": json.loads(about)}
        return {"type": kind, "name": name, **values}

    def index_text(self) -> None:
        self.connection.executescript(
            "CREATE VIRTUAL TABLE word USING fts5(name, description, content='');"
            "INSERT INTO word (rowid, name, description) "
            "SELECT id, name, attributes ->> 'description' FROM concept;"
        )

    def write(self, number: int) -> None:
        merged = "metadata = json_patch(metadata, excluded.metadata)"
        source = json.dumps({"source": "chat"})
        with self.connection as connection:
            ((subject,),) = connection.execute(
                "INSERT INTO concept (type, name, attributes, metadata) VALUES ('Person', ?, ?, ?) "
                f"ON CONFLICT DO UPDATE SET {merged}, "
                "attributes = json_patch(attributes, excluded.attributes) RETURNING id",
                (f"G{number}", json.dumps({"age": 42, "city": "City 7"}), source),
            )
            connection.executemany(
                "INSERT INTO fact (subject, predicate, object, attributes, metadata) "
                "SELECT ?, ?, id, '{}', ? FROM concept WHERE type = ? AND name = ? "
                f"ON CONFLICT DO UPDATE SET {merged}",
                [(subject, p, source, kind, name) for p, kind, name in _ends(number)],
            )

    def close(self) -> None:
        self.connection.close()


class Ladybug(Peer):
    """Ladybug: a property graph, with a table for each type and predicate."""

    name, language = "ladybug", "cypher"
    ABOUT = "source STRING, confidence DOUBLE, author STRING"
    NODES: ClassVar = {
        "Company": ("founded INT64",),
        "Topic": ("description STRING",),
        "Person": ("age INT64", "city STRING", "score DOUBLE"),
    }
    LINKS: ClassVar = {
        "works_at": "Company",
        "knows": "Person",
        "interested_in": "Topic",
        "member_of": "Company",
        "stated": "Fact",
    }

    def open(self, sync: str) -> None:
        self.database = self.module.Database(str(self.folder) if self.folder else ":memory:")
        self.connection = self.module.Connection(self.database)

    def load(self) -> None:
        execute = self.connection.execute
        execute("CREATE NODE TABLE Fact(id STRING PRIMARY KEY)")
        for kind, columns in self.NODES.items():
            named = ", ".join(("name STRING PRIMARY KEY", *columns, self.ABOUT))
            execute(f"CREATE NODE TABLE {kind}({named})")
        for predicate, end in self.LINKS.items():
            execute(f"CREATE REL TABLE {predicate}(FROM Person TO {end}, {self.ABOUT})")
        for table in ("Fact", *self.NODES, *self.LINKS):
            execute(f"COPY {table} FROM '{self.prepared / table}.csv'")

    def query(self, text: str, values: Values) -> Any:
        return self.connection.execute(text, values).get_all()

    def item(self, answer: Any) -> Values:
        node = answer[0][0]
        about = {key: node[key] for key in ("source", "confidence", "author")}
        attributes = {key: node[key] for key in ("age", "city", "score")}
        named = {"type": node["_LABEL"], "name": node["name"]}
        return {**named, "attributes": attributes, "metadata": about}

    def write(self, number: int) -> None:
        self.connection.execute(
            "MERGE (g:Person {name: $name}) SET g.age = 42, g.city = 'City 7', g.source = 'chat' "
            "WITH g MATCH (k:Company {name: $company}), (p:Person {name: 'P1'}), "
            "(t:Topic {name: $topic}) MERGE (g)-[w:works_at]->(k) MERGE (g)-[o:knows]->(p) "
            "MERGE (g)-[i:interested_in]->(t) "
            "SET w.source = 'chat', o.source = 'chat', i.source = 'chat'",
            _guest(number),
        )

    def close(self) -> None:
        self.connection.close()
        self.database.close()


PEERS: tuple[type[Peer], ...] = (Kiprdf, Pyoxigraph, Fluree, Holosdb, Ladybug, Sqlite)
