"""Erases elements for good: from the graph, its history, and every file of the folder.

DELETE hides: the engine keeps removed texts on disk, and the history has them. So the graph and the
journal are written afresh without the elements (docs/decisions/098).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.execution.support import unsupported
from kiprdf.execution.writer import BOOTSTRAP, Writer
from kiprdf.kml.draft import Clock, Draft
from kiprdf.kml.says import Says, ids_of
from kiprdf.kql.identities import exists
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Proposition, Term
from kiprdf.rdf.iris import ConceptName, PropositionName, encode, proposition_digits
from kiprdf.rdf.literals import to_json
from kiprdf.semantics.protected import ACTORS, SYSTEM
from kiprdf.source import NOWHERE
from kiprdf.store import Delta, Origin, OxigraphStore
from kiprdf.store.bookkeeping import note, record
from kiprdf.store.erasures import digest, digests, listed, noted
from kiprdf.store.journal import NO_RECORDS
from kiprdf.store.journal_files import Commit, decoded, encoded, links_of, number_of, rewritten
from kiprdf.store.past import base_of, require_embedded

KIND = "FORGET"
"""What the history calls the commit that forgets."""
FORGOTTEN = "forgotten"
"""The record of how many elements a commit has forgotten."""
REWRITTEN = "rewritten"
"""The record of how many records of the history it has written again without them."""

_LINK = re.compile(r"\b([0-9a-f]{16})[:/](\w+)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_MERGED_FROM = vocab.metadata(vocab.MERGED_FROM)
SHORT = 4
"""The length from which a name is found within a longer word."""


class ErasurePlan:
    """What is forgotten: a ``draft`` without it, and the ``erased`` nodes, now and in the past.

    Nodes that are gone by now are erased from the past. ``derived`` is forgotten besides,
    since it has no other evidence than the nodes. ``named`` are the digests of an erasure list.
    """

    def __init__(
        self,
        store: OxigraphStore,
        clock: Clock,
        nodes: Collection[NamedNode],
        proposals: Sequence[Mapping[str, Any]] = (),
        questions: Sequence[Mapping[str, str]] = (),
        derived: Collection[NamedNode] = (),
        named: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.draft = Draft(store, clock)
        self.draft.delete(node for node in (*nodes, *derived) if exists(node, store))
        self._chosen = nodes
        self._derived = derived
        self._named = named
        self._facts: dict[Any, Any] = {
            node: self.draft.fact(link)
            for node, link in self.draft.deleted.items()
            if isinstance(link, Proposition)
        }
        self.erased = {*nodes, *self.draft.deleted, *self._merged()}
        self._journal = store.journal or store.closed_journal
        self.commits: list[int] = []
        """Those whose records mention what is forgotten."""
        self._begin = 0
        """The commit up to which the history becomes one record; 0 for none."""
        self._trace()
        names = [store.iris.name(node.value) for node in self.erased]
        self._names = {name.name for name in names if isinstance(name, ConceptName)}
        self.proposals = self._mentioning(proposals) if self.erased or named else []
        self.questions = [
            one["name"]
            for one in questions
            if self._is_mentioned_in(_content({"text": one["command"], "reason": one["name"]}))
        ]
        """The names of the saved questions that mention what is forgotten."""

    @property
    def finds_nothing(self) -> bool:
        """Whether neither the graph nor the history has what is forgotten."""
        return not (self.draft.deleted or self.commits)

    @property
    def sees_all(self) -> bool:
        """Whether the history has all commits; else removed texts may be in the graph's files."""
        journal = self._journal
        return journal is not None and journal.base is None and not journal.gaps

    @property
    def is_needless(self) -> bool:
        """Whether it was done before, or nothing was ever there and no list is to be noted."""
        return self.finds_nothing and (not self.unlisted or (self.sees_all and not self._named))

    @cached_property
    def unlisted(self) -> frozenset[str]:
        """The digests of what is forgotten, and of the list, that the nexus has not listed."""
        own = (digests(self.store.iris, node, self._facts.get(node)) for node in self.erased)
        erased = frozenset(chain(self._named, chain.from_iterable(own)))
        return erased - listed(self.store.records())

    def report(self) -> dict[str, Any]:
        """The ids, the commits that mention them, and the ids of others that mention a name."""
        ids = self.store.iris.id
        others = {*self._chosen, *self._derived}
        links = [node for node in self.draft.deleted if node not in others]
        return {
            "elements": sorted(map(ids, self._chosen)),
            "links": sorted(map(ids, links)),
            "commits": self.commits,
            "mentions": sorted(set(self._mentions())),
            **({"proposals": self.proposals} if self.proposals else {}),
            **({"questions": self.questions} if self.questions else {}),
        }

    def _merged(self) -> Iterator[NamedNode]:
        """The concepts that were merged into those that are forgotten."""
        for element in self.draft.deleted.values():
            for node in self._trail(element.metadata.get(vocab.MERGED_FROM)):
                if not exists(node, self.store):
                    yield node

    def _trail(self, term: Term | None) -> Iterator[NamedNode]:
        """The concepts that ``_merged_from`` names."""
        for entry in _items(term):
            type, _, name = entry.partition(":")
            yield self.store.iris.concept(type, name)

    def _trace(self) -> None:
        """Find the commits that mention what is forgotten, and elements that are gone by now.

        Those are what was about it, what was merged into it, and links that stated its fact.
        A MERGE gives links other ends. One that has an end among what is forgotten at one time, and
        others at another time, would lack something in some states: then the history begins when
        that changed for the last time.
        """
        if self._journal is None:
            return
        size = 0
        while size != len(self.erased):
            size, self.commits = len(self.erased), []
            links: dict[Any, dict[bool, int]] = {}
            facts: dict[Any, Any] = {}
            stating: dict[Triple, Any] = {}
            merged: dict[Any, Any] = {}
            for commit in paced(self._journal.commits(0, self._journal.last)):
                rows = [*commit.removed, *commit.added]
                for subject, predicate, value in rows:
                    if predicate == vocab.REIFIES:
                        # The last entry is that of the last row.
                        about = links.setdefault(subject, {})
                        is_about = self._is_erased(value)
                        about.pop(is_about, None)
                        about[is_about] = commit.number
                        facts[subject] = value
                    elif predicate == vocab.TYPE and value in self.erased:
                        self.erased.add(subject)
                stating |= _stated(commit.added)
                merged |= self._merges(commit, stating)
                if any(map(self._is_erased, rows)):
                    self.commits.append(commit.number)
            self.erased |= {link for link, about in links.items() if [*about][-1]}
            self._facts |= {link: fact for link, fact in facts.items() if link in self.erased}
            forgotten = {fact for link, fact in facts.items() if link in self.erased}
            gone = {link for link, fact in facts.items() if fact in forgotten}
            gone |= {node for node, other in merged.items() if other in self.erased}
            self.erased |= {node for node in gone - self.erased if not exists(node, self.store)}
            self._begin = max(
                (min(about.values()) for about in links.values() if len(about) > 1), default=0
            )

    def _merges(self, commit: Commit, stating: Mapping[Triple, Any]) -> dict[Any, Any]:
        """What a commit merged: each concept, and each link whose fact became that of another."""
        removed = {subject for subject, predicate, _ in commit.removed if predicate == vocab.TYPE}
        merged: dict[Any, Any] = {}
        value: Any
        for target, predicate, value in commit.added:
            if predicate == _MERGED_FROM:
                merged |= dict.fromkeys(removed.intersection(self._trail(value)), target)
        facts = {link: fact for fact, link in _stated(commit.removed).items()} if merged else {}
        size = 0
        while size != len(merged):  # links about links follow these
            size = len(merged)
            for link, fact in facts.items():
                ends = (merged.get(end, end) for end in (fact.subject, fact.object))
                other = stating.get(Triple(next(ends), fact.predicate, next(ends)), link)
                if other != link:
                    merged[link] = other
        return merged

    def _is_erased(self, row: Any) -> bool:
        subject, predicate, value = row
        if predicate == vocab.SAYS:
            ids = ids_of(Says.read(value.value).wire)
            return not self._erased_ids.isdisjoint(ids)
        terms = (subject, predicate, *(value if isinstance(value, Triple) else (value,)))
        return not self.erased.isdisjoint(terms)

    @property
    def _erased_ids(self) -> set[str]:
        """The ids of what is erased, and those that links have by their ends."""
        ids, id = set(map(self.store.iris.id, self.erased)), self.store.iris.id
        for node, fact in self._facts.items():
            if node in self.erased:
                predicate = fact.predicate.value[len(self.store.iris.predicates) :]
                digits = proposition_digits(id(fact.subject), predicate, id(fact.object))
                ids.add(PropositionName(digits, predicate).id)
        return ids

    def _mentions(self) -> Iterator[str]:
        """The ids of other elements whose name or values, now or earlier, have a name or an id."""
        if not self.erased:
            return
        rows: Iterable[Any] = self.store.match(None, None, None)
        past = () if self._journal is None else self._journal.commits(0, self._journal.last)
        for part in (rows, *((*commit.removed, *commit.added) for commit in past)):
            for row in paced(part):
                subject, _, value = row
                if not isinstance(value, Literal) or self._is_erased(row):
                    continue
                if self._is_mentioned_in(value.value):
                    yield self.store.iris.id(subject)

    @cached_property
    def _is_mentioned_in(self) -> Callable[[str], bool]:
        """Whether a text has a name or an id of what is forgotten."""
        iris = (_items(one.attributes.get("same_as")) for one in self.draft.deleted.values())
        names = self._names.union(*iris)
        ways = (str, _escaped, encode, quote)
        texts = {way(name) for name in names for way in ways}
        ids = set(map(self.store.iris.id, self.erased))
        pattern = re.compile("|".join(map(_pattern, sorted(texts))) or "$^")
        return lambda text: bool(pattern.search(text)) or not ids.isdisjoint(_ids_in(text))

    def _mentioning(self, proposals: Iterable[Mapping[str, Any]]) -> list[str]:
        """The ids of the proposals that mention what is forgotten."""
        return [
            one["id"]
            for one in proposals
            if self._is_mentioned_in(_content(one))
            # What an erasure list names may be in no graph yet.
            or not self._named.isdisjoint(map(digest, one["reads"]))
        ]

    # Writing ----------------------------------------------------------------------------------

    def records(self) -> dict[str, str]:
        """What the nexus notes in the commit that forgets."""
        number = self.store.commit() + 1
        counts = {FORGOTTEN: str(len(self.draft.deleted)), REWRITTEN: str(len(self.commits))}
        return {**counts, **noted(number, self.unlisted)}

    def apply(self, origin: Origin, records: dict[str, str]) -> None:
        """Forget, as one commit with these records; the lock is held."""
        number = self.store.commit() + 1
        before = self.store.records()
        notes = {key: (before.get(key), value) for key, value in records.items()}
        stub = Commit(number, origin, records=notes)
        self.store.rewrite(self._quads(number, records), lambda: self._prepare(stub))

    def _quads(self, number: int, records: dict[str, str]) -> Iterator[Quad]:
        replaced = {vocab.COMMIT, vocab.CHAIN, vocab.REWRITTEN, *map(record, records)}
        links = (link for link in self.draft.deleted.values() if isinstance(link, Proposition))
        facts = set(map(self.draft.fact, links))
        for quad in paced(iter(self.store.engine)):
            is_note = quad.graph_name == vocab.BOOKKEEPING and quad.predicate in replaced
            is_gone = quad.subject in self.draft.deleted or quad.triple in facts
            if quad.predicate in (vocab.SAYS, vocab.UNSETTLED):
                is_gone = self._is_erased(quad.triple)
            if not is_note and not is_gone:
                yield quad
        yield from (note(record(key), Literal(value)) for key, value in records.items())
        yield from (NO_RECORDS if self._journal is None else self._journal.prepared).notes(number)

    def _prepare(self, stub: Commit) -> None:
        journal = self._journal
        if journal is None or (not journal.last and self.store.journal is None):
            return
        has_base = self._begin > 0 or journal.base is not None
        journal.prepare(
            self._records(stub),
            lambda digest, text: not self._has_name(text),
            has_base=has_base,
        )

    def _has_name(self, text: str) -> bool:
        """Whether the text of a statement has a name of what is forgotten."""
        return any(name in text for name in self._names)

    def _records(self, stub: Commit) -> Iterator[bytes]:
        journal = self._journal
        assert journal is not None
        if self._begin:
            yield base_of(self.store, journal, self._begin, self._without)
        affected = set(self.commits)
        texts = journal.statements().items()
        forgotten = {digest for digest, text in texts if self._has_name(text)}
        for data in journal.records(self._begin):
            has_text = links_of(data).statement in forgotten if forgotten else False
            if not has_text and number_of(data) not in affected:
                yield data
                continue
            commit = self._without(decoded(data))
            origin = commit.origin._replace(digest=None) if has_text else commit.origin
            yield rewritten(replace(commit, origin=origin), data)
        if self.store.journal is not None:
            yield encoded(stub, previous=journal.head)

    def _without(self, commit: Commit) -> Commit:
        """A commit without the erased elements; a fact is there as long as a link states it."""
        predicates = self.store.iris.predicates
        removed, added = (
            [
                row
                for row in side
                if not self._is_erased(row) and not row[1].value.startswith(predicates)
            ]
            for side in (commit.removed, commit.added)
        )
        before, after = _stated(removed), _stated(added)
        removed += [fact for fact in before if fact not in after]
        added += [fact for fact in after if fact not in before]
        return replace(commit, removed=removed, added=added)


