"""Turns an ontology in RDFS, OWL or SHACL into definitions (docs/decisions/031).

Classes become concept types, properties with things as values predicates, properties with literals
attributes in the ``instance_schema`` of their classes. Nothing is fetched: what ``owl:imports``
names is read only if its triples are given, too. Each statement becomes a part of a definition or
is reported.

``ontology_graph`` holds the triples, ``ontology_terms`` the classes and properties with their
names; ``definitions`` are the result.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from kiprdf.interchange.importing.element_index import ElementIndex
from kiprdf.interchange.importing.external import Node
from kiprdf.interchange.importing.names import (
    Names,
    allocate,
    label_of,
    numbered,
    plain_name,
    taken_by_others,
)
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.definitions import (
    Definition,
    Definitions,
    ExistingDefinitions,
    LeftOut,
    PredicateDefinition,
    TypeDefinition,
    preferred,
)
from kiprdf.interchange.vocabularies.ontology_terms import (
    Given,
    Homonyms,
    OntologyGraph,
    OntologyTerms,
    OntologyTriple,
    PropertiesOf,
    Property,
    Term,
    Use,
    Values,
    rule_of,
    term_of,
)
from kiprdf.interchange.vocabularies.standards import (
    DESCRIPTIONS,
    EVERYTHING,
    LABELS,
    PREFIXES,
    SCHEMA,
    STANDARDS,
    owl,
    rdf,
    rdfs,
    sh,
)
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json

_EQUIVALENT = {META_TYPES[0]: owl("equivalentClass"), META_TYPES[1]: owl("equivalentProperty")}
_SHAPE_LABELS = (*LABELS, sh("name"))
_SHAPE_DESCRIPTIONS = (*DESCRIPTIONS, sh("description"))


def definitions_of(
    triples: Iterable[Triple | Quad],
    mapping: Mapping,
    index: ElementIndex,
    existing: ExistingDefinitions,
    beside: Iterable[Triple | Quad] = (),
    names: Names | None = None,
) -> Definitions:
    """The definitions of an ontology.

    Terms keep the names that the mapping or the nexus has for them. ``index`` and ``existing`` are
    the elements and the definitions of the nexus. ``beside`` are the triples of further files of
    the same import: names that several terms share are given as if all were one file.
    """
    own, others = list(triples), list(beside)
    graph, given = OntologyGraph(own), Given(mapping, index)
    naming = OntologyGraph([*own, *others]) if others else graph
    return _Reading(graph, given, existing, naming, names).definitions()


class _Reading:
    """Names the terms of one ontology, defines them, and lists what is left."""

    def __init__(
        self,
        graph: OntologyGraph,
        given: Given,
        existing: ExistingDefinitions,
        naming: OntologyGraph,
        names: Names | None,
    ) -> None:
        self._graph = graph
        self._given = given
        self._existing = existing
        self._terms = OntologyTerms(graph, given, existing)
        self._naming = naming
        self._choice = names
        is_alone = naming is graph
        self._named_terms = self._terms if is_alone else OntologyTerms(naming, given, existing)
        self._own = {*self._terms.classes, *self._terms.properties}
        self._skipped = self._terms.skipped
        self._warnings: list[str] = []
        self._homonyms: set[str] = set()
        self._name_terms()
        self._unions = self._unions_by_member()

    def _name_terms(self) -> None:
        """Name every class, predicate and attribute, then keep those of this file."""
        every = self._named_terms.properties
        own = self._terms.properties.values()
        properties = [*every.values(), *own]
        predicates = dict.fromkeys(one.node.value for one in properties if one.is_predicate)
        attributes = dict.fromkeys(one.node.value for one in properties if one.is_attribute)
        classes = dict.fromkeys((*self._named_terms.classes, *self._terms.classes))
        self._types = self._named(META_TYPES[0], classes, lambda _iri: {})
        self._predicates = self._named(
            META_TYPES[1], predicates, lambda iri: self._ends(every[iri])
        )
        equivalent = self._grouped(attributes, _EQUIVALENT[META_TYPES[1]], self._given.key)
        leaders = list(dict.fromkeys(equivalent.values()))
        plain = self._plain_names(leaders)
        keys = allocate(leaders, lambda iri: numbered(plain[iri]), self._given.key)
        others = (i for i in keys if i in self._own and keys[i] != self._given.key(i))
        self._warnings += taken_by_others(keys, {iri: plain[iri] for iri in others})
        self._keys = _only(
            {iri: keys[leader] for iri, leader in equivalent.items()},
            {one.node.value for one in own if one.is_attribute},
        )
        self._types = _only(self._types, set(self._terms.classes))
        self._predicates = _only(
            self._predicates, {one.node.value for one in own if one.is_predicate}
        )

    def _named(
        self,
        meta_type: str,
        iris: Iterable[str],
        ends: Callable[[str], dict[str, tuple[str, ...]]],
    ) -> dict[str, str]:
        given = {iri: self._given.name(meta_type, iri) for iri in iris}
        equivalent = self._grouped(given, _EQUIVALENT[meta_type], given.get)
        leaders = list(dict.fromkeys(equivalent.values()))
        plain = self._plain_names(leaders)
        homonyms = Homonyms(meta_type, self._existing)
        names = allocate(
            leaders,
            lambda iri: numbered(plain[iri]),
            given.get,
            lambda iri, name: homonyms.is_free(name, ends(iri)),
        )
        self._homonyms |= {
            iri
            for iri, leader in equivalent.items()
            if homonyms.is_homonym(leader, names[leader], given[leader])
        }
        others = (i for i, name in names.items() if i in self._own and name != given[i])
        self._warnings += homonyms.warnings(names, {iri: plain[iri] for iri in others})
        return {iri: names[leader] for iri, leader in equivalent.items()}

    def _grouped(
        self, iris: Iterable[str], predicate: NamedNode, given: Callable[[str], str | None]
    ) -> dict[str, str]:
        """For each term the equivalent one that names it, in the order in which names are given.

        Terms that the mapping or the nexus name differently stay apart.
        """
        leaders: dict[str, str] = {}
        for group in groups(self._naming, self._by_rank(iris), predicate):
            named: dict[str, str] = {}
            for iri in group:
                name = given(iri)
                if name is not None:
                    named.setdefault(name, iri)
            first = next(iter(named.values()), group[0])
            leaders[first] = first
            leaders |= {iri: named.get(given(iri) or "", first) for iri in group}
            if len(named) > 1 and not self._own.isdisjoint(group):
                listed = " and ".join(f"'{name}'" for name in sorted(named))
                self._warnings.append(
                    f"{listed} are equivalent in the ontology; they stay two definitions."
                )
        return leaders

    def _plain_names(self, iris: Iterable[str]) -> dict[str, str]:
        """The names of terms by themselves."""
        labels = {iri: label_of(self._naming.statements_of(NamedNode(iri))) for iri in iris}
        return {iri: plain_name(iri, label, self._choice) for iri, label in labels.items()}

    def _by_rank(self, iris: Iterable[str]) -> list[str]:
        """Terms with texts come first, so that others do not get their names."""
        return sorted(iris, key=lambda iri: (self._named_terms.is_external(iri), iri))

    def definitions(self) -> Definitions:
        """All definitions, and what is in none of them."""
        owners = self._owners()
        owned: dict[str, list[str]] = defaultdict(list)
        for attribute, classes in owners.items():
            for one in classes:
                owned[one].append(attribute)
        types = [
            joined_types([self._type(iri, owned[iri]) for iri in iris])
            for iris in _by_name(self._types)
        ]
        predicates = [
            joined_predicates([self._predicate(iri) for iri in iris])
            for iris in _by_name(self._predicates)
        ]
        for iri in self._keys:
            self._use_attribute(iri, owners[iri])
        self._skipped += left_out(self._graph, self._defined_terms())
        return Definitions(
            tuple(sorted(types, key=lambda one: one.name)),
            tuple(sorted(predicates, key=lambda one: one.name)),
            tuple(sorted(set(self._skipped))),
            tuple(sorted(self._warnings)),
        )

    def _defined_terms(self) -> DefinedTerms:
        names = (*self._types, *self._predicates)
        mentioned = frozenset(iri for iri in names if not self._terms.is_declared(iri))
        terms = frozenset((*self._types, *self._terms.properties))
        properties_of = {
            node: properties
            for node, properties in self._terms.properties_of.items()
            if node.value not in terms
        }
        return DefinedTerms(terms, frozenset(self._keys), mentioned, properties_of)

    # Definitions -----------------------------------------------------------------------------

    def _owners(self) -> dict[str, set[str]]:
        """The classes whose members have an attribute."""
        owners: dict[str, set[str]] = {}
        for iri in self._keys:
            domains = self._terms.properties[iri].domains
            classes = domains.classes | set(self._terms.uses.get(iri, ()))
            if domains.everything and not domains.classes:
                classes |= {one for one in self._types if self._is_root(one)}
            owners[iri] = {one for one in classes if one in self._types}
        return owners

    def _is_root(self, iri: str) -> bool:
        """Whether a class is described here and is below no other class."""
        above = self._parents(iri)
        return not self._terms.is_external(iri) and not any(one in self._types for one in above)

    def _common(self, iri: str, equivalent: NamedNode) -> dict[str, Any]:
        graph, node = self._graph, NamedNode(iri)
        same = [one for one in graph.statements(node, equivalent) if isinstance(one[2], NamedNode)]
        # Of a term that has no definition, the statement may be the other way round.
        named = self._types.keys() | self._predicates.keys()
        backwards = [
            (one, equivalent, node)
            for one in sorted(graph.subjects(equivalent, node), key=str)
            if isinstance(one, NamedNode) and one.value not in named
        ]
        graph.use([*same, *backwards])
        return {
            "iri": iri,
            "labels": graph.use_texts(node, *LABELS),
            "descriptions": graph.use_texts(node, *DESCRIPTIONS),
            "same_as": tuple(
                one.value for one in (*(s[2] for s in same), *(s[0] for s in backwards))
            ),
            "is_declared": self._terms.is_declared(iri),
            "is_homonym": iri in self._homonyms,
        }

    def _use_kinds(self, iri: str, *kinds: NamedNode) -> None:
        self._graph.use((NamedNode(iri), vocab.TYPE, kind) for kind in kinds)

    def _type(self, iri: str, owned: list[str]) -> TypeDefinition:
        self._use_kinds(iri, rdfs("Class"), owl("Class"))
        common = self._common(iri, owl("equivalentClass"))
        for shape in self._terms.shapes.get(iri, ()):
            self._add_texts_of_shape(common, shape)
        parents = self._parents(iri)
        for path in parents.values():
            self._graph.use(path)
        rules = self._rules(iri, owned)
        names = {self._types[one] for one in parents if one in self._types}
        return TypeDefinition(
            name=self._types[iri],
            **common,
            parents=tuple(sorted(names - {self._types[iri]})),
            instance_schema={key: rules[key][0] for key in sorted(rules)},
            undescribed=frozenset(key for key, (_, is_label) in rules.items() if is_label),
            key_instances=tuple(self._enumerated(NamedNode(iri))),
        )

    def _add_texts_of_shape(self, common: dict[str, Any], shape: Node) -> None:
        """Use the texts of a shape if its class has none."""
        for key, predicates in (("labels", _SHAPE_LABELS), ("descriptions", _SHAPE_DESCRIPTIONS)):
            if not common[key]:
                common[key] = self._graph.use_texts(shape, *predicates)

    def _parents(self, iri: str) -> dict[str, list[OntologyTriple]]:
        """The named classes above a class, with the statements that say so.

        The class of everything is among them; it is above every class.
        """
        node = NamedNode(iri)
        above = [*self._graph.superiors(node), *self._graph.broader(node)]
        return {
            term.value: path
            for term, path in above
            if isinstance(term, NamedNode)
            and (term.value in self._types or term.value in EVERYTHING)
        } | {one: [] for one in self._unions.get(iri, ())}

    def _unions_by_member(self) -> dict[str, list[str]]:
        """The classes that are a union, by the classes that it consists of.

        Nothing counts as used: that a union has no other members is in no definition.
        """
        unions: dict[str, list[str]] = defaultdict(list)
        for iri in self._types:
            for member in self._graph.union_members(NamedNode(iri)):
                if isinstance(member, NamedNode):
                    unions[member.value].append(iri)
        return unions

    def _enumerated(self, node: NamedNode) -> Iterator[str]:
        """The names of the members of a class that lists them."""
        for member, path in self._graph.members(node, owl("oneOf")):
            if isinstance(member, NamedNode):
                label = preferred(self._graph.texts(member, *LABELS))
                labels = self._graph.text_statements(member, *LABELS)
                self._graph.use([*path, *(s for s in labels if s[2].value.strip() == label)])
                yield label or re.split(r"[/#:]", member.value)[-1]

    def _use_attribute(self, iri: str, owners: Iterable[str]) -> None:
        """Record what an ontology says about an attribute as used; report one without a class."""
        kinds = (owl("DatatypeProperty"), owl("AnnotationProperty"), owl("FunctionalProperty"))
        self._use_kinds(iri, rdf("Property"), owl("ObjectProperty"), *kinds)
        self._graph.use(self._terms.properties[iri].domains.of_things)
        self._rule(None, iri)
        if not owners:
            reason = "an attribute without a class; any concept may have it"
            self._skipped.append(LeftOut(iri, reason))

    def _rules(self, iri: str, owned: Iterable[str]) -> dict[str, tuple[dict[str, Json], bool]]:
        """The rules of a class by attribute, and whether their descriptions are only labels."""
        rules: dict[str, tuple[dict[str, Json], bool]] = {}
        for one in owned:
            key, (rule, is_label) = self._keys[one], self._rule(iri, one)
            if key in rules:
                before, was_label = rules[key]
                rule = joined_rules(before, rule, keeps_text=not was_label)
                is_label = is_label and was_label
            rules[key] = rule, is_label
        return rules

    def _rule(self, owner: str | None, iri: str) -> tuple[dict[str, Json], bool]:
        """The rule of an ``instance_schema``, and whether its description is only a label."""
        graph, node = self._graph, NamedNode(iri)
        use = self._terms.uses.get(iri, {}).get(owner or "", Use())
        descriptions = use.descriptions or graph.texts(node, *DESCRIPTIONS)
        text = preferred(descriptions or use.labels or graph.texts(node, *LABELS))
        values = use.values or self._terms.properties[iri].values
        is_single = graph.is_a(node, owl("FunctionalProperty"))
        rule = rule_of(use, values, is_single)
        graph.use(use.of_counts | values.of_literals)
        graph.use(values.of_options if "enum" in rule else ())
        texts = {*use.of_texts, *graph.text_statements(node, *LABELS, *DESCRIPTIONS)}
        shown = {_plain(one) for one in (self._keys[iri], text or "", *(text or "").split("\n\n"))}
        graph.use(one for one in texts if _plain(one[2].value) in shown)
        term = term_of(iri, values)
        return rule | term | ({"description": text} if text else {}), not descriptions

    def _predicate(self, iri: str) -> PredicateDefinition:
        graph, one = self._graph, self._terms.properties[iri]
        self._use_kinds(iri, rdf("Property"), owl("ObjectProperty"))
        self._use_kinds(iri, owl("SymmetricProperty"), owl("TransitiveProperty"))
        graph.use(one.domains.of_things | one.values.of_things)
        ends, inverses = self._ends(one), self._inverses(one.node)
        others = [self._predicates[other] for other in inverses if other != iri]
        return PredicateDefinition(
            name=self._predicates[iri],
            **self._described_by_shapes(iri, self._common(iri, owl("equivalentProperty"))),
            parents=tuple(self._parents_of_predicate(one.node)),
            subject_types=ends["subject"],
            object_types=ends["object"],
            is_symmetric=graph.is_a(one.node, owl("SymmetricProperty")) or iri in inverses,
            is_transitive=graph.is_a(one.node, owl("TransitiveProperty")),
            inverse_of=others[0] if others else None,
        )

    def _parents_of_predicate(self, node: NamedNode) -> list[str]:
        direct = [(s[2], [s]) for s in self._graph.statements(node, rdfs("subPropertyOf"))]
        parents = {
            name: path
            for term, path in (*direct, *self._graph.broader(node))
            if isinstance(term, NamedNode) and (name := self._predicate_name(term.value))
        }
        self._graph.use(statement for path in parents.values() for statement in path)
        return sorted(parents.keys() - {self._predicates[node.value]})

    def _predicate_name(self, iri: str) -> str | None:
        """The name of a predicate of the ontology, of an equivalent one, or of an earlier one."""
        equivalent = self._graph.subjects(owl("equivalentProperty"), NamedNode(iri))
        iris = (iri, *sorted(one.value for one in equivalent if isinstance(one, NamedNode)))
        names = (self._predicates[one] for one in iris if one in self._predicates)
        return next(names, None) or self._given.index.definition(META_TYPES[1], iri)

    def _described_by_shapes(self, iri: str, common: dict[str, Any]) -> dict[str, Any]:
        """The texts of the first class that has some, if the property has none."""
        for _, use in sorted(self._terms.uses.get(iri, {}).items()):
            if not common["descriptions"]:
                common["descriptions"] = use.descriptions
                self._graph.use(use.of_texts)
            common["labels"] = common["labels"] or use.labels
        return common

    def _inverses(self, node: NamedNode) -> list[str]:
        """The predicates that are inverses; a definition can name itself and one more."""
        graph = self._graph
        statements = graph.statements(node, owl("inverseOf"))
        statements += [
            (one, owl("inverseOf"), node) for one in graph.subjects(owl("inverseOf"), node)
        ]
        by_iri = defaultdict[str, list[OntologyTriple]](list)
        for one in statements:
            other = one[2] if one[2] != node else one[0]
            if isinstance(other, NamedNode) and other.value in self._predicates:
                by_iri[other.value].append(one)
        inverses = sorted(by_iri)
        for iri in {node.value, *[one for one in inverses if one != node.value][:1]}:
            graph.use(by_iri[iri])
        return inverses

    def _ends(self, one: Property) -> dict[str, tuple[str, ...]]:
        """The types at the ends of a predicate, by role."""
        return {"subject": self._allowed(one.domains), "object": self._allowed(one.values)}

    def _allowed(self, values: Values) -> tuple[str, ...]:
        names = sorted(self._types[iri] for iri in values.classes if iri in self._types)
        return tuple(names) if names and not values.everything else ("*",)


def _only(names: dict[str, str], iris: Collection[str]) -> dict[str, str]:
    return {iri: name for iri, name in names.items() if iri in iris}


def _by_name(names: dict[str, str]) -> list[list[str]]:
    """The terms of each name; the one that gave the name comes first."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for iri, name in names.items():
        by_name[name].append(iri)
    return list(by_name.values())


