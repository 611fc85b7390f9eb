"""Merges what another nexus knows, or a branch: three ways, as one commit (docs/decisions/209)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from threading import RLock
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf import collector
from kiprdf.actors import acting_on
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.errors import shown as shown_text
from kiprdf.execution.engine import CommandEngine
from kiprdf.execution.replacing import is_trusted
from kiprdf.execution.trust import Trusts
from kiprdf.execution.writer import Writer
from kiprdf.interchange import snapshots
from kiprdf.interchange.differences.difference import (
    VALUE_CHARACTERS,
    Change,
    Content,
    Difference,
    Fact,
    Identity,
    content_of,
    contents_of,
    differs,
    printable,
    rank,
    shown,
)
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.kml.draft import Draft, copied, timestamp
from kiprdf.kml.merge import unite
from kiprdf.kml.merged_origins import items
from kiprdf.kml.rejections import FactKeys
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Term
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json, normal
from kiprdf.semantics.protected import is_rejection
from kiprdf.sharing.applying import Applied, apply_changes
from kiprdf.sharing.conflicts import EXISTS, Writes
from kiprdf.sharing.sides import NO_BASE, Base, Source, base_of, opened
from kiprdf.sharing.three_way import Conflict, Rules, Side, State, ThreeWay, needs
from kiprdf.store import NexusStore, OxigraphStore, Store

KIND = "COMBINE"
"""What the history calls the commit of a merge; MERGE is the statement."""
_ONE_AT_A_TIME = RLock()
"""Two nexuses of a process that merge each other would wait for each other's lock."""
Prefer: TypeAlias = "str | Callable[[dict[str, Json]], str | None] | None"
PREFERENCES = ("ours", "theirs", "newest", "most_trusted")
MOST_SHOWN = 100
"""More conflicts are counted in the text, not listed."""
_MOST_NAMED = 20
"""More conflicts are counted in an error."""