def _stated(rows: Iterable[Any]) -> dict[Triple, Any]:
    """The facts of links, and the links, among some rows."""
    return {fact: link for link, predicate, fact in rows if predicate == vocab.REIFIES}


def _items(term: Term | None) -> list[str]:
    """The texts of a value, which may be an array."""
    value = None if term is None else to_json(term)
    return [
        item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)
    ]


def _content(proposal: Mapping[str, Any]) -> str:
    """The texts of a proposal, without who made it, and without the escapes of its statement."""
    kept = [proposal.get(key) for key in ("text", "parameters", "reads", "changes", "reason")]
    text = "\n".join(_strings(kept))
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return text + plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _strings(value: Any) -> Iterator[str]:
    """The texts in a value of JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value:
            yield from _strings(item)
        if isinstance(value, dict):
            yield from _strings([*value.values()])


def _ids_in(text: str) -> Iterator[str]:
    """The ids of propositions in a text, which may be written as IRIs."""
    return (f"P:{digits}:{predicate}" for digits, predicate in _LINK.findall(text))


def _escaped(name: str) -> str:
    return json.dumps(name)[1:-1]


def _pattern(name: str) -> str:
    """A regular expression of a name; a short one must be a whole word."""
    escaped = re.escape(name)
    return escaped if len(name) >= SHORT else rf"(?<![0-9A-Za-z]){escaped}(?![0-9A-Za-z])"


def forget(
    writer: Writer, select: Callable[[], Collection[NamedNode]], derived: bool, dry_run: bool
) -> dict[str, Any]:
    """Forget elements for good, and return what was, or would be, forgotten.

    With ``derived`` so is what has no other evidence; without, the report has its ids.
    """
    store = require_embedded(writer.store, "forget")
    lost: list[NamedNode] = []

    def plan() -> ErasurePlan:
        chosen = select()
        lost[:] = unsupported(Draft(store, writer.clock), chosen)
        return _planned(writer, store, chosen, derived=lost if derived else ())

    def report(plan: ErasurePlan) -> dict[str, Any]:
        ids = sorted(map(store.iris.id, lost))
        more = {"derived": ids} if derived else {"unsupported": ids} if ids else {}
        return {**plan.report(), **more}

    return _carried_out(writer, plan, report, dry_run)


def apply_erasures(writer: Writer, given: frozenset[str], dry_run: bool) -> dict[str, Any]:
    """Forget what an erasure list names, add the list to that of the nexus, and return counts."""
    store = require_embedded(writer.store, "forget")
    kept = (digest(ConceptName(*name).id) for name in (*SYSTEM, *ACTORS))
    chosen = given.difference(kept)

    def plan() -> ErasurePlan:
        return _planned(writer, store, named(store, chosen), named=chosen)

    def report(plan: ErasurePlan) -> dict[str, Any]:
        return {
            "erased": len(plan.draft.deleted),
            "commits": len(plan.commits),
            "listed": len(plan.unlisted),
        }

    return _carried_out(writer, plan, report, dry_run)


def _planned(
    writer: Writer, store: OxigraphStore, nodes: Collection[NamedNode], **options: Any
) -> ErasurePlan:
    """A plan that the rules of the nexus allow."""
    kept = writer.proposals.all(), writer.questions.all()
    plan = ErasurePlan(store, writer.clock, nodes, *kept, **options)
    # No shape keeps what has to be forgotten.
    writer.check(plan.draft, NOWHERE, remedy="Forget", gated=False)
    return plan


def _carried_out(
    writer: Writer,
    plan: Callable[[], ErasurePlan],
    report: Callable[[ErasurePlan], dict[str, Any]],
    dry_run: bool,
) -> dict[str, Any]:
    """The report of a plan, which is carried out unless this is a dry run."""

    def write(plan: ErasurePlan) -> dict[str, Any]:
        shown = report(plan)
        # After a crash in between, nothing is forgotten yet.
        writer.proposals.remove(plan.proposals)
        writer.questions.remove(plan.questions)
        return {**shown, "seq": None if plan.is_needless else _erase(plan, writer)}

    return report(writer.store.read(plan)) if dry_run else writer.run_planned(plan, write)


def _erase(plan: ErasurePlan, writer: Writer) -> int:
    """Write a plan as one commit, and return its number; an empty nexus stays empty."""
    number = plan.store.commit() + 1
    records = plan.records()
    if writer.is_empty():
        records[BOOTSTRAP] = str(number)
    if plan.finds_nothing and plan.sees_all:
        writer.commit(Delta(records=records), KIND)
    else:
        origin = writer.origin(KIND)
        writer.rewrite(plan.store, lambda: plan.apply(origin, records))
    return number


def named(store: OxigraphStore, given: frozenset[str]) -> list[NamedNode]:
    """The elements that an erasure list names, now or in the history."""
    journal = store.journal or store.closed_journal
    past = () if journal is None else journal.commits(0, journal.last)
    rows = chain.from_iterable((*commit.removed, *commit.added) for commit in past)
    now = chain.from_iterable(store.match(None, key, None) for key in vocab.IDENTITY)
    chosen: dict[Any, None] = {}
    for node, key, fact in paced(chain(now, rows)):
        if key in vocab.IDENTITY and given.intersection(digests(store.iris, node, fact)):
            chosen[node] = None
    return list(chosen)