def _plain(text: str) -> str:
    """The letters and digits of a text, by which a label that repeats the key is recognized."""
    return re.sub(r"[\W_]", "", text).casefold()


# Equivalent terms -------------------------------------------------------------------------------


D = TypeVar("D", bound=Definition)
Rule = dict[str, Json]


def groups(graph: OntologyGraph, iris: Iterable[str], predicate: NamedNode) -> list[list[str]]:
    """The terms in their order, those that are equivalent to one another together."""
    ordered = list(dict.fromkeys(iris))
    group = {iri: [iri] for iri in ordered}
    for iri in ordered:
        for other in graph.named(NamedNode(iri), predicate):
            if other in group and group[other] is not group[iri]:
                small, large = sorted((group[other], group[iri]), key=len)
                large += small
                group |= dict.fromkeys(small, large)
    members: dict[int, list[str]] = defaultdict(list)
    for iri in ordered:
        members[id(group[iri])].append(iri)
    return list(members.values())


def joined_types(definitions: Sequence[TypeDefinition]) -> TypeDefinition:
    """One type of several; the first has the name, and its rules win."""
    first = definitions[0]
    for other in definitions[1:]:
        schema, undescribed = dict(first.instance_schema), set(first.undescribed)
        for key, rule in other.instance_schema.items():
            is_label = key in other.undescribed
            if key not in schema:
                schema[key] = rule
                undescribed |= {key} if is_label else set()
            else:
                schema[key] = joined_rules(schema[key], rule, keeps_text=key not in undescribed)
                undescribed -= set() if is_label else {key}
        first = replace(
            _joined(first, other),
            instance_schema=dict(sorted(schema.items())),
            undescribed=frozenset(undescribed),
            key_instances=_distinct(first.key_instances, other.key_instances),
        )
    return first


