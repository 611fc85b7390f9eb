"""Writes JSON-LD without what the parser refuses or misreads.

Maps by type and by id (``"@container": "@type"``, ``"@id"``) become arrays of nodes: the parser
refuses type maps of nodes with an ``@id``, and reads arrays as maps by id. Values of keys that
have no meaning are left out: the parser reads the nodes in them. Language tags are corrected: the
parser leaves out texts with others. What a key means depends on the
contexts in scope: those of the document, of terms, and of types (JSON-LD 1.1, 4.1). Contexts with
a URL were inserted before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from kiprdf import budget
from kiprdf.dataclasses import dataclass

_KEYWORDS = (
    "@type",
    "@id",
    "@none",
    "@nest",
    "@reverse",
    "@value",
    "@graph",
    "@index",
    "@context",
    "@language",
    "@direction",
)
_IN_NODES = frozenset((*_KEYWORDS, "@list", "@set", "@included"))
_KEYWORD = re.compile("@[A-Za-z]+")
NOT_IN_RDF = ("@index", "@direction")
"""What JSON-LD has no triples for; a direction has one beside a language only."""

_TYPE, _TYPES = "~type", "~types"
"""Terms for a type whose context is applied already, and for the last of several types with
contexts; it is the last in their order, too."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The terms in scope; ``previous`` is the scope of nodes inside, if it is another one."""

    terms: Mapping[str, Any] = field(default_factory=dict)
    previous: _Scope | None = None
    keywords: dict[str, str] = field(default_factory=dict)
    """What was asked of ``keyword``: each key is in many nodes."""
    correct_tag: Callable[[str], str | None] = str
    """A well-formed language tag for one; None if there is none."""
    lost: Counter[str] = field(default_factory=Counter)
    """The keys without a meaning, or without one in RDF, with the number of their values."""

    def within(self, context: Any, propagates: bool = True) -> _Scope:
        """The scope with the terms of a context; without ``propagates`` for one node only."""
        scope = self
        if context == []:
            return scope
        if isinstance(context, dict):  # of several, none says it
            propagates = context.get("@propagate", propagates)
        for one in listed(context):
            if one is None:
                scope = replace(self, terms={}, previous=None, keywords={})
            elif isinstance(one, dict):
                terms = {**scope.terms, **one}
                scope = replace(scope, terms=terms, keywords={})
        return scope if propagates else replace(scope, previous=self.previous or self)

    def of_node(
        self, node: dict[str, Any], context: Any, from_map: bool
    ) -> tuple[_Scope, dict[str, Any]]:
        """The scope of the properties of a node, and the contexts of its types.

        ``context`` is that of the term with the node.
        """
        scope = self
        if scope.previous and not from_map:
            keywords = [scope.keyword(key) for key in node]
            if keywords != ["@id"] and "@value" not in keywords:
                scope = scope.previous
        scope = scope.within(context).within(node.get("@context", []))
        types = (one for key in node if scope.keyword(key) == "@type" for one in listed(node[key]))
        definitions = {name: scope.definition(name) for name in sorted(filter(_is_text, types))}
        contexts = {n: one["@context"] for n, one in definitions.items() if "@context" in one}
        inner = scope
        for one in contexts.values():
            inner = inner.within(one, propagates=False)
        return inner, contexts

    def definition(self, key: str) -> dict[str, Any]:
        one = self.terms.get(key, {})
        return one if isinstance(one, dict) else {"@id": one}

    def keyword(self, key: str) -> str:
        """The keyword that a key is, or is defined as; "" for a key without a meaning.

        The key itself for other keys.
        """
        if key not in self.keywords:
            meant = self._meant(key)
            has_meaning = ":" in key or self.terms.get("@vocab") is not None
            has_meaning = meant is not None if key in self.terms else has_meaning
            has_meaning = key in _IN_NODES or (has_meaning and not _is_unknown(meant))
            is_alias = key not in _KEYWORDS and meant in _KEYWORDS
            self.keywords[key] = "" if not has_meaning else meant if is_alias else key
        return self.keywords[key]

    def _meant(self, key: str) -> Any:
        return self.definition(key).get("@id", key)

    def without_direction(self, key: str, keyword: str, item: Any, node: dict[str, Any]) -> int:
        """How many texts of a member have a direction and no language."""
        if keyword == "@direction":
            return item is not None and all(self.keyword(one) != "@language" for one in node)
        definition = self.definition(key)
        direction, language = (
            definition.get(one, self.terms.get(one)) for one in ("@direction", "@language")
        )
        containers = listed(definition.get("@container"))
        is_coerced = definition.get("@type") is not None or "@language" in containers
        is_keyword = str(self._meant(key)).startswith("@")
        if direction is None or language is not None or is_coerced or is_keyword:
            return 0
        is_map = isinstance(item, dict) and "@index" in containers
        return self._texts([*item.values()] if is_map else item)

    def _texts(self, item: Any) -> int:
        """How many texts a value consists of; those of lists and sets, too."""
        if isinstance(item, dict):
            inner = (one for key, one in item.items() if self._meant(key) in ("@list", "@set"))
            return sum(map(self._texts, inner))
        return sum(map(self._texts, item)) if isinstance(item, list) else _is_text(item)

    def absolute(self, name: str) -> str:
        """What a name stands for among the terms, for a value of ``@id``."""
        meant, vocabulary = self.definition(name).get("@id"), self.terms.get("@vocab")
        if isinstance(meant, str) and meant != name:
            return self.absolute(meant)
        return name if ":" in name or not isinstance(vocabulary, str) else vocabulary + name

    def plain_context(self, context: Any) -> Any:
        """A context whose terms have no maps by type and id, with correct language tags."""
        if isinstance(context, list):
            return [self.plain_context(one) for one in context]
        if not isinstance(context, dict):
            return context
        plain = self._with_tag(context)
        for term, one in context.items():
            if isinstance(one, dict):
                containers = listed(one.get("@container"))
                one = self._with_tag(one)
                if "@type" in containers:
                    one = {"@type": "@id", **one}
                if {"@type", "@id"} & {*containers}:
                    one = {**one, "@container": "@set"}
                if "@context" in one:
                    one = {**one, "@context": self.plain_context(one["@context"])}
                plain[term] = one
        return plain

    def _with_tag(self, definition: dict[str, Any]) -> dict[str, Any]:
        """A context, or the definition of a term, whose language is a correct tag or none."""
        tag = definition.get("@language")
        own = {"@language": self.correct_tag(tag)} if isinstance(tag, str) else {}
        return {**definition, **own}


