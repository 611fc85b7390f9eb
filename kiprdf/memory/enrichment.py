"""Optional enrichment by a model: the prompt, the strict validation of its answer, a time limit."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import islice
from typing import Any, TypeAlias

from kiprdf.loading import load
from kiprdf.memory.context import limit
from kiprdf.memory.extraction import private
from kiprdf.memory.extraction.tools import tool_named
from kiprdf.memory.items import PREDICATES, TYPES, USER, USER_NAME, Extraction, Found, FoundEdge
from kiprdf.memory.texts import setting

Enricher: TypeAlias = Callable[[str], str | Awaitable[str]]
DEFAULT_MAX_EDGES = 10
LEAST_WEIGHT = 0.5
SECONDS = 30.0
"""How long a model may take; its answer is dropped after that."""
FORBIDDEN = "KIPRDF_MEMORY_LLM_ENRICH_ENABLED or MILTON_KG_LLM_ENRICH_ENABLED forbids it"
_PRIVATE = ("@", ".com", "phone", "email", "address")
_MOST_NAME = 200
_MOST_BRACES = 100
"""Places of an answer where its JSON may begin."""
_PROMPT = """\
Extract entities and relations from the memory below. Do not hallucinate: do not hallucinate \
entities, relations or names, only extract what is explicit in the text.

Types of entities: {types}.
Relations, with the types of their ends: {predicates}.
The subject "user" is {{"type": "user", "name": "{user}"}}.
A weight is from 0.5 (weak association) to 1.0 (explicit statement).

Answer with JSON only, in this schema:
{{"entities": [{{"type": "...", "name": "..."}}], "edges": [{{"subject": {{"type": "...", "name": \
"..."}}, "predicate": "...", "object": {{"type": "...", "name": "..."}}, "weight": 0.8}}]}}

Entities that were extracted already: {entities}

Memory:
{content}
"""


def is_enabled() -> bool:
    """Whether the environment allows to ask the model: it says so, or nothing."""
    return setting("LLM_ENRICH_ENABLED") in ("", "true", "1", "yes", "on")


def enrich(content: str, extraction: Extraction, enricher: Enricher) -> Extraction:
    """What a model states about a text. Raises ``ValueError`` for an invalid answer.

    ``TimeoutError`` after ``SECONDS``; what the model raises is passed on.
    """
    answer = _with_time_limit(lambda: enricher(prompt(content, extraction)))
    return validated(answer, limit(None, "LLM_ENRICH_MAX_EDGES", DEFAULT_MAX_EDGES))


def prompt(content: str, extraction: Extraction) -> str:
    """The prompt for a text and the entities that were extracted from it."""
    predicates = "; ".join(
        f"{'/'.join(subjects)} {predicate} {'/'.join(objects)}"
        for predicate, (subjects, objects) in PREDICATES.items()
    )
    entities = [{"type": entity.type, "name": entity.name} for entity in extraction.entities]
    return _PROMPT.format(
        types=", ".join(TYPES),
        predicates=predicates,
        user=USER_NAME,
        entities=json.dumps(entities, ensure_ascii=False),
        content=content,
    )


def validated(answer: str, max_edges: int) -> Extraction:
    """The valid entities and edges of an answer, at most so many edges.

    The JSON may be in a code fence or between sentences, and may have other keys. Raises
    ``ValueError`` for what is no JSON of the schema; single entities and edges that are invalid,
    weak or private are dropped.
    """
    if not isinstance(answer, str):
        raise ValueError(f"The model returned {type(answer).__name__}, not text.")
    document = _document(answer)
    parts = [document.get(key, []) for key in ("entities", "edges")]
    if not all(isinstance(part, list) for part in parts):
        raise ValueError("The answer of the model has another schema.")
    entities = [entity for entity in map(_entity, parts[0]) if entity and entity != USER]
    edges = [edge for edge in map(_edge, parts[1]) if edge][:max_edges]
    for edge in edges:
        entities += [end for end in (edge.subject, edge.object) if end != USER]
    distinct = {entity.key: entity for entity in reversed(entities)}
    best: dict[object, FoundEdge] = {}
    for edge in edges:
        if edge.key not in best or edge.weight > best[edge.key].weight:
            best[edge.key] = edge
    return Extraction(tuple(reversed(distinct.values())), tuple(best.values()))


def _document(answer: str) -> dict[str, Any]:
    """The first object in an answer that has entities or edges."""
    decoder = json.JSONDecoder()
    for brace in islice(re.finditer(r"\{", answer), _MOST_BRACES):
        try:
            document, _ = decoder.raw_decode(answer, brace.start())
        except RecursionError:
            raise ValueError("The answer of the model nests too deep.") from None
        except ValueError:  # a sentence with a brace
            continue
        if not document.keys().isdisjoint(("entities", "edges")):
            return document  # type: ignore[no-any-return]
    raise ValueError("The answer of the model has no JSON of the schema.")


def _entity(value: Any) -> Found | None:
    if not isinstance(value, dict) or value.get("type") not in TYPES:
        return None
    name = value.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > _MOST_NAME:
        return None
    if any(mark in name.lower() for mark in _PRIVATE) or not name.strip().isprintable():
        return None
    if value["type"] == "file":
        is_private = private.PRIVATE in private.without_contacts(name)
    else:
        is_private = private.is_private(name)
    if is_private:
        return None
    if value["type"] == "user":
        return USER
    tool = tool_named(name.strip()) if value["type"] == "tool" else None
    return Found(value["type"], tool or name.strip())


def _edge(value: Any) -> FoundEdge | None:
    if not isinstance(value, dict) or not isinstance(value.get("predicate"), str):
        return None
    subject, object_ = _entity(value.get("subject")), _entity(value.get("object"))
    weight = value.get("weight")
    if subject is None or object_ is None:
        return None
    subjects, objects = PREDICATES.get(value["predicate"], ((), ()))
    if subject.type not in subjects or object_.type not in objects:
        return None
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        return None
    if not LEAST_WEIGHT <= weight <= 1:
        return None
    return FoundEdge(subject, value["predicate"], object_, float(weight))


async def awaited(answer: Awaitable[str]) -> str:
    """The answer, as a coroutine."""
    return await answer


def _with_time_limit(function: Callable[[], str | Awaitable[str]]) -> str:
    """Call foreign code in a thread; ``TimeoutError`` if it does not return in time."""
    results: queue.Queue[tuple[str | None, BaseException | None]] = queue.Queue()

    def run() -> None:
        try:
            answer = function()
            if isawaitable(answer):
                load("asyncio")
                import asyncio

                answer = asyncio.run(awaited(answer))
            results.put((answer, None))
        except BaseException as fault:
            results.put((None, fault))

    threading.Thread(target=run, name="kiprdf enrichment", daemon=True).start()
    try:
        answer, fault = results.get(timeout=SECONDS)
    except queue.Empty:
        raise TimeoutError(f"The model has not answered within {SECONDS:g} s.") from None
    if fault is not None:
        raise fault
    return answer  # type: ignore[return-value]
