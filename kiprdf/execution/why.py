"""Explains the rows of a FIND: derivations, evidence, and both as PROV-O (docs/decisions/201)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from pyoxigraph import NamedNode, Triple

from kiprdf import protocol
from kiprdf.budget import spend_half
from kiprdf.errors import KipError, KipWarning
from kiprdf.execution.histories import last_commits
from kiprdf.execution.support import STATES
from kiprdf.execution.trust import Trusts, trust_of
from kiprdf.execution.validity import validity_of
from kiprdf.kml.trust import STATUSES
from kiprdf.kql import derivations as kql
from kiprdf.kql.beliefs import name_of
from kiprdf.kql.cursor import encode
from kiprdf.kql.find import FindResult, count_solutions, run, solutions
from kiprdf.kql.reader import Reader, link_of
from kiprdf.kql.results import identity as value_identity
from kiprdf.kql.results import shape
from kiprdf.kql.valid_at import with_moment
from kiprdf.language import ast, to_text
from kiprdf.language.names import DERIVED_BY, DERIVED_FROM
from kiprdf.loading import load
from kiprdf.rdf.literals import Json
from kiprdf.semantics import check
from kiprdf.source import Span, position
from kiprdf.store import NexusStore

if TYPE_CHECKING:
    from kiprdf.execution.engine import CommandEngine
    from kiprdf.interchange.formats import Profile

T = TypeVar("T")
MOST_ROWS = 100
"""The rows of a page that are explained."""
MOST_COUNTED = 1_000_000
"""Derivations of a row that are counted."""
MOST_BESIDE = 20
"""Facts that are named beside one."""


class ExplainedRow(NamedTuple):
    """What one row rests on: its first ``derivations``, and the number of ``more`` if it is known.

    ``group`` is the number of solutions of a row with aggregates. ``confidence`` is that of the
    best derivation, the lowest of its propositions that have one; ``trust`` is the best one's
    lowest (``kiprdf.trust``).
    """

    row: int
    derivations: tuple[kql.Derivation, ...]
    more: int | None
    group: Mapping[str, int | None] | None
    confidence: float | None
    trust: str | None

    def to_json(self) -> dict[str, Json]:
        """The row as an object of JSON."""
        return {
            "row": self.row,
            "derivations": [one.to_json() for one in self.derivations],
            "more": self.more,
            "group": None if self.group is None else dict(self.group),
            "confidence": self.confidence,
            "trust": self.trust,
        }


class Explained:
    """The ``result`` of a FIND, and what its first ``rows`` come from, as of one ``commit``.

    ``next_cursor`` and ``warnings`` are those of the answer.
    """

    def __init__(
        self,
        engine: CommandEngine,
        command: Callable[[], str],
        outcome: FindResult,
        rows: Sequence[ExplainedRow],
    ) -> None:
        self._engine = engine
        self._command = command
        self.outcome = outcome
        self.result = shape(outcome.find, outcome.columns)
        self.rows = tuple(rows)
        self.commit = engine.store.commit()
        self.next_cursor: str | None = None
        self.warnings: tuple[KipWarning, ...] = ()

    def add(self, next_cursor: str | None, warnings: tuple[KipWarning, ...]) -> None:
        """Add what an answer has beside its result."""
        left_out = [row.row for row in self.rows if row.more is None]
        if left_out:
            message = (
                f"The derivations of {len(left_out)} rows were not counted: there are too many."
            )
            hint = "Ask for fewer rows, or add clauses that they share."
            warnings = (*warnings, KipWarning("NotCounted", message, hint))
        self.next_cursor, self.warnings = next_cursor, warnings

    def __repr__(self) -> str:
        """A line for each derivation."""
        lines = []
        for row in self.rows:
            for one in row.derivations:
                lines.append(f"row {row.row}: {', '.join((*one.cited, *one.concepts))}")
            if row.more != 0:
                lines.append(f"row {row.row}: {row.more or 'an unknown number of'} more")
        return "\n".join(lines) or "no rows"

    def to_json(self) -> list[dict[str, Json]]:
        """The rows as JSON, as a response has them under ``why``."""
        return [row.to_json() for row in self.rows]

    def response(self) -> dict[str, Any]:
        """The response to a request that asks why, as JSON."""
        response = protocol.response_of(self.result, self.next_cursor, self.warnings)
        return {**response, "why": self.to_json()}

    def cited(self) -> tuple[list[str], list[str]]:
        """The ids that all derivations cite, and in words what there is beside them.

        >>> from kiprdf import Nexus
        >>> Nexus.memory().why('FIND(?d.name) WHERE { ?d {name: "CoreSchema"} }').cited()
        (['C:Domain/CoreSchema'], [])
        """
        derivations = [one for row in self.rows for one in row.derivations]
        ids = [id for one in derivations for id in (*one.cited, *one.concepts)]
        rows = len(self.outcome.columns[0])
        left_out = [] if rows == len(self.rows) else [f"{len(self.rows)} of {rows:,} rows"]
        more = [row.more for row in self.rows]
        if any(number != 0 for number in more):
            number = "uncounted" if None in more else f"{sum(map(int, filter(None, more))):,}"
            left_out.append(f"{number} more derivations of the rows")
        left_out += [warning.located_message for warning in self.warnings]
        return list(dict.fromkeys(ids)), left_out

    def evidence(self) -> dict[str, dict[str, Json]]:
        """What the cited propositions rest on, by id; what they come from follows them.

        Each has ``subject``, ``predicate`` and ``object``, or ``type`` and ``name``; ``source``,
        ``author``, ``confidence``, ``status`` and ``evidence`` of its metadata, and ``derived_by``,
        the rule that it follows from; the ids of what it is ``derived_from``, and of what
        ``states`` it; ``trust``; ``valid``, its intervals;
        ``superseded_by``; ``beside``, the other facts with its subject and predicate; and
        ``written``, the last commit that changed it, where there is a history.

        Raises ``KipError``: KIP_1001 if the nexus has changed, and has no history.
        """
        cited = dict.fromkeys(id for row in self.rows for d in row.derivations for id in d.cited)
        history = self._engine.store
        return self._at_commit(lambda store: _evidence(list(cited), store, history, self.commit))

    def to_turtle(self, profile: Profile = "rdf11") -> str:
        """The answer with its proof, in PROV-O: the answer and its rows, each derived from what it
        cites, and this with its provenance, in one of the profiles of a snapshot.

        Raises ``KipError`` as ``evidence``.
        """
        load("kiprdf.interchange.proofs")
        from kiprdf.interchange import proofs

        values = list(zip(*self.outcome.columns, strict=True))
        answered = [
            proofs.Row(row.row, list(values[row.row]), *_all_cited(row.derivations))
            for row in self.rows
        ]
        return self._at_commit(
            lambda store: proofs.turtle(store, self._command(), self.commit, answered, profile)
        )

    def _at_commit(self, function: Callable[[NexusStore], T]) -> T:
        """Call a function with the store as of the answer."""
        store = self._engine.store

        def read() -> T | None:
            return function(store) if store.commit() == self.commit else None

        result = self._engine.boundary.request(lambda: store.read(read))
        if result is not None:
            return result
        if store.journal is None:
            message = f"The nexus has changed since commit {self.commit}, and keeps no history."
            raise KipError("KIP_1001", message, "Ask why again.")
        with closing(self._engine.past(self.commit)) as past:
            return self._engine.boundary.request(lambda: function(past.store))


def explain(
    engine: CommandEngine,
    text: str,
    parameters: Mapping[str, Any],
    store: NexusStore,
    row: int | None = None,
) -> Explained:
    """The answer to a FIND, and what its rows come from, or one of them."""
    asking = _Asking(engine, text, parameters, store)
    outcome = asking.with_lack(asking.answer())
    table = list(zip(*outcome.columns, strict=True))
    width = asking.rewriting.width
    outcome = outcome._replace(columns=outcome.columns[:width])
    numbers = list(range(min(len(table), MOST_ROWS))) if row is None else [row]
    if row is not None and (type(row) is not int or not 0 <= row < len(table)):
        message = f"The answer has no row {row}; it has {len(table)}, from 0 on."
        raise KipError("KIP_1001", message, "Leave the row out to explain all.")
    keys = [asking.rewriting.key_of(table[number]) for number in numbers]
    is_whole = outcome.next_cursor is None and len(keys) == len(table)
    rows = asking.rows(numbers, keys, is_whole)
    return Explained(engine, asking.command, outcome, rows)


class _Asking:
    """Asks for the rows of a FIND, and for what they come from."""

    def __init__(
        self,
        engine: CommandEngine,
        text: str,
        parameters: Mapping[str, Any],
        store: NexusStore,
    ) -> None:
        self._engine, self._text, self._store = engine, text, store
        self._parameters = with_moment(text, parameters)
        self.rewriting = engine.statements.rewriting(text)
        self._finder = kql.Finder(self.rewriting, store, self._parameters, self._place)
        self._trusts = Trusts(store)
        self._sizes: dict[kql.Question, dict[kql.Key, int]] = {}

    # Rows -------------------------------------------------------------------------------------

    def answer(self) -> FindResult:
        """The answer, with the keys of its rows beside it."""
        text = self.rewriting.text
        outcome = None if text is None else self._kept(text, self._parameters)
        if outcome is None:
            find = self._bound(self._text)
            check(find, self._engine.catalogs.catalog())
            beside = self.rewriting.find.expressions[self.rewriting.width :]
            return run(find, self._store, beside)._replace(find=find)
        if outcome.next_cursor is None and outcome.lacks is None:
            return outcome
        number = len(outcome.columns[0])
        find, commit, view = self._bound(self._text), self._store.commit(), name_of(self._store)
        cursor = None
        if outcome.next_cursor is not None:
            cursor = partial(encode, find, commit, number, view)
        return outcome._replace(find=find, next_cursor=cursor)

    def with_lack(self, outcome: FindResult) -> FindResult:
        """The answer, and that it has no values: the keys beside them are values, too."""
        columns = outcome.columns[: self.rewriting.width]
        if not columns[0] or any(value is not None for column in columns for value in column):
            return outcome
        find = self._bound(self._text)
        plain = run(find, self._store)
        return outcome._replace(find=find, lacks=plain.lacks, commit=plain.commit)

    def _bound(self, text: str, parameters: Mapping[str, Any] | None = None) -> ast.Find:
        given = self._parameters if parameters is None else parameters
        return cast(ast.Find, self._engine.statements.template(text).bind(given))

    def _kept(self, text: str, parameters: Mapping[str, Any]) -> FindResult | None:
        """The answer by a plan that is kept; None where there is none, at the first time."""
        statements = self._engine.statements
        outcome = statements.find(text, parameters, lambda: self._store)
        if outcome is None:
            statements.template(text)
        return outcome

    def command(self) -> str:
        """The command with its parameters."""
        return name_of(self._store) + to_text(self._bound(self._text))

    # What they come from ----------------------------------------------------------------------

    def rows(
        self, numbers: Sequence[int], keys: Sequence[kql.Key], is_whole: bool
    ) -> list[ExplainedRow]:
        """What rows come from, by their keys; where they are all rows, in one question each."""
        identities = [tuple(map(value_identity, key)) for key in keys]
        derived = {one: _Derived() for one in identities}
        for question in self.rewriting.questions:
            pairs = zip(identities, keys, strict=True)
            open_keys = {one: key for one, key in pairs if question.is_possible(key)}
            if is_whole and len(open_keys) > 1 and self._add_all(question, open_keys, derived):
                continue
            if len(open_keys) > 1:
                self._add_together(question, open_keys, derived)
            for one, key in open_keys.items():
                self._add_row(question, one, key, derived[one])
        return [
            self._row(number, derived[one]) for number, one in zip(numbers, identities, strict=True)
        ]

    def _add_all(
        self,
        question: kql.Question,
        identities: Iterable[kql.Key],
        derived: Mapping[kql.Key, _Derived],
    ) -> bool:
        """Add the solutions of a question for all rows; whether these are not too many."""
        nulls = (None,) * len(self.rewriting.key)
        text = question.text(nulls)
        every = self._asked(question, text, self._arguments(text, nulls))
        if len(every) > text.most:
            return False
        by_key = self._by_key(every)
        for one in identities:
            of_row = by_key.get(one, [])
            derived[one].add(question, of_row, len(of_row))
        return True

    def _add_together(
        self,
        question: kql.Question,
        open_keys: dict[kql.Key, kql.Key],
        derived: Mapping[kql.Key, _Derived],
    ) -> None:
        """Add the solutions of a question that the index has, and take their rows off the keys."""
        alike: dict[kql.Restrictions, list[kql.Key]] = {}
        for one, key in open_keys.items():
            alike.setdefault(self.rewriting.restrictions(key), []).append(one)
        for restrictions, identities in alike.items():
            text = question.text(restrictions)
            arguments = [self._arguments(text, open_keys[one]) for one in identities]
            solved = self._engine.statements.solutions_of_each(text.command, arguments, self._store)
            by_key = self._by_key(solved or ())
            for one in identities if solved is not None else ():
                of_row = by_key.get(one, [])
                if len(of_row) <= text.most:
                    derived[one].add(question, of_row, len(of_row))
                    del open_keys[one]

    def _by_key(self, solved: Iterable[kql.Cells]) -> dict[kql.Key, list[kql.Cells]]:
        by_key: dict[kql.Key, list[kql.Cells]] = {}
        for cells in solved:
            by_key.setdefault(self._finder.key(cells), []).append(cells)
        return by_key

    def _add_row(
        self, question: kql.Question, identity: kql.Key, key: kql.Key, derived: _Derived
    ) -> None:
        """Add the solutions of a question for one row."""
        text = question.text(self.rewriting.restrictions(key))
        arguments = self._arguments(text, key)
        solved = self._asked(question, text, arguments)
        own = solved
        if self.rewriting.is_grouped:
            own = [cells for cells in solved if self._finder.key(cells) == identity]
        number: int | None = len(own)
        is_exact = len(own) == len(solved)
        if len(solved) > text.most:
            own = own[: kql.MOST_OF_ROW]
            number = self._size(question, identity)
            if number is None and is_exact:
                number = self._counted(text, arguments)
        derived.add(question, own, number)

    def _asked(
        self, question: kql.Question, text: kql.Text, arguments: Mapping[str, Any]
    ) -> list[kql.Cells]:
        """The solutions of a question, one more than the most that it asks for if there are."""
        solved = self._engine.statements.solutions(text.command, arguments, self._store)
        if solved is None:
            solved = solutions(question.names, self._bound(text.command, arguments), self._store)
        return list(solved)

    def _size(self, question: kql.Question, identity: kql.Key) -> int | None:
        """The number of solutions of a group, which are counted together with those of others."""
        if question not in self._sizes:
            self._sizes[question] = {}
            is_one_link = not self._finder.is_entailed
            if is_one_link and self.rewriting.is_grouped and identity and question.sizes:
                with suppress(KipError):
                    self._sizes[question] = spend_half(partial(self._all_sizes, question.sizes))
        return self._sizes[question].get(identity)

    def _all_sizes(self, text: kql.Text) -> dict[kql.Key, int]:
        parameters = {name: self._parameters[name] for name in text.placeholders}
        outcome = self._kept(text.command, parameters)
        if outcome is None:
            outcome = run(self._bound(text.command, parameters), self._store)
        *keys, numbers = outcome.columns
        return {
            tuple(map(value_identity, key)): cast(int, number)
            for *key, number in zip(*keys, numbers, strict=True)
        }

    def _counted(self, text: kql.Text, arguments: Mapping[str, Any]) -> int | None:
        """The number of solutions; None where the budget does not suffice."""
        # What follows may be of several links.
        counted = text.command if self._finder.is_entailed else text.counted
        where = self._bound(counted, arguments).where
        with suppress(KipError):
            number = spend_half(lambda: count_solutions(where, self._store, MOST_COUNTED))
            return None if number == MOST_COUNTED else number
        return None

    def _arguments(self, text: kql.Text, key: kql.Key) -> dict[str, Any]:
        """The parameters of a text, some of which are the values of a row."""
        every = {**self._parameters, **dict(zip(self.rewriting.parameters, key, strict=True))}
        return {name: every[name] for name in text.placeholders}

    # As it is shown ---------------------------------------------------------------------------

    def _row(self, number: int, derived: _Derived) -> ExplainedRow:
        ranked = self._finder.ranked(derived.solutions)
        shown = tuple(map(self._finder.derivation, ranked[: kql.SHOWN]))
        trust = self._trust(ranked)
        return ExplainedRow(
            number,
            shown,
            None if derived.number is None else derived.number - len(shown),
            {"size": derived.number} if self.rewriting.is_grouped else None,
            self._finder.confidence(ranked[0]) if ranked else None,
            None if trust is None else STATUSES[trust],
        )

    def _trust(self, solutions: Iterable[kql.Solved]) -> int | None:
        """The lowest place of the propositions of that solution where it is the highest."""
        highest = None
        for one in solutions:
            lowest = min(map(self._trusts.of, self._finder.links(one)), default=None)
            if lowest is not None:
                highest = lowest if highest is None else max(lowest, highest)
            if highest == self._trusts.most:
                break
        return highest

    def _place(self, span: Span) -> str:
        line, column = position(self._text, span.start)
        return f"{line}:{column}"


class _Derived:
    """Solutions that give a row, and how many there are; None if that is not known."""

    def __init__(self) -> None:
        self.solutions: list[kql.Solved] = []
        self.number: int | None = 0

    def add(self, question: kql.Question, solved: list[kql.Cells], number: int | None) -> None:
        """Add the solutions of one question."""
        self.solutions += [kql.Solved(question, cells) for cells in solved]
        self.number = None if number is None or self.number is None else self.number + number


def _all_cited(derivations: Sequence[kql.Derivation]) -> tuple[list[str], list[str]]:
    """The ids of all elements of some derivations, and the rules by which they lead to the row."""
    cited = dict.fromkeys(id for d in derivations for id in (*d.cited, *d.concepts))
    rules = dict.fromkeys(f"{one['by']} of {one['of']}" for d in derivations for one in d.inferred)
    return list(cited), list(rules)


# Evidence -----------------------------------------------------------------------------------------


def _evidence(
    ids: list[str], store: NexusStore, history: NexusStore, commit: int
) -> dict[str, dict[str, Json]]:
    evidence: dict[str, dict[str, Json]] = {}
    pending = ids[::-1]
    reader = Reader(store)
    while pending:
        id = pending.pop()
        if id not in evidence:
            evidence[id] = of_one = _of_one(id, reader, store)
            pending += [*of_one["derived_from"], *of_one["states"]][::-1]
    written = _written(list(evidence), history, commit)
    return {id: {**one, "written": written.get(id)} for id, one in evidence.items()}


def _of_one(id: str, reader: Reader, store: NexusStore) -> dict[str, Any]:
    node = store.iris.from_id(id)
    assert node is not None, id
    shown = reader.object(node)
    metadata: Any = shown.get("metadata", {})
    names = ("subject", "predicate", "object") if "subject" in shown else ("type", "name")
    superseded_by = metadata.get("superseded_by")
    return {
        **{name: shown[name] for name in names},
        **{name: metadata.get(name) for name in _METADATA},
        "derived_from": _ends(node, DERIVED_FROM, store, is_subject=True),
        "states": _ends(node, STATES, store, is_subject=False),
        "trust": STATUSES[trust_of(store, node)],
        "valid": validity_of(store, node),
        "superseded_by": superseded_by,
        "beside": _beside(node, reader, store),
    }


_METADATA = ("source", "author", "confidence", "status", "evidence", DERIVED_BY)


def _ends(node: NamedNode, predicate: str, store: NexusStore, *, is_subject: bool) -> list[str]:
    """The ids of the other ends of the facts with a predicate."""
    name = store.iris.predicate(predicate)
    facts = store.match(node, name, None) if is_subject else store.match(None, name, node)
    ends = (cast(NamedNode, fact.object if is_subject else fact.subject) for fact in facts)
    return sorted(map(store.iris.id, ends))


def _beside(node: NamedNode, reader: Reader, store: NexusStore) -> list[dict[str, Json]]:
    """Other facts with the subject and predicate of one: they may contradict it."""
    fact = reader.fact(node)
    if fact is None:
        return []
    facts = store.lookup(fact.subject, fact.predicate, None, MOST_BESIDE + 1)
    stated = (Triple(one.subject, one.predicate, one.object) for one in facts)
    links = sorted(filter(None, (link_of(store, one) for one in stated)), key=str)
    return [
        {
            "id": store.iris.id(link),
            "object": reader.value(link, "object", None),
            "status": reader.value(link, "metadata", "status"),
            "superseded_by": reader.value(link, "metadata", "superseded_by"),
        }
        for link in links
        if link != node
    ][:MOST_BESIDE]


def _written(ids: Sequence[str], store: NexusStore, commit: int) -> dict[str, dict[str, Json]]:
    """The last commit that changed each element, as of one; none where there is no history."""
    try:
        entries = last_commits(store, ids, commit)
    except KipError as error:
        if error.code != "KIP_1001":
            raise
        return {}
    return {
        id: {name: entry[name] for name in _OF_COMMIT if name in entry}
        for id, entry in entries.items()
    }


_OF_COMMIT = ("scope", "seq", "at", "author", "actor", "session", "statement")