def plain(
    document: Any, correct_tag: Callable[[str], str | None], lost: Counter[str] | None = None
) -> Any:
    """A document that the parser reads as it is meant.

    Texts with a language tag for which ``correct_tag`` returns None have none. In ``lost`` keys
    without a meaning are counted.
    """
    return _value(
        document, _Scope(correct_tag=correct_tag, lost=Counter() if lost is None else lost), []
    )


def _value(value: Any, scope: _Scope, context: Any, from_map: bool = False) -> Any:
    """A value of a term with a context."""
    if isinstance(value, list):
        return [_value(item, scope, context, from_map) for item in budget.paced(value)]
    if not isinstance(value, dict):
        return value
    first = {"@context": scope.plain_context(value["@context"])} if "@context" in value else {}
    inner, of_types = scope.of_node(value, context, from_map)
    members = _members(value, inner)
    if len(of_types) < 2 or not all(isinstance(one, dict) for one in of_types.values()):
        return {**first, **members}
    # The parser applies the context of the last type alone: it gets those of all.
    *_, last = of_types
    joined = {key: one for context in of_types.values() for key, one in context.items()}
    own = {_TYPES: {"@id": last, "@context": scope.plain_context(joined)}}
    for key in [key for key in members if inner.keyword(key) == "@type"]:
        members[key] = [_TYPES if one == last else one for one in listed(members[key])]
    return {"@context": [*listed(first.get("@context", [])), own], **members}


