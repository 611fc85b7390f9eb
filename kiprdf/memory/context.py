"""Search by name, and the block of text that a prompt can contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.memory.extraction.words import word_set
from kiprdf.memory.graph import EntityNode, read_edge
from kiprdf.memory.items import PREDICATES, Edge, Hit, is_name, normalized
from kiprdf.memory.tables import Named, Names, words
from kiprdf.memory.texts import setting
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import read_object
from kiprdf.rdf.literals import to_json
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.memory.graph import Believed, Graph

MAX_EDGES = 20
MAX_CHARACTERS = 1500
LONGEST_QUERY = 10_000
"""Characters of a query that are read."""
_MOST_WORDS = 64
_LONGEST_PHRASE = 4
"""Words of a question without a verb, such as "my current projects?"."""
_WORD = re.compile(r"[\w.+#/-]+")
_MY = re.compile(r"\b(?:my|our)(?=((?:\s+\S+){1,3}))")
_MARKS = ".,;:!?"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_COMMON_WORDS = word_set("""
    a about all am an and any are as at be by can d did do does for from get getting go going has
    have how i in is it its let ll m me my of on or our re s t that the their there they this
    to us use used using ve was we were what when where which who why will with work working would
    you your
    """)
"""Words of a query that match no name and no note by themselves."""
_ASKING = word_set("am are did do does how list show what when where which who why")
_FIRST_PERSON = word_set("i me my mine our ours us user user's users we")
_SUBJECT = word_set("i user user's users we")
_WORDS_OF = {
    "prefers": "enjoy favorite favorites favourite favourites like likes love prefer preference"
    " preferences preferred prefers",
    "decided": "choice choices choose chose chosen decide decided decision decisions",
    "works_on": "build building develop developing project projects work working works",
    "uses": "stack tool tools use used uses using",
}
_ASKED = {word: name for name, group in _WORDS_OF.items() for word in group.split()}
"""The predicates of the user, by the words with which questions ask for them."""
_OWNED = word_set("""
    choice choices decision decisions favorite favorites favourite favourites preference preferences
    preferred project projects stack tool tools
    """)
"""The words of a question that follow "my"."""
_SUPERSEDED_BY, _EDGE_ID = (vocab.metadata(key) for key in ("superseded_by", "edge_id"))
_ONE_BY_ONE = 50
"""The most entities whose edges are read one by one; else all edges are read."""
STATED = 0.5
"""The score of an entity that only a note states."""


class Match(NamedTuple):
    """An entity that a query names: how well, and with which of its words.

    ``is_whole`` if all words of a name are in the query.
    """

    named: Named
    score: float
    words: frozenset[str]
    is_whole: bool


class Asked(NamedTuple):
    """The entities that a query names, the edges that it asks for, and the query, if it has other
    words."""

    matches: list[Match]
    relations: list[Relation]
    query: str


class Relation(NamedTuple):
    """A stored edge with what it is ordered by; ``link`` is its proposition."""

    link: NamedNode
    subject: Named
    predicate: str
    object: Named
    weight: float
    valid_until: str | None


def score(query: str, names: Iterable[str]) -> float:
    """How well the best of some names matches a query, both normalized; 0 for no match.

    >>> score("python", ["python"]), score("py", ["python"]), score("dark theme", ["dark mode"])
    (1.0, 0.7, 0.5)
    """
    if not query:
        return 0.0
    best = 0.0
    words = set(_WORD.findall(query)) - _COMMON_WORDS
    for name in names:
        if name == query:
            return 1.0
        if query in name or name in query:
            best = 0.7
        elif best < 0.5 and not words.isdisjoint(_WORD.findall(name)):
            best = 0.5
    return best


def search(query: str, nodes: Sequence[EntityNode]) -> list[Hit]:
    """The entities whose names match a query, the best first."""
    text = normalized(query)
    hits = []
    for node in nodes:
        best = score(text, [node.entity.normalized_name, *map(normalized, node.aliases)])
        if best:
            hits.append(Hit(node.entity, best))
    return sorted(hits, key=hit_order)


def hit_order(hit: Hit) -> tuple[float, str, str]:
    """By score, then name, then type."""
    return -hit.score, hit.entity.normalized_name, hit.entity.type


def named_in(query: str, names: Names) -> list[Match]:
    """The entities that a query names by whole words or their beginnings, the best first.

    An entity of which another one has all words of the query, and more, is left out. A single
    letter names only what is called so, with a capital letter.
    """
    text = normalized(query)
    every = words(text)
    asked = [word for word in _content(every) if word not in _COMMON_WORDS]
    words_of: dict[NamedNode, set[str]] = {}
    for word in dict.fromkeys([*asked, *every[:1]]):
        for node in names.with_word(word, as_prefix=len(word) > 2 and word in asked):
            words_of.setdefault(node, set()).add(word)
    if not words_of:
        return []
    everything = set(every)
    letters = {word.lower() for word in words(query) if len(word) == 1 and word.isupper()}
    matches = []
    for node, matched in words_of.items():
        entity = names.entities[node]
        is_exact = text in entity.names or any(name in asked for name in entity.names)
        usable = matched.intersection(asked)
        if all(len(word) == 1 for word in usable):
            usable &= letters if entity.name in {letter.upper() for letter in letters} else set()
        if usable or (text in entity.names and len(text) > 1):
            is_whole = any(
                len(name) <= len(text) and everything.issuperset(words(name))
                for name in entity.names
            )
            matches.append(Match(entity, 1.0 if is_exact else 0.7, frozenset(usable), is_whole))
    groups = {match.words for match in matches}
    kept = [
        match
        for match in matches
        if match.score == 1.0 or not any(match.words < other for other in groups)
    ]
    return sorted(kept, key=lambda match: (-match.score, match.named.names[0], match.named.type))


def asked_predicates(query: str) -> list[str]:
    """The predicates that a question asks for about the user.

    >>> asked_predicates("Which tools do I use?"), asked_predicates("Do they use Vim?")
    (['uses'], [])
    >>> asked_predicates("my tools?"), asked_predicates("Which tools does my brother use?")
    (['uses'], [])
    """
    text = normalized(query)
    asked = set(words(text))
    is_question = not asked.isdisjoint(_ASKING) or (
        len(asked) <= _LONGEST_PHRASE and not asked.isdisjoint(("my", "our"))
    )
    if not is_question or not _is_about_user(text, asked):
        return []
    return [name for name in PREDICATES if any(_ASKED.get(word) == name for word in asked)]


def _is_about_user(text: str, asked: set[str]) -> bool:
    """Whether a question with some words is about the user: "my tools", but not "my brother's"."""
    if not asked.isdisjoint(_SUBJECT):
        return True
    owned = [_is_owned(match[1].split()) for match in _MY.finditer(text)]
    return any(owned) or (not owned and not asked.isdisjoint(_FIRST_PERSON))


def _is_owned(following: list[str]) -> bool:
    """Whether one of the words after "my" is asked for, before a word that ends the thing."""
    for word in following:
        if word.strip(_MARKS) in _OWNED:
            return True
        if "'" in word or "’" in word or word in _ASKED or word in _COMMON_WORDS:
            break
    return bool(following) and following[0] in ("work", "works")


def rest_of(query: str, matches: Iterable[Match]) -> str:
    """The words of a query that name no entity and ask for no predicate."""
    used = _COMMON_WORDS.union(_ASKED, _FIRST_PERSON, *(match.words for match in matches))
    return " ".join(
        word for word in _content(words(normalized(query))) if len(word) > 1 and word not in used
    )


def _content(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))[:_MOST_WORDS]


def ask(graph: Graph, names: Names, query: str, believed: Believed) -> Asked:
    """What a query names and asks for: entities by name, else the user by predicate."""
    query = query[:LONGEST_QUERY]
    matches = [match for match in named_in(query, names) if believed.has(match.named.node)]
    user = names.entities.get(graph.user_node())
    predicates = asked_predicates(query)
    if user is not None and predicates and all(match.named == user for match in matches):
        edges = relations(graph, names, [user.node], believed, predicates)
        if edges:
            return Asked([Match(user, 1.0, frozenset(), False)], edges, "")
    edges = relations(graph, names, [match.named.node for match in matches], believed)
    return Asked(matches, edges, query)


def relations(
    graph: Graph,
    names: Names,
    nodes: Collection[NamedNode],
    believed: Believed,
    predicates: Iterable[str] = PREDICATES,
) -> list[Relation]:
    """The edges of some entities, with those that took the place of edges that ended, in no order;
    each triple is read once."""
    store = graph.nexus.store
    ends, facts = set(nodes), []
    for predicate in predicates if ends else ():
        of = store.iris.predicate(predicate)
        if len(ends) > _ONE_BY_ONE:
            triples = list(store.match(None, of, None))
        else:
            triples = [
                t for n in ends for t in (*store.match(n, of, None), *store.match(None, of, n))
            ]
        facts += [
            triple
            for triple in dict.fromkeys(triples)
            if (triple.subject in ends or triple.object in ends)
            and triple.subject in names.entities
            and triple.object in names.entities
        ]
    store.prefetch((), facts)
    links = [(fact, store.lookup(None, vocab.REIFIES, fact, 1)) for fact in facts]
    store.prefetch(cast(NamedNode, link[0].subject) for _, link in links if link)
    edges = [relation(graph, names, link[0].subject, fact) for fact, link in links if link]
    shown = [edge for edge in edges if edge is not None]
    return [
        edge
        for edge in (*shown, *_superseding(graph, names, shown))
        if believed.has_relation(edge.link, edge.valid_until, edge.subject.node, edge.object.node)
    ]


def _superseding(graph: Graph, names: Names, edges: Collection[Relation]) -> list[Relation]:
    """The edges that took the place of some that ended, without these."""
    store, links = graph.nexus.store, {edge.link for edge in edges}
    superseding = {}
    for ended in edges:
        if ended.valid_until is None:
            continue
        for by in store.lookup(ended.link, _SUPERSEDED_BY, None, 1):
            for new in store.lookup(None, _EDGE_ID, by.object, 1):
                for fact in store.lookup(new.subject, vocab.REIFIES, None, 1):
                    superseding[new.subject] = relation(
                        graph, names, new.subject, cast(Triple, fact.object)
                    )
    return [edge for link, edge in superseding.items() if edge is not None and link not in links]


def relation(graph: Graph, names: Names, link: Any, fact: Triple) -> Relation | None:
    """The edge that a proposition of a fact stores, if it does."""
    store = graph.nexus.store
    subject, object_ = (names.entities.get(cast(Any, end)) for end in (fact.subject, fact.object))
    weight = _value(store, link, "confidence")
    if subject is None or object_ is None or not isinstance(weight, int | float):
        return None
    predicate = fact.predicate.value[len(store.iris.predicates) :]
    until = _value(store, link, "valid_until")
    until = until if isinstance(until, str) else None
    return Relation(link, subject, predicate, object_, float(weight), until)


def _value(store: Store, link: Any, key: str) -> Any:
    """A metadatum of a proposition."""
    triples = store.lookup(link, vocab.metadata(key), None, 1)
    return to_json(cast(Any, triples[0].object)) if triples else None


def stored_edge(
    graph: Graph, names: Names, link: NamedNode, believed: Believed
) -> tuple[Edge, Relation] | None:
    """The edge that a proposition stores, as a whole, if it does and is shown."""
    store = graph.nexus.store
    triples = store.statements(link)
    fact: Any = next((each.object for each in triples if each.predicate == vocab.REIFIES), None)
    if not isinstance(fact, Triple):
        return None
    subject, object_ = (names.entities.get(cast(Any, end)) for end in (fact.subject, fact.object))
    if subject is None or object_ is None:
        return None
    stored = read_edge(read_object(store.iris, link, triples) or {}, subject.id, object_.id)
    if stored is None:
        return None
    edge = stored.edge
    if not believed.has_relation(link, edge.valid_until, subject.node, object_.node):
        return None
    ends = link, subject, edge.predicate, object_
    return edge, Relation(*ends, edge.weight, edge.valid_until)


def relation_order(relation: Relation) -> tuple[bool, float, str, str, str]:
    """The sort key of a relation: what holds is first, then by weight, then by its line."""
    shown = relation.subject.names[0], relation.predicate, relation.object.names[0]
    return relation.valid_until is not None, -relation.weight, *shown


def is_enabled() -> bool:
    """Whether the environment allows context."""
    return setting("CONTEXT_ENABLED") not in ("false", "0", "no", "off")


def limit(value: object, name: str, default: int) -> int:
    """A number of the caller, else of the environment, else the default; not below 0."""
    if value is None:
        text = setting(name)
        value = int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return default
    return value


def block(
    graph: Graph,
    names: Names,
    notes_with: Callable[[str], Iterable[NamedNode]],
    query: str,
    max_edges: int,
    max_characters: int,
) -> str:
    """The context of a query; empty if nothing matches.

    ``notes_with`` returns the best notes that have a word of a text. What these state is shown for
    the words of the query that name no entity.
    """
    names.refresh()
    believed = graph.believed()
    asked = ask(graph, names, query, believed)
    hits, edges = {match.named: match.score for match in asked.matches}, asked.relations
    if rest := rest_of(asked.query, asked.matches):
        ends = _stated_ends(graph, notes_with(rest), believed) - {graph.user_node()}
        stated = [
            names.entities[end] for end in ends if end in names.entities and believed.has(end)
        ]
        stated.sort(key=lambda named: named.names)
        hits |= {named: STATED for named in stated if named not in hits}
        edges = relations(graph, names, [named.node for named in hits], believed)
    if not hits:
        return ""
    return _fitted(
        graph, list(hits.items()), sorted(edges, key=relation_order), max_edges, max_characters
    )


def _stated_ends(graph: Graph, notes: Iterable[NamedNode], believed: Believed) -> set[NamedNode]:
    """The entities of the edges that some memories state."""
    stated = (link for note in notes for link in graph.stated_links(note))
    links = (link for link in stated if believed.has_relation(link, ""))
    facts = (graph.nexus.store.lookup(link, vocab.REIFIES, None, 1) for link in links)
    ends: Any = [triples[0].object for triples in facts if triples]
    return {end for fact in ends for end in (fact.subject, fact.object)}


def _fitted(
    graph: Graph,
    hits: Sequence[tuple[Named, float]],
    edges: Sequence[Relation],
    max_edges: int,
    max_characters: int,
) -> str:
    """The longest block within the limits: the section with more characters loses lines first."""
    # No line is shorter than "  [tool] x (Score: 1.0)".
    most = max_characters // 20
    hit_lines = [
        f"  [{named.type}] {on_one_line(named.name)} (Score: {score})"
        for named, score in hits[:most]
    ]
    shown = edges[: min(max_edges, most)]
    edge_lines = [f"  {relation_line(relation)}" for relation in shown]
    store = graph.nexus.store
    memory_ids = [_value(store, relation.link, "memory_id") for relation in shown]
    shown_hits, shown_edges = len(hit_lines), len(edge_lines)
    while True:
        evidence = ", ".join(dict.fromkeys(filter(is_name, memory_ids[:shown_edges])))
        lines = [
            "=== Knowledge Graph Context ===",
            "",
            f"Entities ({shown_hits}/{len(hits)}):",
            *hit_lines[:shown_hits],
            "",
            f"Relationships ({shown_edges}/{len(edges)}):",
            *edge_lines[:shown_edges],
            *(["", f"Evidence IDs: {evidence}"] if evidence else []),
        ]
        text = "\n".join(lines)
        if len(text) <= max_characters:
            return text
        if not shown_hits and not shown_edges:
            return ""
        over = _length(edge_lines[:shown_edges]) >= _length(hit_lines[:shown_hits])
        if shown_edges and (over or shown_hits <= 1):
            shown_edges -= 1
        else:
            shown_hits -= 1


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def on_one_line(name: str) -> str:
    """A name as it is, but for what begins a line."""
    return name if name.isprintable() else " ".join(name.splitlines())


def relation_line(relation: Relation, shown: Callable[[str], str] = on_one_line) -> str:
    """An edge as a line of text; ``shown`` writes the names."""
    ends = [
        "User" if named.type == "user" else f"[{named.type}] {shown(named.name)}"
        for named in (relation.subject, relation.object)
    ]
    predicate, until = relation.predicate, relation.valid_until
    predicate = predicate if predicate in PREDICATES else shown(predicate)
    if until is None:
        note = f"weight: {round(relation.weight, 2)}"
    else:
        note = f"until {until[:10]}" if _DAY.match(until) else "ended"
    return f"{ends[0]} --[{predicate}]--> {ends[1]} ({note})"
