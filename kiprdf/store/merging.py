"""What several datasets are together: the rules by which a view unites its members.

One IRI is one element. Of a key that two members have, the later member's value holds; an element
is as old as the oldest of them, and as new as the newest. A link is its three ends: members that
state the same fact have one link for it, under the id of the later one. Where a MERGE has left two
facts under one id, the later member's keeps it, and the other gets the id of its ends
(docs/decisions/190).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import Store as Engine

from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, proposition_digits
from kiprdf.store.bookkeeping import readable, texts_of
from kiprdf.store.delta import Written

K = TypeVar("K")
V = TypeVar("V")
Fact: TypeAlias = int
"""The number of a fact, the same in all members; smaller ones are about it."""
End: TypeAlias = NamedNode | Fact
Parts: TypeAlias = tuple[End, NamedNode, End]
"""The ends and the predicate of a fact; an end that is a link is the number of its fact."""
Stated: TypeAlias = tuple[NamedNode, NamedNode, NamedNode]
Values: TypeAlias = tuple[NamedNode, Any]
"""A predicate and an object."""
_DEFAULT = DefaultGraph()
_MENTIONED, _STATUS = vocab.metadata(vocab.MENTIONED), vocab.metadata("status")
_AS_DRAFT = [Literal("draft")]


def _number(term: Any) -> int:
    return int(term.value) if term.value.isdecimal() else -1


def _text(term: Any) -> str:
    return str(term.value)


_OF_ALL: dict[NamedNode, Callable[[Iterable[Any]], Any]] = {
    vocab.metadata(vocab.CREATED_AT): lambda values: min(values, key=_text),
    vocab.metadata(vocab.UPDATED_AT): lambda values: max(values, key=_text),
    vocab.metadata(vocab.VERSION): lambda values: max(values, key=_number),
}
"""The keys that are chosen among the values of all members."""


def united(parts: Iterable[Iterable[Values]]) -> Iterator[Values]:
    """What describes an element, from what each member says of it, the last member first."""
    kept: dict[NamedNode, list[Any]] = {}
    for own in _stated(parts):
        for predicate, values in own.items():
            if kept.setdefault(predicate, values) is not values and predicate in _OF_ALL:
                kept[predicate] = [_OF_ALL[predicate]([*kept[predicate], *values])]
    return ((predicate, value) for predicate, values in kept.items() for value in values)


def _stated(parts: Iterable[Iterable[Values]]) -> Iterator[dict[NamedNode, list[Any]]]:
    """The values of each key; of members that only name a fact those that they give besides.

    What they say of it as a draft counts if no member states it.
    """
    read: list[dict[NamedNode, list[Any]]] = []
    for part in parts:
        own: dict[NamedNode, list[Any]] = {}
        for predicate, value in part:
            own.setdefault(predicate, []).append(value)
        if own:
            read.append(own)
    is_named = [_MENTIONED in own for own in read]
    if any(is_named) and not all(is_named):
        for own in itertools.compress(read, is_named):
            del own[_MENTIONED]
            if own.get(_STATUS) == _AS_DRAFT:
                del own[_STATUS]
    yield from read


class Facts:
    """Numbers for facts, so that one that is nested deeply is compared at once."""

    def __init__(self) -> None:
        self._numbers: dict[Parts, Fact] = {}
        self.parts: list[Parts] = []

    def number(self, parts: Parts) -> Fact:
        number = self._numbers.setdefault(parts, len(self.parts))
        if number == len(self.parts):
            self.parts.append(parts)
        return number

    def ends(self, fact: Fact) -> list[Fact]:
        """The ends of a fact that are facts."""
        subject, _, value = self.parts[fact]
        return [end for end in (subject, value) if isinstance(end, int)]


def _resolved(
    root: K, results: dict[K, V | None], ends: Callable[[K], list[K]], make: Callable[[K], V | None]
) -> V | None:
    """What is made of a key after it was made of its ends, however deep these are nested.

    What is among its own ends is nothing.
    """
    stack, begun = [root], set[K]()
    while stack:
        key = stack[-1]
        missing = [] if key in begun else [end for end in ends(key) if end not in results]
        begun.add(key)
        if missing:
            stack += missing
            continue
        stack.pop()
        if key not in results:
            results[key] = None if any(end not in results for end in ends(key)) else make(key)
    return results[root]


class Side:
    """A dataset, read with its IRIs below another base.

    >>> from pyoxigraph import Literal
    >>> label, engine = NamedNode("urn:label"), Engine()
    >>> engine.add(Quad(NamedNode("urn:a/Drug/Aspirin"), label, Literal("Aspirin")))
    >>> side = Side(engine, Iris("urn:a/"), Iris("urn:b/"), Facts())
    >>> [subject.value for subject, _, _ in side.triples(None, label, None)]
    ['urn:b/Drug/Aspirin']
    """

    def __init__(self, engine: Engine, own: Iris, iris: Iris, facts: Facts) -> None:
        self._engine = engine
        self._facts = facts
        self._triples: dict[NamedNode, Triple | None] = {}
        self._fact_of: dict[NamedNode, Fact | None] = {}
        self._link_of: dict[Fact, NamedNode | None] = {}
        self._own = own.base
        self._base = iris.base
        self._is_moved = own.base != iris.base
        self._iris = iris

    def triples(
        self, subject: Any, predicate: Any, value: Any
    ) -> Iterator[tuple[NamedNode, NamedNode, Any]]:
        """The triples of a pattern in the default graph."""
        if not self._is_moved:
            for quad in readable(self._engine, subject, predicate, value, _DEFAULT):
                yield cast(NamedNode, quad.subject), quad.predicate, quad.object
            return
        pattern = (moved(term, self._base, self._own) for term in (subject, predicate, value))
        for quad in readable(self._engine, *pattern, _DEFAULT):
            yield cast(Any, tuple(moved(term, self._own, self._base) for term in quad.triple))

    def quads(self, graph: Any) -> Iterator[Quad]:
        """All quads of a graph, their IRIs as they are."""
        return readable(self._engine, None, None, None, graph)

    def describe(self, node: NamedNode) -> Iterator[Values]:
        """What describes an element, without its facts."""
        facts = self._iris.predicates
        for _, predicate, value in self.triples(node, None, None):
            if not predicate.value.startswith(facts):
                yield predicate, value

    def stated(self, link: NamedNode) -> Triple | None:
        """The fact of a link, as a triple; None for what is no link."""
        if link not in self._triples:
            reifying = self.triples(link, vocab.REIFIES, None)
            self._triples[link] = next((triple for _, _, triple in reifying), None)
        return self._triples[link]

    def fact(self, link: NamedNode) -> Fact | None:
        """The fact of a link; None for what is no link, and where a link is missing in it."""
        return _resolved(link, self._fact_of, self._ends, self._read_fact)

    def _ends(self, link: NamedNode) -> list[NamedNode]:
        triple, links = self.stated(link), self._iris.propositions
        ends: Any = () if triple is None else (triple.subject, triple.object)
        return [end for end in ends if end.value.startswith(links)]

    def _read_fact(self, link: NamedNode) -> Fact | None:
        triple = self.stated(link)
        if triple is None:
            return None
        own: Mapping[Any, Any] = self._fact_of
        ends = [own.get(end, end) for end in (triple.subject, triple.object)]
        return None if None in ends else self._facts.number((ends[0], triple.predicate, ends[1]))

    def link(self, fact: Fact) -> NamedNode | None:
        """The link of a fact, if it is here."""
        return _resolved(fact, self._link_of, self._facts.ends, self._read_link)

    def _read_link(self, fact: Fact) -> NamedNode | None:
        stated = with_links(self._facts.parts[fact], self._link_of)
        if stated is None:
            return None
        triples = self.triples(None, vocab.REIFIES, Triple(*stated))
        return next((link for link, _, _ in triples), None)

    def about(self, link: NamedNode) -> Iterator[NamedNode]:
        """The links that have another one as an end."""
        facts = self._iris.predicates
        patterns = (link, None, None), (None, None, link)
        for subject, predicate, value in itertools.chain.from_iterable(
            itertools.starmap(self.triples, patterns)
        ):
            if predicate.value.startswith(facts):
                yield from (
                    about
                    for about, _, _ in self.triples(
                        None, vocab.REIFIES, Triple(subject, predicate, value)
                    )
                )


def with_links(parts: Parts, links: Mapping[Fact, NamedNode | None]) -> Stated | None:
    """A fact with the links of its ends; None where one of them has none."""
    subject, predicate, value = parts
    ends = [links[end] if isinstance(end, int) else end for end in (subject, value)]
    return None if ends[0] is None or ends[1] is None else (ends[0], predicate, ends[1])


def moved(term: Any, old: str, new: str) -> Any:
    """A term with what is below one base below another."""
    if isinstance(term, NamedNode):
        iri = term.value
        return NamedNode(new + iri[len(old) :]) if iri.startswith(old) else term
    if isinstance(term, Triple):
        return Triple(*(moved(part, old, new) for part in term))
    return term


def moved_copy(engine: Engine, old: str, new: str) -> Engine:
    """A copy of a dataset with what is below one base below another."""
    text = engine.dump(format=RdfFormat.N_QUADS)
    assert text is not None
    # Every other part is a literal, which is not moved.
    parts = re.split(rb'("[^"\\]*(?:\\.[^"\\]*)*"(?:\^\^<[^>]*>)?)', text)
    parts[::2] = [part.replace(f"<{old}".encode(), f"<{new}".encode()) for part in parts[::2]]
    copy = Engine()
    copy.bulk_load(b"".join(parts), RdfFormat.N_QUADS, lenient=True)
    return copy


def load(engine: Engine, sides: Sequence[Side], iris: Iris) -> set[NamedNode]:
    """Put the quads of all members into an engine, and return the links that are disputed.

    Those are links whose ids or facts differ between members; they are left out.
    """
    subjects: set[NamedNode] = set()
    links: dict[Any, NamedNode] = {}
    shared: dict[NamedNode, list[list[Values]]] = {}
    disputed: set[NamedNode] = set()
    facts = iris.predicates

    def quads(side: Side) -> Iterator[Quad]:
        """The quads of a member, but for what describes elements that later ones have, too."""
        own: set[NamedNode] = set()
        described: dict[NamedNode, list[Values]] = {}
        last, is_new = None, True
        for quad in side.quads(_DEFAULT):
            subject: Any = quad.subject
            predicate = quad.predicate
            if subject != last:  # the quads of an element come together
                last, is_new = subject, subject not in subjects
                own.add(subject)
            if predicate == vocab.REIFIES:
                other = links.setdefault(quad.object, subject)
                if other != subject:
                    disputed.update((subject, other))
            if not (is_new or predicate.value.startswith(facts)):
                described.setdefault(subject, []).append((predicate, quad.object))
                continue
            yield quad
        yield from (quad for quad in side.quads(vocab.TEXTS) if quad.subject not in described)
        subjects.update(own)
        for node, values in described.items():
            shared.setdefault(node, []).append(values)

    # Reading a folder takes longest. So each is read once, and what several members say of an
    # element is united when all are loaded.
    for side in reversed(sides):
        engine.bulk_extend(quads(side))
    loaded = Side(engine, iris, iris, Facts())
    removed: list[Written] = []
    added: list[Written] = []
    for node in dict.fromkeys((*shared, *disputed)):
        before, parts = dict.fromkeys(loaded.describe(node)), shared.get(node, [])
        stated = {value for key, value in itertools.chain(before, *parts) if key == vocab.REIFIES}
        after: dict[Values, None] = {}
        if node in disputed or len(stated) > 1:
            disputed.add(node)
            removed += (cast(Written, tuple(triple)) for triple in stated)
        else:
            after = dict.fromkeys(united([before, *parts]))
        removed += ((node, *values) for values in before if values not in after)
        added += ((node, *values) for values in after if values not in before)
    replace(engine, removed, added)
    return disputed


def replace(engine: Engine, removed: Sequence[Written], added: Sequence[Written]) -> None:
    """Remove triples with their texts from an engine, and add others."""
    for triple in (*removed, *texts_of(removed)):
        engine.remove(Quad(*triple))
    engine.extend(Quad(*triple) for triple in (*added, *texts_of(added)))


class Union:
    """The union of some members, element by element; each is read when it is asked for.

    ``steps`` are the ids that facts could not get, each with the link that they got instead.
    """

    def __init__(self, sides: Sequence[Side], iris: Iris, facts: Facts) -> None:
        self.sides = sides
        self.iris = iris
        self.steps: dict[NamedNode, NamedNode] = {}
        self._facts = facts
        self._links: dict[Fact, NamedNode | None] = {}

    def link(self, fact: Fact) -> NamedNode | None:
        """The link of a fact; None where no member states it."""
        return _resolved(fact, self._links, self._facts.ends, self._link)

    def _link(self, fact: Fact) -> NamedNode | None:
        later: list[Side] = []
        for side in reversed(self.sides):
            link = side.link(fact)
            if link is not None:
                is_taken = any(one.stated(link) for one in later)
                return self._of_ends(fact, link) if is_taken else link
            later.append(side)
        return None

    def _of_ends(self, fact: Fact, taken: NamedNode) -> NamedNode:
        """The link of a fact whose id a later member uses for another one."""
        stated = self._stated(fact)
        name = self.iris.name(stated[1].value)
        assert isinstance(name, ConceptName)
        ends = self.iris.id(stated[0]), name.name, self.iris.id(stated[2])
        refused = [taken]
        for salt in itertools.count():
            link = self.iris.proposition(proposition_digits(*ends, salt), name.name)
            refused.append(link)
            if all(side.fact(link) in (None, fact) for side in self.sides):
                break
        self.steps |= dict.fromkeys(refused, link)
        return link

    def _stated(self, fact: Fact) -> Stated:
        stated = with_links(self._facts.parts[fact], self._links)
        assert stated is not None
        return stated

    def of_link(self, fact: Fact) -> Iterator[Written]:
        """The triples of a fact and its link; none where no member states it."""
        link = self.link(fact)
        if link is None:
            return
        stated = self._stated(fact)
        yield stated
        yield link, vocab.REIFIES, Triple(*stated)
        holders = ((side, side.link(fact)) for side in reversed(self.sides))
        parts = (side.describe(own) for side, own in holders if own is not None)
        for predicate, value in united(parts):
            if predicate != vocab.REIFIES:
                yield link, predicate, value

    def of_concept(self, node: NamedNode) -> Iterator[Written]:
        """The triples that describe what is no link."""
        for predicate, value in united(side.describe(node) for side in reversed(self.sides)):
            yield node, predicate, value


Renamed: TypeAlias = dict[tuple[int, NamedNode], NamedNode]
"""The links that a view has under another id than a member, by the number of the member."""


class Change(NamedTuple):
    """What leads from what a view has to what its members have, and which links are renamed."""

    removed: tuple[Written, ...]
    added: tuple[Written, ...]
    touched: tuple[NamedNode, ...]
    renamed: Renamed
    steps: dict[NamedNode, NamedNode]


def change(
    union: Union,
    view: Side,
    touched: Sequence[Iterable[NamedNode]],
    renamed: Renamed,
    steps: dict[NamedNode, NamedNode],
) -> Change:
    """What the elements that each member has touched change in a view.

    ``renamed`` and ``steps`` are those of the view, and not changed.
    """
    propositions = union.iris.propositions
    concepts: dict[NamedNode, None] = {}
    queue: list[tuple[int, NamedNode]] = []
    for number, nodes in enumerate(touched):
        for node in nodes:
            if node.value.startswith(propositions):
                queue.append((number, node))
            else:
                concepts[node] = None
    facts: dict[Fact, None] = {}
    outdated: dict[NamedNode, None] = {}
    seen: set[tuple[int, NamedNode]] = set()
    while queue:
        number, link = queue.pop()
        if (number, link) in seen:
            continue
        seen.add((number, link))
        own = renamed.get((number, link), link)
        outdated |= dict.fromkeys((own, link, steps.get(link, link)))
        after = union.sides[number].fact(link)
        stated = (side.fact(link) for side in union.sides)
        facts |= dict.fromkeys(fact for fact in stated if fact is not None)
        if after is not None and after != view.fact(own):
            # Facts about this one are others now, although nobody has touched them.
            queue += ((number, about) for about in union.sides[number].about(link))
    _close(union, view, facts, outdated)
    before, after_ = _Triples(), _Triples()
    for node in concepts:
        before.extend((node, *values) for values in view.describe(node))
        after_.extend(union.of_concept(node))
    for node in outdated:
        before.extend((node, *values) for values in view.describe(node))
        triple = view.stated(node)
        if triple is not None:
            before.extend([cast(Written, tuple(triple))])
    new = dict(renamed)
    for gone in seen:
        new.pop(gone, None)
    for fact in facts:
        after_.extend(union.of_link(fact))
        link_ = union.link(fact)
        for number, side in enumerate(union.sides if link_ is not None else ()):
            here = side.link(fact)
            if here is not None:
                new.pop((number, here), None)
                if here != link_:
                    new[number, here] = cast(NamedNode, link_)
    removed = tuple(triple for triple in before if triple not in after_)
    added = tuple(triple for triple in after_ if triple not in before)
    elements = dict.fromkeys(
        cast(NamedNode, subject)
        for subject, predicate, _ in (*removed, *added)
        if not predicate.value.startswith(union.iris.predicates)
    )
    return Change(removed, added, tuple(elements), new, steps | union.steps)


class _Triples(dict[Written, None]):
    """Triples in the order in which they come, each once."""

    def extend(self, triples: Iterable[Written]) -> None:
        self.update(dict.fromkeys(triples))


def _close(
    union: Union, view: Side, facts: dict[Fact, None], outdated: dict[NamedNode, None]
) -> None:
    """Add the facts whose links change with those of others, and the links that they had."""
    done: set[Fact] = set()
    looked: set[NamedNode] = set()
    while True:
        links = [link for link in outdated if link not in looked]
        looked.update(links)
        stated = (view.fact(link) for link in links)
        facts |= dict.fromkeys(fact for fact in stated if fact is not None)
        todo = [fact for fact in facts if fact not in done]
        if not todo:
            return
        done.update(todo)
        for fact in todo:
            before, after = view.link(fact), union.link(fact)
            outdated |= dict.fromkeys(link for link in (before, after) if link is not None)
            if before is not None and before != after:
                outdated |= dict.fromkeys(view.about(before))