def _members(value: dict[str, Any], scope: _Scope) -> dict[str, Any]:
    """The members of a node but for its context, in the scope of its properties."""
    replaced: dict[str, Any] = {}
    for key, item in value.items():
        keyword = scope.keyword(key)
        if keyword in ("", "@index"):
            scope.lost[keyword or key] += 1
        if keyword in ("", "@context"):
            continue
        if lost := scope.without_direction(key, keyword, item, value):
            scope.lost["@direction"] += lost
        if keyword == "@language" and isinstance(item, str):
            item = scope.correct_tag(item)
            if item is None:
                continue
        if not isinstance(item, dict | list):
            replaced[key] = item
            continue
        definition = scope.definition(key)
        containers, context = listed(definition.get("@container")), definition.get("@context", [])
        if keyword in ("@nest", "@reverse"):
            inner = scope.within(context)
            parts = [_members(one, inner) if isinstance(one, dict) else one for one in listed(item)]
            replaced[key] = parts if isinstance(item, list) else parts[0]
        elif keyword == "@value" or definition.get("@type") == "@json":
            replaced[key] = item
        elif isinstance(item, dict) and "@language" in containers:
            replaced[key] = _language_map(item, scope)
        elif isinstance(item, dict) and {"@type", "@id"} & {*containers}:
            of = scope.previous or scope
            nodes = _of_type_map if "@type" in containers else _of_id_map
            replaced[key] = [_value(one, of, context, True) for one in nodes(item, definition, of)]
        elif isinstance(item, dict) and "@index" in containers:
            if "@index" not in definition:
                scope.lost["@index"] += sum(scope.keyword(name) != "@none" for name in item)
            replaced[key] = {name: _value(one, scope, context, True) for name, one in item.items()}
        else:
            replaced[key] = _value(item, scope, context)
    return replaced


def _language_map(texts: dict[str, Any], scope: _Scope) -> dict[str, Any]:
    """A map of texts by their languages with correct tags."""
    tags = {tag: tag if scope.keyword(tag) == "@none" else scope.correct_tag(tag) for tag in texts}
    if all(tag == correct for tag, correct in tags.items()):
        return texts
    corrected: dict[str, list[Any]] = defaultdict(list)
    for tag, correct in tags.items():
        corrected[correct or "@none"] += listed(texts[tag])
    return dict(corrected)


def _of_type_map(
    type_map: dict[str, Any], definition: Mapping[str, Any], scope: _Scope
) -> Iterator[Any]:
    """The nodes of a type map, each with the name of its place as a type."""
    for name, nodes in type_map.items():
        # The context of that type, unlike those of other types, holds for nodes inside, too.
        of_type = scope.definition(name)
        context, type_name = [], name
        if "@context" in of_type:
            context, type_name = listed(of_type["@context"]), _TYPE
        for node in listed(nodes):
            if isinstance(node, str):
                by_terms = definition.get("@type") == "@vocab"
                node = {"@id": scope.absolute(node) if by_terms else node}
            if not isinstance(node, dict):
                yield node
                continue
            own = [*context, *listed(node["@context"])] if "@context" in node else [*context]
            own += [{_TYPE: {"@id": name}}] if context else []
            inner = scope.within(own)
            keys = {key for key in node if inner.keyword(key) == "@type"}
            types = [one for key in keys for one in listed(node[key])]
            types = types if scope.keyword(name) == "@none" else [type_name, *types]
            first = {"@context": own if own[1:] else own[0]} if own else {}
            others = {key: one for key, one in node.items() if key not in {*keys, "@context"}}
            yield {**first, **({"@type": types} if types else {}), **others}


def _of_id_map(
    id_map: dict[str, Any], definition: Mapping[str, Any], scope: _Scope
) -> Iterator[Any]:
    """The nodes of a map by ids, or the graphs, each with the id of its place."""
    is_graph = "@graph" in listed(definition["@container"])
    for name, nodes in id_map.items():
        own = {} if scope.keyword(name) == "@none" else {"@id": name}
        for node in listed(nodes):
            if not isinstance(node, dict):
                yield node
                continue
            inner, _ = scope.of_node(node, definition.get("@context", []), True)
            keywords = {inner.keyword(key) for key in node}
            if is_graph and not {"@graph"} <= keywords <= {"@graph", "@id", "@index", "@context"}:
                yield {**own, "@graph": node}
            else:
                yield node if "@id" in keywords else {**own, **node}


def has_unknown(keys: Iterable[str]) -> bool:
    """Whether some keys look like keywords, and JSON-LD has no such keyword."""
    return any(map(_is_unknown, keys))


def _is_unknown(key: object) -> bool:
    return isinstance(key, str) and _KEYWORD.fullmatch(key) is not None and key not in _IN_NODES


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