@dataclass(frozen=True, repr=False)
class Merged:
    """What a merge has changed, or would change, and what it left; false if it changes nothing.

    ``base`` says which base was used, ``open`` are the conflicts that are left, ``decided`` is how
    many ``prefer`` has decided. Of what theirs has, ``erased`` elements were left out because the
    nexus has erased them, and ``rejected`` values, ids with the keys of attributes; ``protected``
    are elements that stay as they are by the rules of the core schema. ``seq`` is the number of
    the commit, None where nothing was written.
    """

    base: str
    open: tuple[Conflict, ...]
    difference: Difference
    decided: int = 0
    erased: int = 0
    rejected: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    seq: int | None = None

    def __bool__(self) -> bool:
        return bool(self.difference)

    def __repr__(self) -> str:
        return f"<Merged: {len(self.changes)} changes, {len(self.open)} conflicts>"

    @property
    def conflicts(self) -> list[dict[str, Json]]:
        """The conflicts that are left, as ``Nexus.conflicts`` lists them."""
        return [one.to_json() for one in self.open]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The elements that the merge changes, in the order of ``Nexus.diff``."""
        return self.difference.changes

    def counts(self) -> dict[str, dict[Any, int]]:
        """How many concepts and propositions are added, removed and changed."""
        return cast("dict[str, dict[Any, int]]", self.difference.counts())

    def text(self) -> str:
        """For people: the changes in the words of ``kiprdf diff``, and then the conflicts."""
        lines = [f"Base: {self.base}", "", self.difference.text() or "Nothing to change.\n"]
        return "\n".join([*lines, *self.left()]).rstrip("\n") + "\n"

    def left(self) -> list[str]:
        """For people: the conflicts, and how much was left out; no line if there is nothing."""
        lines = []
        if self.open:
            lines.append("Conflicts, of which ours stays")
            for one in self.open[:MOST_SHOWN]:
                sides = (("ours", one.ours), ("theirs", one.theirs))
                lines += [f"! {shown(one.identity)} {printable(one.key)}"]
                lines += [f"    {name}: {side_text(side)}" for name, side in sides]
            if len(self.open) > MOST_SHOWN:
                lines.append(f"… and {len(self.open) - MOST_SHOWN:,} more")
            lines.append("")
        counts = {
            "Conflicts": len(self.open),
            "Conflicts decided": self.decided,
            "Left out, erased here": self.erased,
            "Left out, rejected here": len(self.rejected),
            "Left as they are, protected": len(self.protected),
        }
        return lines + [f"{words}: {number:,}" for words, number in counts.items() if number]

    def to_json(self) -> dict[str, Json]:
        """For programs: the changes as those of ``Nexus.diff``, and the rest of the report."""
        return {
            "base": self.base,
            "seq": self.seq,
            **self.difference.to_json(),
            "conflicts": self.conflicts,
            "decided": self.decided,
            "erased": self.erased,
            "rejected": list(self.rejected),
            "protected": list(self.protected),
        }


def side_text(side: Mapping[str, Json]) -> str:
    """For people: the value of one side, and who wrote it when."""
    value = printable(canonical_json(side["value"])) if "value" in side else "deleted"
    if len(value) > VALUE_CHARACTERS:
        value = value[:VALUE_CHARACTERS] + "…"
    about = ", ".join(printable(str(side[key])) for key in ("by", "at") if side[key] is not None)
    return f"{value} ({about})" if about else value


def merge(
    engine: CommandEngine,
    theirs: Source,
    base: Source | None,
    *,
    token: str | None,
    prefer: Prefer,
    strict: bool,
    dry_run: bool,
) -> Merged:
    """Merge another side into a nexus: see ``Nexus.merge``."""
    writer, store = engine.writer, engine.store
    writer.require_one_nexus("Merging")
    if not (prefer is None or prefer in PREFERENCES or callable(prefer)):
        message = f"prefer is no way to decide: {shown_text(repr(prefer), 60)}."
        raise KipError("KIP_1001", message, f"Give one of {', '.join(PREFERENCES)}, or a function.")
    if not dry_run:
        writer.require_writable()
    with ExitStack() as stack:
        other = stack.enter_context(opened(theirs, store, token))
        given = None if base is None else stack.enter_context(opened(base, store, token))
        if isinstance(theirs, int) and given is None:
            given = other

        def run() -> Merged:
            chosen = base_of(store, other)
            if given is not None:
                name = f"commit {base}" if isinstance(base, int) else "the one that was given"
                chosen = Base(name, (lambda: nullcontext(given),), records=chosen.records)
            return _Merge(writer, other, chosen, prefer, strict).run(dry_run)[0]

        with _ONE_AT_A_TIME:
            return collector.paused(lambda: store.read(run) if dry_run else store.write(run))


class _Merge:
    """One merge of a nexus, whose lock is held unless it is a dry run."""

    def __init__(
        self, writer: Writer, theirs: NexusStore, base: Base, prefer: Prefer, strict: bool
    ) -> None:
        self._writer, self._store, self._theirs = writer, writer.store, theirs
        self._base, self._prefer, self._strict = base, prefer, strict
        self._draft = writer.new_draft()

    def run(self, dry_run: bool) -> tuple[Merged, Applied | None]:
        """Write the merge, unless this is a dry run; return its report, and what was written."""
        if self._base.is_theirs:
            return Merged(self._base.text, (), Difference(())), None
        before, compared = self._compare()
        if compared.conflicts and self._strict:
            raise _refused(compared.conflicts)
        named = {need for one in compared.changes for need in (one, *needs(one))}
        nodes = {one: self._node(compared.ours[one].id) for one in named if one in compared.ours}
        if any(isinstance(one, ConceptName) and is_rejection(*one) for one in compared.changes):
            self._draft.rejects = True
            self._writer.rejected.expire()
        applied = apply_changes(
            self._writer,
            compared.changes.values(),
            KIND,
            draft=self._draft,
            nodes=nodes,
            records=dict(self._base.records) if compared.differs else {},
            dry_run=dry_run,
        )
        rejected = (".".join(filter(None, one)) for one in compared.rejected + applied.rejected)
        report = Merged(
            self._base.text,
            tuple(compared.conflicts),
            self._difference(before, compared, applied),
            compared.decided,
            compared.erased + applied.erased,
            tuple(rejected),
            tuple(compared.protected),
            self._store.commit() if applied.delta and not dry_run else None,
        )
        return report, applied

    def _node(self, id: str) -> NamedNode:
        node = self._store.iris.from_id(id)
        assert node is not None, id
        return node

    # The states -------------------------------------------------------------------------------

    def _compare(self) -> tuple[State, ThreeWay]:
        """Our state, and the comparison of all three.

        A concept that one side has merged into another one is merged on the others, too, before.
        """
        with ExitStack() as stack:
            bases = [stack.enter_context(one()) for one in self._base.states]
            states = [_state(store) for store in bases]
            base = states[-1] if states else {}
            if len(states) > 1:
                first = states[0] if len(states) > 2 else {}
                base = ThreeWay(first, states[-2], states[-1], _UNDECIDED).compare().applied()
            before, theirs = _state(self._store), _state(self._theirs)
            ours = before
            mine, others = _renames(base, ours), _renames(base, theirs)
            if mine or others:
                ours = _state(self._store, self._draft, others)
                theirs = _state(self._theirs, Draft(self._theirs), mine)
                if len(bases) == 1:
                    base = _state(bases[0], Draft(bases[0]), {**others, **mine})
        return before, ThreeWay(base, ours, theirs, self._rules(theirs)).compare()

    def _rules(self, theirs: State) -> Rules:
        writer, iris = self._writer, self._store.iris
        names = FactKeys(self._draft)
        rejected = None
        if writer.has_rejections(self._store):
            rejected = writer.rejected_in(self._store)

        def is_erased(content: Content, identity: Identity) -> bool:
            fact = None
            if isinstance(identity, Fact) and content.ends is not None:
                subject, object_ = map(self._node, content.ends)
                fact = Triple(subject, iris.predicate(identity.predicate), object_)
            return bool(writer.erasures) and writer.lists(self._node(content.id), fact)

        def is_rejected(content: Content, key: str, term: Term) -> bool:
            if rejected is None:
                return False
            digests = names.attribute_digests(self._node(content.id), key, term)
            return bool(rejected.among(digests, self._store))

        writes = [(store.iris, Writes(store)) for store in (self._store, self._theirs)]

        def dated(conflict: Conflict, *contents: Content) -> Conflict:
            sides = []
            for content, (iris, written) in zip(contents, writes, strict=True):
                node = iris.from_id(content.id)
                assert node is not None, content.id
                sides.append(written.of(node, conflict.key, content.metadata))
            ours, theirs = sides
            return conflict._replace(
                ours={**conflict.ours, **ours}, theirs={**conflict.theirs, **theirs}
            )

        takes_rejections = is_trusted(acting_on(writer))
        return Rules(self._decider(theirs), is_erased, is_rejected, takes_rejections, dated)

    def _decider(self, theirs: State) -> Callable[[Conflict], Side | None]:
        """The function that decides a conflict."""
        prefer = self._prefer
        if prefer == "newest":
            latest = timestamp(self._writer.clock() + _AHEAD)
            return lambda conflict: _newest(conflict, latest)
        if prefer == "most_trusted":
            own, others = Trusts(self._store), Trusts(self._theirs)

            def most_trusted(conflict: Conflict) -> Side | None:
                if conflict.key == EXISTS:
                    return None
                other = self._theirs.iris.from_id(theirs[conflict.identity].id)
                assert other is not None
                places = own.of(self._node(conflict.id)), others.of(other)
                if places[0] == places[1]:
                    return None
                return "ours" if places[0] > places[1] else "theirs"

            return most_trusted
        if callable(prefer):
            return partial(_called, prefer)
        return lambda conflict: cast("Side | None", prefer)

    # The report -------------------------------------------------------------------------------

    def _difference(self, before: State, compared: ThreeWay, applied: Applied) -> Difference:
        ours = compared.ours
        renamed = () if ours is before else (one for one in {**before, **ours})
        changes = []
        for identity in dict.fromkeys((*renamed, *compared.changes)):
            old, new = before.get(identity), ours.get(identity)
            if identity in compared.changes:
                new = self._after(applied.nodes.get(identity))
            change = Change(identity, old and _plain(old), new and _plain(new))
            if (old or new) and differs(change, link_ids=False):
                changes.append(change)
        return Difference(tuple(sorted(changes, key=lambda change: rank(change.identity))))

    def _after(self, node: NamedNode | None) -> Content | None:
        """An element in the draft, as it is written; None for one that is deleted or left out."""
        edit = None if node is None or node in self._draft.deleted else self._draft.edits.get(node)
        return None if edit is None else content_of(_normal(edit.after), self._store.iris, True)


_IS_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_AHEAD = timedelta(days=1)
"""A time that is this far ahead of the clock is no reason to prefer a value."""
_UNDECIDED = Rules(lambda conflict: None, lambda *_: False, lambda *_: False, True)
"""The rules for a base of two states."""


def _state(
    store: NexusStore, draft: Draft | None = None, renames: Mapping[ConceptName, ConceptName] = {}
) -> dict[Identity, Content]:
    """The elements of a store, after concepts were merged into others in a draft."""
    elements = Knowledge.of(snapshots.dataset(store), store.iris).elements
    if draft is not None:
        for source, target in renames.items():
            merged = draft.element(draft.named(*source))
            if merged is not None and merged.node not in draft.deleted:
                into = draft.concept(*target)
                unite(cast(Concept, merged), cast(Concept, into), draft)
        elements |= {edit.after.node: _normal(edit.after) for edit in draft.changes()}
        elements = {node: one for node, one in elements.items() if node not in draft.deleted}
    return contents_of(elements, store.iris, engine_metadata=True)


def _renames(base: State, side: State) -> dict[ConceptName, ConceptName]:
    """The concepts of a base that a side has merged into others, and these."""
    renames = {}
    for target, content in side.items():
        if isinstance(target, ConceptName) and vocab.MERGED_FROM in content.metadata:
            for name in map(str, items(content.metadata[vocab.MERGED_FROM])):
                type, _, rest = name.partition(":")
                source = ConceptName(type, rest)
                if source in base and source not in side:
                    renames[source] = target
    return renames


def _normal(element: Element) -> Element:
    after = copied(element)
    for terms in (after.attributes, after.metadata):
        terms.update({key: normal(term) for key, term in terms.items()})
    return after


def _plain(content: Content) -> Content:
    """A content without what the engine maintains."""
    metadata = {key: one for key, one in content.metadata.items() if key not in vocab.ENGINE_KEYS}
    return replace(content, metadata=metadata)


def _newest(conflict: Conflict, latest: str) -> Side | None:
    """The side with the later time; None where one has none, or both the same, or one that is
    later than ``latest``: a clock that is wrong decides nothing."""
    ours, theirs = (str(side["at"] or "") for side in (conflict.ours, conflict.theirs))
    if not (ours and theirs) or ours == theirs or max(ours, theirs) > latest:
        return None
    return "ours" if ours > theirs else "theirs"


def _called(function: Callable[[dict[str, Json]], str | None], conflict: Conflict) -> Side | None:
    choice = function(conflict.to_json())
    if choice in ("ours", "theirs", None):
        return cast("Side | None", choice)
    message = f"The function of prefer returned {shown_text(repr(choice), 60)}."
    hint = 'It returns "ours", "theirs", or None to leave a conflict.'
    raise KipError("KIP_1001", message, hint)


def _refused(conflicts: list[Conflict]) -> KipError:
    named = "; ".join(f"{one.id} {one.key}" for one in conflicts[:_MOST_NAMED])
    more = len(conflicts) - _MOST_NAMED
    named += f"; and {more:,} more" if more > 0 else ""
    noun = "conflict" if len(conflicts) == 1 else "conflicts"
    message = f"The merge has {len(conflicts):,} {noun}: {shown_text(named, 2_000)}."
    hint = "See both values with dry_run=True without strict; prefer decides them."
    return KipError("KIP_2002", message, hint)


# Snapshots ------------------------------------------------------------------------------------


def merge_snapshots(base: NexusStore | None, ours: OxigraphStore, theirs: NexusStore) -> Merged:
    """Merge a snapshot into ours, which is changed, and return the report.

    Without a base the empty dataset is the base. The result depends on the snapshots alone: what
    changes has the latest time in them. Raises ``KipError`` as a merge does.
    """
    clock = _latest(one for one in (ours, theirs, base) if one is not None)
    engine = CommandEngine(ours, clock=lambda: clock)
    chosen = Base(NO_BASE)
    if base is not None:
        chosen = Base("the snapshot that was given", (lambda: nullcontext(base),))
    report, applied = _Merge(engine.writer, theirs, chosen, None, False).run(dry_run=True)
    assert applied is not None
    for triple in applied.delta.removed:
        ours.engine.remove(Quad(*triple))
    ours.engine.extend(Quad(*triple) for triple in applied.delta.added)
    return report


def _latest(stores: Iterable[Store]) -> datetime:
    """The latest time of the engine in some datasets."""
    updated = vocab.metadata(vocab.UPDATED_AT)
    triples = (one for store in stores for one in store.match(None, updated, None))
    times = (cast(Literal, triple.object).value for triple in triples)
    latest = max(filter(_IS_TIME.fullmatch, times), default="1970-01-01T00:00:00.000Z")
    return datetime.fromisoformat(latest)
