"""What several sources give one element: its classes and types, and the statements of a fact.

Each has its own in the note of the element. The element has those of all; what no source gives it
any more is taken out of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import cast

from pyoxigraph import NamedNode

from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS
from kiprdf.interchange.importing.names import OTHER_TYPES
from kiprdf.interchange.importing.origins import IRI
from kiprdf.interchange.importing.plan import ImportPlan
from kiprdf.interchange.importing.stated import (
    CLASSES,
    MADE_BY,
    OF_METADATA,
    Stated,
    Values,
    digest_at,
    digest_of,
    identity,
    made_by,
)
from kiprdf.interchange.importing.values import together
from kiprdf.kml.draft import Draft
from kiprdf.kml.merged_origins import (
    ORIGINAL,
    STATEMENTS,
    each_once,
    items,
    statements_of,
    write_statements,
)
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.elements import Concept, Element, Proposition, attribute, metadata
from kiprdf.rdf.literals import Json, to_term


class SeveralSources:
    """Notes, in the draft of an import, what of an element each of several sources gives it."""

    def __init__(self, plan: ImportPlan, draft: Draft, source: str) -> None:
        self._plan, self._draft, self._source = plan, draft, source

    def note(
        self,
        element: Element,
        before: Element,
        others: Stated,
        was: Values | None,
        same: Values | None,
    ) -> Values:
        """The classes and statements of the source, where ``others`` state the element, too.

        Notes those of the others that have none, and drops the statements that nobody makes.
        ``was`` is the note of the source, if it had one; ``same`` its values if it states nothing
        new.
        """
        if isinstance(element, Proposition):
            return self._note_statements(element, cast(Proposition, before), others, was, same)
        own = (was or {}).get(CLASSES) if same is not None else _noted_classes(element)
        if len(others) == 1 and was is None:
            classes = _noted_classes(before)
            if classes is None and IMPORTED_AT not in before.metadata:
                classes = ""  # a person gave it its type
            if classes is not None:
                next(iter(others.values())).setdefault(CLASSES, classes)
        earlier = [] if self._plan.replaces or was is None else [was.get(CLASSES)]
        noted = [own, *earlier, *(values.get(CLASSES) for values in others.values())]
        if any(one is not None for one in noted):
            self._write_classes(element, noted)
        own = own if earlier in ([], [own]) else " ".join(self._united(element, [own, *earlier]))
        return {} if own is None else {CLASSES: own}

    def keep(self, element: Element, was: Values, others: Stated) -> set[str]:
        """Take off an element what only the source gives it; the keys with other values then."""
        if isinstance(element, Proposition):
            return self._drop_statements(element, others)
        noted = [values.get(CLASSES) for values in others.values()]
        has_marks = CLASSES in was or any(one is not None for one in noted)
        if others and (OTHER_TYPES in was or has_marks):
            self._write_classes(element, noted)
        return set()

    # Classes ------------------------------------------------------------------------------------

    def _write_classes(self, concept: Element, noted: Iterable[Json]) -> None:
        """Record the classes that sources give a concept; None stands for those of its type."""
        record = metadata(concept, ORIGINAL)
        before = record if isinstance(record, dict) else {}
        united, usual = self._united(concept, noted), self._united(concept, [None])
        after = {key: one for key, one in before.items() if key != CLASSES}
        after |= {} if united == usual else {CLASSES: united}
        if after != before:
            concept.metadata[ORIGINAL] = to_term(after)

    def _united(self, concept: Element, noted: Iterable[Json]) -> list[Json]:
        id = self._draft.store.iris.from_id(f"C:{META_TYPES[0]}/{cast(Concept, concept).type}")
        definition = self._draft.element(cast(NamedNode, id))
        usual = None if definition is None else attribute(definition, IRI)
        texts = (usual or "" if one is None else one for one in noted)
        return sorted({iri for one in texts for iri in str(one).split()})

    # Statements ---------------------------------------------------------------------------------

    def _note_statements(
        self,
        link: Proposition,
        before: Proposition,
        others: Stated,
        was: Values | None,
        same: Values | None,
    ) -> Values:
        """The statements of a fact that the source makes, if there are several."""
        if len(statements_of(link)) < 2:
            return {}
        for values in others.values():
            values.setdefault(MADE_BY, _made_before(before, values))
        own = set() if was is None else {*str(was.get(MADE_BY, _made_before(before, was))).split()}
        now = self._plan.statements.get(self._draft.id(link.node))
        if now is not None:
            own = {*map(digest_of, now)} | (set() if self._plan.replaces else own)
        marks: Values = {MADE_BY: " ".join(sorted(own))}
        if self._plan.replaces:
            noted = {} if same is None else same
            noted |= marks
            self._drop_statements(link, {**others, self._source: noted})
            marks = {MADE_BY: noted.pop(MADE_BY)} if MADE_BY in noted else {}
        return marks

    def _drop_statements(self, link: Proposition, stated: Stated) -> set[str]:
        """Drop the statements that no source makes; the keys whose values are others then."""
        if not stated or not all(MADE_BY in values for values in stated.values()):
            return set()
        every, made = statements_of(link), made_by(stated.values())
        left = [one for one in every if identity(*one) in made]
        if len(left) == len(every):
            return set()
        changed = {STATEMENTS}
        was, now = _values_of(every), _values_of(left)
        write_statements(link, left)
        for key, values in was.items():
            terms, place = (link.attributes, key) if key in link.attributes else (link.metadata, "")
            if key in terms and together(items(terms[key])) == together(values):
                changed.add(place or OF_METADATA + key)
                terms[key] = to_term(together(now.get(key, [])))
                if key not in now:
                    del terms[key]
        for noted in stated.values():
            # The values of the only statement are those of the sources that make it.
            has_values = len(left) > 1 or any(identity(*one) in made_by([noted]) for one in left)
            for key in changed & noted.keys():
                digest = digest_at(link, key) if has_values else None
                noted[key] = digest
                if digest is None:
                    del noted[key]
            if len(left) < 2:
                del noted[MADE_BY]
        return changed


def _made_before(link: Proposition, values: Values) -> str:
    """The statements of a fact that a source makes which has only values in its note.

    It makes the only one if the values, or the IRI, of that are its own.
    """
    made = statements_of(link)
    if len(made) == 1:
        own = {key.removeprefix(OF_METADATA) for key in values}
        made = [one for one in made if {SAME_AS if key == "id" else key for key in one[1]} <= own]
    return " ".join(identity(*one) for one in made)


def _values_of(
    statements: Iterable[tuple[dict[str, Json], dict[str, Json]]],
) -> dict[str, list[Json]]:
    """What several statements make the values of their fact."""
    values: dict[str, list[Json]] = defaultdict(list)
    for noted, shown in statements:
        own = {key: one for key, one in shown.items() if key not in ("id", "metadata")}
        own |= {SAME_AS: [noted["id"], *listed(noted.get(SAME_AS))]} if "id" in noted else {}
        for key, one in own.items():
            values[key] += listed(one)
    return values


def _noted_classes(concept: Element) -> str | None:
    """The classes in the record of a concept; None if they are those of its type."""
    record = metadata(concept, ORIGINAL)
    classes = record.get(CLASSES) if isinstance(record, dict) else None
    return " ".join(map(str, classes)) if isinstance(classes, list) else None


# Other types, an attribute --------------------------------------------------------------------


def are_of_sources(concept: Concept, stated: Stated) -> bool:
    """Whether nobody else has written the other types of a concept since sources stated them."""
    noted = [values[OTHER_TYPES] for values in stated.values() if OTHER_TYPES in values]
    if any(isinstance(one, str) for one in noted):
        return digest_at(concept, OTHER_TYPES) in noted
    return items(concept.attributes.get(OTHER_TYPES)) == _united(_own_types(concept, stated))


def unite_types(concept: Concept, stated: Stated) -> None:
    """Give a concept the other types of all sources, and note those of each."""
    own = _own_types(concept, stated)
    united = _united(own)
    if own and united != items(concept.attributes.get(OTHER_TYPES)):
        concept.attributes[OTHER_TYPES] = to_term(united)
    for name, types in own.items():
        stated[name][OTHER_TYPES] = digest_of(united) if types == united else [types]


def _own_types(concept: Concept, stated: Stated) -> dict[str, list[Json]]:
    """The other types that each source gives a concept."""
    now = items(concept.attributes.get(OTHER_TYPES))
    return {
        name: cast("list[Json]", noted[0]) if isinstance(noted, list) else now
        for name, values in stated.items()
        if (noted := values.get(OTHER_TYPES)) is not None
    }


def _united(own: dict[str, list[Json]]) -> list[Json]:
    return sorted(each_once([one for types in own.values() for one in types]), key=str)
