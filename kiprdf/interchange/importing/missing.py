"""The types and predicates that an import needs and the nexus lacks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from kiprdf.errors import KipError
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.foreign import Statement
from kiprdf.interchange.importing.naming import (
    DESCRIPTIONS,
    identifier,
    label_rank,
    name_texts,
)
from kiprdf.interchange.importing.plan import Concept, JsonMap, concept
from kiprdf.interchange.importing.values import one_or_all
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName

MOST_NAMED = 100
"""How many undefined names of a kind an error lists."""


def require_defined(missing: Mapping[ConceptName, set[str]]) -> None:
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
    missing: Mapping[ConceptName, set[str]], statements: Iterable[Statement], language: str | None
) -> list[Concept]:
    """A definition for each missing name, described by what the data say about its IRI."""
    described: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        if statement.predicate.value in DESCRIPTIONS:
            described[statement.subject.value].append(statement)
    definitions = []
    for name in sorted(missing):
        iris = sorted(missing[name])
        texts = [text for iri in iris if (text := _description(described[iri], language))]
        attributes: JsonMap = {"description": texts[0] if texts else _source(iris)}
        if iris:
            attributes[SAME_AS] = one_or_all(iris)
        if name.type == META_TYPES[1]:
            # Data show which links exist, not which are allowed.
            attributes |= {"subject_types": ["*"], "object_types": ["*"]}
        definitions.append(concept(name, attributes))
    return definitions


def _description(statements: list[Statement], language: str | None) -> str | None:
    for property in DESCRIPTIONS:
        texts = name_texts(statements, property)
        if texts:
            return min(texts, key=lambda text: label_rank(text, language)).value
    return None


def _source(iris: list[str]) -> str:
    listed = " and ".join(f"<{iri}>" for iri in iris)
    return f"Imported from RDF, where it is {listed}." if iris else "Imported from RDF."