def joined_predicates(definitions: Sequence[PredicateDefinition]) -> PredicateDefinition:
    """One predicate of several; each end allows the types of all."""
    first = definitions[0]
    for other in definitions[1:]:
        first = replace(
            _joined(first, other),
            subject_types=_joined_ends(first.subject_types, other.subject_types),
            object_types=_joined_ends(first.object_types, other.object_types),
            is_symmetric=first.is_symmetric or other.is_symmetric,
            is_transitive=first.is_transitive or other.is_transitive,
            inverse_of=first.inverse_of or other.inverse_of,
        )
    return first


def joined_rules(first: Rule, other: Rule, *, keeps_text: bool) -> Rule:
    """The rules of an attribute under both IRIs; those of the first win."""
    rule = {**other, **first}
    rule["is_required"] = bool(first.get("is_required") or other.get("is_required"))
    if not keeps_text and "description" in other:
        rule["description"] = other["description"]
    return rule


def _joined(first: D, other: D) -> D:
    """What types and predicates have in common."""
    iris = _distinct(first.same_as, (other.iri, *other.same_as))
    parents = {*first.parents, *other.parents} - {first.name}
    return replace(
        first,
        labels=_joined_texts(first.labels, other.labels),
        descriptions=_joined_texts(first.descriptions, other.descriptions),
        parents=tuple(sorted(parents)),
        same_as=tuple(iri for iri in iris if iri != first.iri),
        is_declared=first.is_declared or other.is_declared,
        is_homonym=first.is_homonym and other.is_homonym,
    )


