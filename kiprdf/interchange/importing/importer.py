"""Plans the import of external RDF as concepts and propositions (docs/how-to/import.md).

``external`` and ``blank_nodes`` turn triples into statements; ``names`` makes names, ``naming``
looks IRIs up in the mapping and the nexus; ``identities`` finds concepts, ``facts`` the
propositions and their order, ``node_values`` and ``values`` the JSON values of both, ``origins``
records IRIs and datatypes; ``plan`` is the result. ``element_index`` is what the nexus has,
``stated`` what of it each source has stated. A plan depends on the arguments only, and nothing is
written.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.blank_nodes import blank_names, is_blank
from kiprdf.interchange.importing.element_index import SAME_AS, ElementIndex
from kiprdf.interchange.importing.external import (
    BROKEN_LIST,
    DEFAULT,
    ExternalData,
    ExternalTriple,
    Graphs,
    Items,
    Node,
    Object,
    by_graph,
    by_subject,
    gather_containers,
    gather_lists,
    in_order,
    in_order_if_flat,
    joined,
    recorded_and_inner,
    replaced_in,
    separate_reifiers,
    with_periods,
)
from kiprdf.interchange.importing.facts import (
    NO_ELEMENT,
    Fact,
    Facts,
    Link,
    is_merged,
    several,
    shown_values,
    unchanged_links,
)
from kiprdf.interchange.importing.identities import (
    Context,
    Identifier,
    claimed,
    claims_by_element,
    ends_of,
    stubs,
)
from kiprdf.interchange.importing.names import Naming, names_by_label
from kiprdf.interchange.importing.node_values import GRAPH, GRAPH_VALUES, ValueReader
from kiprdf.interchange.importing.origins import Imported, Part, record, recorded_subjects
from kiprdf.interchange.importing.plan import (
    Concept,
    Element,
    ImportPlan,
    JsonMap,
    Proposition,
    ReplacedText,
    concept,
)
from kiprdf.interchange.importing.values import NodeValues, examples, one_or_all, together
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.kml import statements
from kiprdf.kml.merged_origins import ORIGINAL, STATEMENTS, merged_parts, statement_identity
from kiprdf.language.names import META_TYPES, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris, base_fault
from kiprdf.rdf.literals import Json

if TYPE_CHECKING:
    from kiprdf.options import ImportOptions


import re

from kiprdf.interchange.importing.names import DESCRIPTIONS, identifier, label_rank, name_texts
from kiprdf.interchange.importing.origins import LISTS

MergedValues: TypeAlias = dict[str, NodeValues]
"""The values of elements, by their ids."""
_NO_VALUES = NodeValues()
"""Those of a link that one triple of the default graph states; so are most."""
_ONLY_DEFAULT = frozenset((DEFAULT,))
POSITION = "position"
"""The attribute of a link with its position in a list, or several; the first is 1."""


def plan(
    quads: Iterable[Quad],
    options: ImportOptions,
    index: ElementIndex,
    *,
    provenance: JsonMap,
    source_base: str | None = None,
    others: Callable[[], Iterable[Quad]] = tuple,
) -> ImportPlan:
    """Plan the import of quads into a nexus, given by its ``index``.

    Without ``options.define`` one KIP_2001 names all types and predicates that are missing. The
    default type is also that of the undescribed ends of predicates that the mapping names.
    ``provenance`` is the metadata of everything and overrides the quads. ``source_base`` is the
    base of the nexus that wrote the quads, if one did. Classes and properties of the ``others``,
    which are imported later, share new names as if they were among these. The order of the quads
    makes no difference.
    """
    define, default_type, language = options.define, options.default_type, options.language
    _check(source_base, default_type)
    iris, mapping = index.store.iris, options.vocabulary or Mapping.none()
    recorded_iris = functools.cache(lambda: recorded_subjects(index))
    external, count = read_external(quads, lambda iri: iri in recorded_iris())
    with_periods(external, iris)
    bases = [iris] if source_base is None else [iris, Iris(source_base)]
    subjects = by_subject(external.statements)
    properties = {*map(itemgetter(1), external.statements)}
    types: dict[Node, list[Object]] = defaultdict(list)
    for subject, property, object_ in paced(external.statements):
        if property == vocab.TYPE:
            types[subject].append(object_)
    for reifier in external.reified:
        subjects.pop(reifier, None)
        types.pop(reifier, None)
    labels = names_by_label(subjects, properties, types, options.names)
    claims = claims_by_element(subjects, define, Naming(mapping, index, bases, labels))
    naming = Naming(mapping, index.claiming(claims), bases, labels)
    undescribed = set()
    if default_type:
        undescribed = stubs(external, subjects, naming, options.every_link)
    has_claims = any(naming.is_claim(one.value) for one in properties)
    identifier = Identifier(
        subjects, types, naming, define, default_type, language, options.names, has_claims
    )
    identities = identifier.identify(undescribed)
    index = naming.index.without(identities.superseded).claiming(identities.originals)
    context = Context(external, naming, index, identities, provenance, index.metadata(ORIGINAL))
    facts, values = Facts(context), ValueReader(context)
    links = list(_add(context, facts, values))
    for statement in paced(facts.place(links)):
        _add_unlinked(statement, context, values)
    placed = facts.sorted()
    merged_values: MergedValues = {}
    are_alone = not (facts.has_others or context.originals)
    parts = {
        one.id: some
        for one in paced(placed)
        if not are_alone or len(one.statements) > 1 or one.reifiers or one.lists
        if (some := several(one, context, facts, values.by_node))
    }
    propositions = [
        _proposition(fact, parts.get(fact.id, []), context, facts, values, merged_values)
        for fact in paced(placed)
    ]
    _skip_unused_reifiers(context, facts, values)
    if has_claims:
        _skip_claims(context, facts, propositions)
    concepts = _concepts(context, values, merged_values)
    missing = _missing(context, placed, values)
    _add_shared(missing, others, naming)
    if not define:
        require_defined(missing)
    superseded = {old: identities.resources[node].id for old, node in identities.superseded.items()}
    elements: list[Element] = [*concepts, *propositions]
    recorded = record(
        _imported(elements, placed, merged_values, parts, context), index, context.originals
    )
    has_texts = any(one.value in DESCRIPTIONS for one in properties)
    described = external.statements if has_texts else ()
    unstated = (one.key for one in concepts if one.key not in merged_values)
    used = {
        *(name for name in {one.type for one in concepts} if not index.is_unused("C", name)),
        *(
            name
            for name in {one.predicate for one in propositions}
            if not index.is_unused("P", name)
        ),
    }
    existing: list[Element] = [
        *(one for one in concepts if one.type in used and index.exists(one.key)),
        *(one for one in propositions if one.predicate in used and index.exists(one.key)),
    ]
    return ImportPlan(
        missing_definitions(missing, described, language),
        concepts,
        propositions,
        frozenset(element.key for element in existing),
        sorted(dict.fromkeys(external.skipped)),
        list(_warnings(context, placed, values)),
        provenance,
        list(_replaced_texts(links, existing, context, facts, values)),
        superseded,
        options.update,
        count,
        recorded=recorded,
        same=frozenset((*unstated, *unchanged_links(propositions, context))),
        statements={
            one.key: _stated(one, parts[one.key]) for one in propositions if one.key in parts
        },
    )


def _stated(link: Proposition, parts: list[Part]) -> list[list[Json]]:
    """The identities of the statements of a fact that are in the document."""
    shown = cast("list[JsonMap]", link.attributes.get(STATEMENTS) or [{}] * len(parts))
    both = zip(parts, shown, strict=True)
    return [statement_identity(part.noted, one) for part, one in both if part.shown is None]


def _check(source_base: str | None, default_type: str | None) -> None:
    """Refuse a base that cannot be one, and a default type that is not an identifier."""
    fault = None if source_base is None else base_fault(source_base)
    if fault is not None:
        message = f"The data declare the base <{shown(str(source_base))}>, which {fault}."
        raise KipError("KIP_1001", message, "Correct the base, or leave that line out.")
    if default_type is not None and not is_key(default_type):
        message = f"The default type '{shown(default_type)}' is not an identifier."
        raise KipError("KIP_1002", message)


def read_external(
    quads: Iterable[Quad], is_recorded: Callable[[str], bool]
) -> tuple[ExternalData, int]:
    """Statements without blank nodes, with lists as values, and the number of triples.

    What reifiers stand for is in ``reified``. Statements are sorted by their text. What the nexus
    has recorded of the ontologies that ``is_recorded`` knows is not among them.
    """
    runs, skipped = by_graph(quads)
    flat = in_order_if_flat(chain.from_iterable(map(itemgetter(1), runs)))
    graph_names = {name for name, _ in runs}
    if flat is not None and len(graph_names) == 1:
        return ExternalData(flat, {}, {}, skipped, (*graph_names,)), len(flat)
    collected = joined(runs)
    if flat is not None:
        return ExternalData(flat, collected, {}, skipped), len(flat)
    recorded, inner = recorded_and_inner(collected, is_recorded)
    axioms: set[ExternalTriple] = set()
    data: Collection[ExternalTriple] = collected
    if recorded or inner:
        axioms = {s for s in collected if s.subject in inner or s.object in inner}
        data = [s for s in collected if s.subject not in recorded and s not in axioms]
    with_lists, broken = gather_lists(data)
    with_lists = gather_containers(with_lists, collected)
    names: dict[Node, Object] = dict(blank_names(chain(with_lists.values(), broken)).items())
    names |= dict(blank_names(axioms).items())
    graphs: dict[ExternalTriple, Graphs] = {}
    equal: list[ExternalTriple] = []
    for original, one in paced(with_lists.items()):
        statement = replaced_in(one, names) if names else one
        places, before = collected[original], graphs.get(statement, ())
        items = statement.object
        if isinstance(items, Items):
            while not {*places}.isdisjoint(before):
                items = replace(items, copy=items.copy + 1)
                statement = statement._replace(object=items)
                before = graphs.get(statement, ())
            if items.terms and before:
                equal.append(statement)
        graphs[statement] = (*before, *places) if before else places
    different = {*graphs.values()}
    shared = different.pop() if len(different) == 1 else None
    external = ExternalData(in_order(graphs), graphs, {}, skipped, shared)
    for statement in broken:
        external.skip(replaced_in(statement, names), BROKEN_LIST)
    for statement in equal:
        external.skip(statement, "an equal list is in another graph; both are written as one list")
    for statement in _moved(collected, with_lists, {*broken}):
        external.skip(replaced_in(statement, names), "it is written to the graph of its list")
    for statement in axioms:
        external.skip(replaced_in(statement, names), "a part of an axiom; import it as an ontology")
    separate_reifiers(external)
    return external, len(collected)


def _moved(
    collected: dict[ExternalTriple, Graphs], *others: Collection[ExternalTriple]
) -> Iterator[ExternalTriple]:
    """The statements of list cells that are in other graphs than what refers to the cell."""
    heads = (s for s in collected if s.predicate == vocab.FIRST)
    cells = {s.subject for s in heads if not any(s in some for some in others)}
    if not cells:
        return
    graphs = {s.object: {*places} for s, places in collected.items() if s.object in cells}
    for statement, places in collected.items():
        if statement.subject in cells and {*places} != graphs.get(statement.subject):
            yield statement


# Statements -----------------------------------------------------------------------------------


def _add(context: Context, facts: Facts, values: ValueReader) -> Iterator[Link]:
    """Add each statement as a value, or skip it; the facts that it is instead, of a list several.

    Statements about one subject follow each other.
    """
    identities, last = context.identities, None
    for statement in paced(context.external.statements):
        subject, predicate, object_ = statement
        if subject is not last:
            last = subject
            reason, resource = identities.refused.get(subject), identities.resources.get(subject)
            id = facts.ids.get(subject)
        if reason is not None:
            context.external.skip(statement, reason)
        elif isinstance(object_, Literal) and predicate != vocab.TYPE:
            values.add(statement, resource)
        elif predicate == vocab.TYPE:
            values.add_type(statement, resource)
        else:
            end = facts.end_of(statement)
            if end is not None:
                yield statement, id, end
                continue
            links, is_whole = facts.of_list(statement)
            if not is_whole:
                values.add(statement, resource)
            for link in links:
                yield link, None, ""


def _add_unlinked(statement: ExternalTriple, context: Context, values: ValueReader) -> None:
    """Add a statement whose object could have been a proposition, but is not."""
    property, naming = statement.predicate.value, context.naming
    if naming.is_native_predicate(property) or naming.is_mapped_predicate(property):
        context.external.skip(statement, NO_ELEMENT)
    else:
        values.add(statement, context.identities.resources.get(statement.subject))


def _skip_unused_reifiers(context: Context, facts: Facts, values: ValueReader) -> None:
    """Skip the reifiers of triples that are not facts, and those that say nothing of a fact."""
    reified, refused = context.external.reified, context.identities.refused
    if not reified:
        return
    mentioned: set[Object] = set()
    kept: set[Node] = set()
    for statement in paced(context.external.statements):
        mentioned |= {statement.subject, statement.object}
    for node, fact in paced(reified.items()):
        reason = None
        if fact in facts.kept and _states_the_same(node, facts.kept[fact], values):
            kept.add(node)
        elif node not in facts.by_reifier:
            reason = refused.get(fact.subject, "it annotates a triple that is not a proposition")
        elif is_blank(node) and node not in mentioned:
            reason = "its subject is a blank node that nothing else is said of"
        if reason is not None:
            context.external.skip(ExternalTriple(node, vocab.REIFIES, fact), reason)
    used = kept | facts.by_reifier.keys()
    for statement in paced(context.external.statements):
        if statement.subject in reified and statement.subject not in used:
            reason = "it annotates a triple that is not a proposition"
            fault = refused.get(reified[statement.subject].subject, reason)
            context.external.skip(statement, fault)


def _states_the_same(reifier: Node, loop: JsonMap, values: ValueReader) -> bool:
    """Whether a reifier has the values with which MERGE has kept the link."""
    node = values.by_node[reifier]
    stated = {**node.attributes.json(), **node.metadata.json()}
    before = {**cast(JsonMap, loop["metadata"]), **cast(JsonMap, loop["attributes"])}
    return all(key in before and before[key] == value for key, value in stated.items())


def _skip_claims(context: Context, facts: Facts, links: Iterable[Proposition]) -> None:
    """Skip the claims to IRIs that another element has."""
    is_claim, statements = context.naming.is_claim, context.external.statements
    claims = [one for one in paced(statements) if is_claim(one.predicate.value)]
    originals = {id: list(iris) for id, iris in context.index.originals.items()}
    originals |= {link.key: listed(link.attributes.get(SAME_AS)) for link in links}
    for statement in claims:
        id = _id(statement.subject, context, facts)
        if id is None:
            continue
        for text in claimed(statement):
            if text not in originals.get(id, ()):
                context.external.skip(statement, f"<{text}> is the IRI of another element")


def _id(subject: Node, context: Context, facts: Facts) -> str | None:
    """The id of what a subject becomes."""
    if subject in facts.by_reifier:
        return facts.by_reifier[subject].id
    resource = context.identities.resources.get(subject)
    return None if resource is None else resource.id


# Elements -------------------------------------------------------------------------------------


def _proposition(
    fact: Fact,
    parts: list[Part],
    context: Context,
    facts: Facts,
    values: ValueReader,
    merged_values: MergedValues,
) -> Proposition:
    ends = (fact.subject, fact.predicate, fact.object)
    before = context.index.originals.get(fact.id, ())
    if not (parts or before or fact.reifiers or fact.positions) and fact.graphs <= _ONLY_DEFAULT:
        return statements.Proposition(fact.id, *ends, {}, {})
    merged = merged_values[fact.id] = NodeValues()
    own: list[str] = []
    for reifier in sorted(fact.reifiers, key=str):
        merged.merge(values.by_node[reifier])
        # A blank node needs an IRI only beside another one, which would be its own.
        has_iri = not is_blank(reifier) or values.by_node[reifier].same_as
        if has_iri and not context.naming.is_below_base(reifier.value):
            own.append(reifier.value)
    merged.graphs = fact.graphs
    merged.places |= {tuple(sorted(fact.graphs))}
    more = (iri for iri in (*own, *sorted(merged.same_as)) if facts.is_free(iri, fact.id))
    # An import that names no reifier does not state the IRI that another one gave the fact.
    states_iri = bool(own or merged.same_as)
    same_as = list(dict.fromkeys((*before, *more))) if states_iri else []
    if fact.positions:
        merged.attributes.external.setdefault(POSITION, [*fact.positions])
    attributes, metadata = _attributes_and_metadata(merged, same_as, context, fact.graphs)
    shown = [shown_values(part, attributes) for part in parts]
    for part in parts:
        for key, value in (part.shown or {}).items():
            if key in attributes and key != "id":
                attributes[key] = together([*listed(attributes[key]), *listed(value)])
    if any(shown) and len(shown) > 1:
        attributes[STATEMENTS] = shown
    return statements.Proposition(fact.id, *ends, attributes, metadata)


def _concepts(context: Context, values: ValueReader, merged_values: MergedValues) -> list[Concept]:
    """Definitions of the data, then other concepts, by type and name.

    An earlier import may have made one concept of several resources.
    """
    nodes: dict[ConceptName, list[Node]] = {}
    for node, resource in context.identities.resources.items():
        nodes.setdefault(resource.identity, []).append(node)
    rank = {name: place for place, name in enumerate(META_TYPES)}
    order = sorted(nodes, key=lambda name: (rank.get(name.type, len(rank)), name))
    concepts = []
    for identity in paced(order):
        stated, id = nodes[identity], identity.id
        if context.originals:
            stated = [n for n in stated if not is_merged(n, identity, values, context)]
        merged = values.by_node[stated[0]] if len(stated) == 1 else NodeValues()
        if stated:
            merged_values[id] = merged
        for node in stated if len(stated) > 1 else ():
            merged.merge(values.by_node[node])
        same_as = context.index.originals.get(id, ())
        values_of_it = _attributes_and_metadata(merged, same_as, context)
        concepts.append(statements.Concept(id, identity.type, identity.name, *values_of_it))
    return concepts


def _attributes_and_metadata(
    values: NodeValues, same_as: Sequence[str], context: Context, of_fact: Collection[str] = ()
) -> tuple[JsonMap, JsonMap]:
    attributes, metadata = values.attributes.json(), values.metadata.json()
    if same_as:
        attributes[SAME_AS] = one_or_all(same_as)
    if not _ONLY_DEFAULT.issuperset(chain(values.graphs, *values.places)):
        # As in ``ValueReader.add``: the metadata of the import itself come first.
        graph_map = attributes if GRAPH in context.metadata else metadata
        of_graphs = values.graph_values()
        graph_map[GRAPH] = together(
            values.graphs - ({DEFAULT} - {*of_fact} if of_graphs else set())
        )
        if of_graphs:
            graph_map[GRAPH_VALUES] = of_graphs
    return attributes, metadata


def _imported(
    elements: Iterable[Element],
    facts: Iterable[Fact],
    merged_values: MergedValues,
    parts: dict[str, list[Part]],
    context: Context,
) -> Iterator[Imported]:
    """The elements of external data, with what they were made from, such as the facts in the order
    of their propositions; definitions are not.

    What kiprdf wrote itself, in the terms of some mapping, is not external.
    """
    remaining = iter(facts)
    external = {
        resource.id for resource in context.identities.resources.values() if not resource.is_ours
    }
    alike: dict[tuple[str, frozenset[str], frozenset[str]], list[Element]] = {}
    types = {name.type for name in context.identities.names}
    definitions = {type: ConceptName(META_TYPES[0], type) for type in types}
    for element in elements:
        own = [element]
        if isinstance(element, statements.Concept):
            values = merged_values.get(element.key)
            if values is None or element.type in META_TYPES or element.key not in external:
                continue
            definition, iris = definitions[element.type], tuple(values.classes)
            if len(iris) > 1:
                iris = tuple(sorted({*iris}))
            yield Imported(own, definition, values, iris, [], (), [])
            continue
        fact = next(remaining)
        if element.subject not in external:
            continue
        external.add(element.key)
        values = merged_values.get(element.key, _NO_VALUES)
        if values is _NO_VALUES and not fact.lists and element.key not in context.originals:
            same = element.predicate, fact.asserted, fact.properties
            if same in alike:
                alike[same].append(element)
                continue
            alike[same] = own
        definition = ConceptName(META_TYPES[1], element.predicate)
        asserted = {p for p in fact.asserted if not context.naming.is_below_base(p)}
        properties = tuple(sorted(fact.properties))
        places, some = [*fact.lists], parts.get(element.key, [])
        yield Imported(own, definition, values, tuple(sorted(asserted)), places, properties, some)


# The rest of the plan -------------------------------------------------------------------------


def _missing(
    context: Context, facts: Iterable[Fact], values: ValueReader
) -> dict[ConceptName, set[str]]:
    """The names that must be defined, and the IRIs that need them."""
    needed: dict[ConceptName, set[str]] = defaultdict(set)
    identities = context.identities.names
    for type in {identity.type for identity in identities}.difference(META_TYPES):
        needed[ConceptName(META_TYPES[0], type)] = values.classes[type]
    for predicate, properties in {(fact.predicate, fact.properties) for fact in facts}:
        needed[ConceptName(META_TYPES[1], predicate)].update(properties)
    return {
        name: {iri for iri in iris if not context.naming.is_below_base(iri)}
        for name, iris in needed.items()
        if name not in identities and name.name not in context.index.defined(name.type)
    }


def _add_shared(
    missing: dict[ConceptName, set[str]], others: Callable[[], Iterable[Quad]], naming: Naming
) -> None:
    """Give new definitions the IRIs of the same names in other documents, read for them only."""
    terms: set[tuple[str, NamedNode]] = set()
    for quad in paced(others()) if missing else ():
        if quad.predicate != vocab.TYPE:
            terms.add((META_TYPES[1], quad.predicate))
        elif isinstance(quad.object, NamedNode):
            terms.add((META_TYPES[0], quad.object))
    for meta_type, term in terms:
        is_type = meta_type == META_TYPES[0]
        name = (naming.type if is_type else naming.predicate)(term.value)
        definition = ConceptName(meta_type, name or "")
        if definition in missing and not naming.is_below_base(term.value):
            missing[definition].add(term.value)
            naming.note("concept type" if is_type else "predicate", definition.name, term.value)


def _warnings(context: Context, facts: Iterable[Fact], values: ValueReader) -> Iterator[str]:
    naming, identities = context.naming, context.identities
    properties = frozenset[str]().union(*{fact.properties for fact in facts})
    yield from identities.warnings
    yield from naming.warnings()
    yield from values.warnings.sentences(
        lambda property: (
            property in properties
            or naming.is_link(property)
            or naming.is_defined_predicate(property)
        )
    )
    if context.external.statements and naming.mapping_is_unused():
        yield "The mapping has no term for any type or property of the data."
    yield from replaced(facts, context, values)
    for old, node in identities.superseded.items():
        new = identities.resources[node].id
        yield f"{shown(old)} had only its IRI and becomes {shown(new)}."
    for iri, own in _renamed(context).items():
        yield f"<{iri}> is the same as <{own}>: triples with it are exported with <{own}>."


def _renamed(context: Context) -> dict[str, str]:
    """The further IRIs of concepts that triples have, and the first IRI of each.

    What MERGE has united is exported as it was.
    """
    aliases = {
        iri: originals[0]
        for id, originals in context.index.originals.items()
        if id.startswith("C:") and not merged_parts(context.originals.get(id))
        for iri in originals[1:]
    }
    renamed: dict[str, str] = {}
    for statement in context.external.statements if aliases else ():
        ends = (statement.subject, *ends_of(statement.object))
        if not context.naming.is_claim(statement.predicate.value):
            iris = (end.value for end in ends if isinstance(end, NamedNode))
            renamed |= {iri: aliases[iri] for iri in iris if iri in aliases}
    return dict(sorted(renamed.items()))


def _replaced_texts(
    links: Iterable[Link],
    existing: Iterable[Element],
    context: Context,
    facts: Facts,
    values: ValueReader,
) -> Iterator[ReplacedText]:
    """What an earlier import stored of these links as strings."""
    attributes = {element.key: element.attributes for element in existing}
    # What a part of a merged concept states is not in the plan if it is the same as before.
    of_parts: dict[str, list[JsonMap]] = defaultdict(list)
    for node, one in context.identities.resources.items():
        if one.id in attributes and merged_parts(context.originals.get(one.id)):
            of_parts[one.id].append(values.by_node[node].attributes.json())
    for statement, _, _ in paced(links) if attributes else ():
        id, text = _id(statement.subject, context, facts), getattr(statement.object, "value", "")
        if id not in attributes or not facts.is_placed(statement):
            continue
        resource = context.identities.resources.get(statement.subject)
        key, is_metadata = values.key(statement, resource)
        if key is None or is_metadata:
            continue
        if any(text in listed(own.get(key.name)) for own in (attributes[id], *of_parts[id])):
            continue
        yield ReplacedText(id, key.name, text)


# Definitions ------------------------------------------------------------------------------------


MOST_NAMED = 100
"""How many undefined names of a kind an error lists."""


def require_defined(missing: dict[ConceptName, set[str]]) -> None:
    """Raise KIP_2001 with everything that is missing, and the IRIs that need it."""
    if not missing:
        return
    lists = []
    for meta_type, what in zip(META_TYPES, ("concept types", "predicates"), strict=True):
        named = [_shown(key, missing[key]) for key in sorted(missing) if key.type == meta_type]
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        if named:
            lists.append(f"{what} {', '.join(named[:MOST_NAMED])}{more}")
    message = f"The data need definitions that are missing: {'; '.join(lists)}."
    hint = "Map the IRIs to names that are defined, or let the import define them (define)."
    raise KipError("KIP_2001", message, hint)


def _shown(name: ConceptName, iris: set[str]) -> str:
    if not iris:
        return f"'{name.name}'"
    local = identifier(min(iris))
    is_numbered = local is not None and re.fullmatch(re.escape(local) + r"_\d+", name.name)
    return f"'{name.name}' (<{min(iris)}>{f'; {local!r} is another' if is_numbered else ''})"


def missing_definitions(
    missing: dict[ConceptName, set[str]], statements: Iterable[ExternalTriple], language: str | None
) -> list[Concept]:
    """A definition for each missing name, described by what the data say about its IRI."""
    described: dict[str, list[ExternalTriple]] = defaultdict(list)
    for statement in statements:
        if statement.predicate.value in DESCRIPTIONS:
            described[statement.subject.value].append(statement)
    definitions = []
    for name in sorted(missing):
        iris = sorted(missing[name])
        texts = [text for iri in iris if (text := _description(described[iri], language))]
        attributes: JsonMap = {"description": texts[0] if texts else _of_sources(iris)}
        if iris:
            attributes[SAME_AS] = one_or_all(iris)
        if name.type == META_TYPES[1]:
            # Data show which links exist, not which are allowed.
            attributes |= {"subject_types": ["*"], "object_types": ["*"]}
        definitions.append(concept(name, attributes))
    return definitions


def _description(statements: list[ExternalTriple], language: str | None) -> str | None:
    for property in DESCRIPTIONS:
        texts = name_texts(statements, property)
        if texts:
            return min(texts, key=lambda text: label_rank(text, language)).value
    return None


def _of_sources(iris: list[str]) -> str:
    listed = " and ".join(f"<{iri}>" for iri in iris)
    return f"Imported from RDF, where it is {listed}." if iris else "Imported from RDF."


# What earlier imports brought -------------------------------------------------------------------


def replaced(facts: Iterable[Fact], context: Context, values: ValueReader) -> Iterator[str]:
    """What of earlier imports does not leave as it came, once this import is written."""
    placed = list(facts)
    yield from _of_merged(context, values)
    yield from _of_lists(placed, context)
    yield from _of_reifiers(placed, context, values)
    yield from _of_graphs(context, values)


def _of_merged(context: Context, values: ValueReader) -> Iterator[str]:
    resources = context.identities.resources.items() if context.originals else ()
    for node, resource in resources:
        id = resource.id
        part = merged_parts(context.originals.get(id)).get(node.value)
        if part is None:
            continue
        stated = values.by_node[node].attributes.json()
        changed = sorted(key for key, one in stated.items() if part["attributes"].get(key) != one)
        if changed:
            yield (
                f"{node} was merged into {shown(id)}: what it states now of "
                f"{examples(changed)} replaces the value there, and is written under its IRI."
            )


def _of_lists(facts: list[Fact], context: Context) -> Iterator[str]:
    """Lists of elements of which an earlier import has links that this one does not state."""
    stated = {(fact.subject, str(one[0]), str(one[1])) for fact in facts for one in fact.lists}
    ids = {fact.id for fact in facts} if stated else set()
    for id, noted in context.originals.items() if stated else ():
        places = listed(noted.get(LISTS)) if isinstance(noted, dict) and id not in ids else []
        link = context.index.link(id) if places else None
        subject = None if link is None else context.index.store.iris.id(link.subject)
        for place in places:
            if isinstance(place, list) and (subject, str(place[0]), str(place[1])) in stated:
                yield (
                    f"{shown(str(subject))} has another list of <{place[0]}> now; the link "
                    f"{shown(id)} of the earlier list stays in it. Delete it if it is wrong."
                )


def _of_reifiers(facts: list[Fact], context: Context, values: ValueReader) -> Iterator[str]:
    """Values of a reifier without an IRI that replace those of another one."""
    for fact in facts:
        if len(fact.reifiers) != 1 or not is_blank(fact.reifiers[0]):
            continue
        stated = values.by_node[fact.reifiers[0]].attributes.json()
        before = context.index.attributes(fact.id) if context.index.exists(fact.id) else {}
        changed = sorted(key for key in stated if key in before and before[key] != stated[key])
        if changed:
            yield (
                f"{shown(fact.id)}: a reifier without an IRI replaces the values of "
                f"{examples(changed)} that an earlier import brought."
            )


def _of_graphs(context: Context, values: ValueReader) -> Iterator[str]:
    """Concepts that earlier imports brought in other graphs: they have those of one import."""
    before = context.index.metadata(GRAPH)
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node, resource in context.identities.resources.items() if before else ():
        id, now = resource.id, values.by_node[node].graphs
        earlier = {*map(str, listed(before.get(id)))}
        is_same = now <= earlier if now == {DEFAULT} else now - {DEFAULT} == earlier - {DEFAULT}
        if earlier and now and not is_same and not merged_parts(context.originals.get(id)):
            kept, lost = sorted(earlier - now), sorted(now - earlier)
            if now != {DEFAULT}:
                kept, lost = sorted(now), kept
            if not lost:
                continue
            moved[examples(kept), examples(lost)].append(shown(resource.id))
    for (graphs, others), ids in sorted(moved.items()):
        yield (
            f"{examples(ids)}: stated in other graphs by an earlier import; "
            f"written in {graphs} alone, and not in {others}."
        )