def _joined_texts(first: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """The texts of both by language; different ones are joined, as those of one term are."""
    texts = dict(first)
    for language, text in other.items():
        before = texts.get(language, text)
        texts[language] = before if text == before else f"{before}\n\n{text}"
    return texts


def _joined_ends(first: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Types that either allows; an end without types says nothing."""
    if "*" in first or "*" in other:
        return first if "*" in other else other
    return tuple(sorted({*first, *other}))


def _distinct(*values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for value in values for item in value))


# The statements that are in no definition, by subject and with a reason -------------------------


_MOST = 5
"""How many terms of an axiom are named."""
_PREFIXES: dict[str, str] = {
    **{namespace: prefix for prefix, namespace in PREFIXES.items()},
    vocab.RDF: "rdf",
    vocab.RDFS: "rdfs",
    vocab.XSD: "xsd",
    SCHEMA[1]: "schema",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/dc/elements/1.1/": "dc",
}
_IMPORTS, _DEFINED_BY = owl("imports"), rdfs("isDefinedBy")
_KINDS = frozenset(
    (
        *map(owl, ("Class", "Restriction", "DataRange", "Axiom")),
        *map(rdfs, ("Class", "Datatype")),
        *map(sh, ("NodeShape", "PropertyShape")),
        rdf("List"),
    )
)
"""Types of blank nodes that follow from their other statements."""
_INDIVIDUAL = owl + "NamedIndividual"
_LISTS = (vocab.FIRST, vocab.REST)
_CHOICES = ("owl:oneOf", "owl:hasValue", "sh:in")


class DefinedTerms(NamedTuple):
    """The terms that have definitions, and those of them that are attributes."""

    defined: Collection[str]
    attributes: Collection[str]
    mentioned: Collection[str]
    """The terms of which nothing is said."""
    properties_of: PropertiesOf


class _Subject(NamedTuple):
    """The subject under which a statement is reported, and the classes whose shapes contain it."""

    node: Node
    classes: tuple[str, ...] = ()


def left_out(graph: OntologyGraph, terms: DefinedTerms) -> Iterator[LeftOut]:
    """What is left out, one line for each subject and reason."""
    for iri in terms.mentioned:
        yield LeftOut(iri, "mentioned, not described: give its ontology too")
    for triple in graph.about_statements:
        subject = triple.subject
        iri = subject.value if isinstance(subject, NamedNode) else triple.predicate.value
        yield LeftOut(iri, "a statement about a statement, not a definition")
    subjects = _ReportedSubjects(graph, terms.properties_of)
    unused: dict[_Subject, set[OntologyTriple]] = defaultdict(set)
    for statement in graph.unused():
        if not _is_structure(graph, terms, statement):
            unused[subjects.of(statement[0])].add(statement)
    for reported, statements in unused.items():
        yield from _reasons(graph, terms, reported, statements)


def _is_structure(graph: OntologyGraph, terms: DefinedTerms, statement: OntologyTriple) -> bool:
    """Whether a statement has no meaning by itself, such as the cells of a list."""
    subject, predicate, term = statement
    if isinstance(subject, NamedNode):
        if predicate == vocab.TYPE:
            return term in (sh("NodeShape"), sh("PropertyShape"), owl("Ontology"))
        # The IRI of a term already has the namespace of its vocabulary.
        is_namespace = isinstance(term, NamedNode) and subject.value.startswith(term.value)
        return predicate == _DEFINED_BY and is_namespace and _is_of_schema(graph, terms, subject)
    return predicate in _LISTS or (predicate == vocab.TYPE and term in _KINDS)


class _ReportedSubjects:
    """The subjects under which statements are reported; for blank nodes what they belong to."""

    def __init__(self, graph: OntologyGraph, properties_of: PropertiesOf) -> None:
        self._properties_of = properties_of
        self._around: dict[Term, list[Node]] = defaultdict(list)
        for subject, _, term in graph.all_statements():
            if isinstance(term, BlankNode):
                self._around[term].append(subject)
        self._by_node: dict[Node, _Subject] = {}

    def of(self, node: Node) -> _Subject:
        """The property of a restriction or property shape, otherwise the nearest named node."""
        path: list[Node] = []
        while node not in self._by_node and node not in path:
            path.append(node)
            if node in self._properties_of:
                iri, classes = self._properties_of[node]
                self._by_node[node] = _Subject(NamedNode(iri), tuple(classes))
            elif isinstance(node, NamedNode) or not self._around[node]:
                self._by_node[node] = _Subject(node)
            else:
                node = min(self._around[node], key=str)
        if node not in self._by_node:
            # A ring of blank nodes, which no named node contains.
            self._by_node[node] = _Subject(min(path[path.index(node) :], key=str))
        subject = self._by_node[node]
        self._by_node.update(dict.fromkeys(path, subject))
        return subject


def _reasons(
    graph: OntologyGraph, terms: DefinedTerms, subject: _Subject, statements: set[OntologyTriple]
) -> Iterator[LeftOut]:
    node = subject.node
    if isinstance(node, BlankNode):
        yield _of_axiom(graph, node, statements)
    elif graph.is_a(node, owl("Ontology")):
        if any(statement[1] == _IMPORTS for statement in statements):
            yield LeftOut(node.value, "owl:imports is not followed; give the triples of both")
        if any(statement[1] != _IMPORTS for statement in statements):
            yield LeftOut(node.value, "about the ontology itself, not about its terms")
    elif node.value.startswith(STANDARDS) and not subject.classes:
        yield LeftOut(node.value, "a term of RDF, RDFS, OWL or XSD itself")
    elif _is_of_schema(graph, terms, node) or subject.classes:
        yield from _without_counterpart(terms, subject, statements)
    else:
        yield LeftOut(node.value, "data, not a definition")


def _is_of_schema(graph: OntologyGraph, terms: DefinedTerms, node: NamedNode) -> bool:
    kinds = graph.named(node, vocab.TYPE)
    is_kind = any(kind.startswith((*STANDARDS, sh)) for kind in kinds if kind != _INDIVIDUAL)
    is_shape = any(one[1].value.startswith(sh) for one in graph.statements_of(node))
    return node.value in terms.defined or node in terms.properties_of or is_kind or is_shape


def _without_counterpart(
    terms: DefinedTerms, subject: _Subject, statements: set[OntologyTriple]
) -> Iterator[LeftOut]:
    """The reasons for statements that a definition cannot express."""
    iri = subject.node.value
    where = "an instance_schema" if iri in terms.attributes else "a definition"
    by = ", ".join(f"<{one}>" for one in subject.classes)
    names = sorted({_predicate_name(statement) for statement in statements})
    choices = [name for name in names if name in _CHOICES and iri in terms.attributes]
    others = [name for name in names if name not in choices]
    if choices:
        reason = f"{', '.join(choices)}: an enum is for attributes that have one value at most"
        yield LeftOut(iri, reason)
    if others:
        verb = "has" if len(others) == 1 else "have"
        prefix = f"{by}: " if by else ""
        yield LeftOut(iri, f"{prefix}{', '.join(others)} {verb} no counterpart in {where}")


def _of_axiom(graph: OntologyGraph, node: BlankNode, statements: set[OntologyTriple]) -> LeftOut:
    """An axiom or data with a blank node as subject: what it is, and what it is about."""
    kinds = graph.named(node, vocab.TYPE)
    predicates = sorted(statement[1].value for statement in statements)
    iri = kinds[0] if kinds else predicates[0]
    if not iri.startswith((*STANDARDS, sh)):
        return LeftOut(iri, "data, not a definition")
    about = list(_named(graph, node))
    listed = ", ".join(f"<{one}>" for one in about[:_MOST]) + ("…" if len(about) > _MOST else "")
    names = ", ".join(dict.fromkeys(_short(one) for one in predicates if one != vocab.TYPE.value))
    of = f" of {listed}" if listed else ""
    return LeftOut(iri, f"{_short(iri)}{of} ({names}) has no counterpart in a definition")


def _named(graph: OntologyGraph, node: BlankNode) -> Iterator[str]:
    """The terms to which a blank node refers, each once."""
    pending: list[Term] = [node]
    visited: set[Term] = set()
    while pending:
        term = pending.pop(0)
        if term in visited:
            continue
        visited.add(term)
        if isinstance(term, BlankNode):
            pending += [object_ for _, _, object_ in graph.statements_of(term)]
        elif isinstance(term, NamedNode) and not term.value.startswith(STANDARDS):
            yield term.value


def _predicate_name(statement: OntologyTriple) -> str:
    """The name of the predicate; for ``rdf:type`` that of the type."""
    _, predicate, term = statement
    if predicate == vocab.TYPE and isinstance(term, NamedNode):
        return f"a {_short(term.value)}"
    return _short(predicate.value)


def _short(iri: str) -> str:
    for namespace, prefix in _PREFIXES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri[len(namespace) :]}"
    return f"<{iri}>"
