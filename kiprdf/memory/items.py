"""The items of a memory, and the results of extraction, as frozen dataclasses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

USER_NAME = "Primary User"
USER_ID = "entity:user:primary"
TYPES = ("user", "project", "tool", "file", "concept", "decision")
"""The types of entities; that of a concept in the nexus begins with a capital letter."""
PREDICATES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "prefers": (("user",), ("tool", "concept")),
    "decided": (("user",), ("decision",)),
    "works_on": (("user",), ("project",)),
    "uses": (("user", "project"), ("tool",)),
    "references": (("project", "decision"), ("file",)),
}
"""The predicates of edges, each with the types of its subjects and of its objects."""

_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MOST_NAME = 1024


def is_name(name: object) -> bool:
    """Whether a text can be the name of a concept."""
    if not isinstance(name, str) or name != name.strip() or name in ("", ".", ".."):
        return False
    return len(name) <= _MOST_NAME and _NO_NAME.search(name) is None


def comparable(moment: str) -> str:
    """A time as text that sorts by time."""
    return moment.rstrip("Z").removesuffix(".000000")


def normalized(name: str) -> str:
    """The form by which names are compared.

    >>> normalized(" Meshalyzer ")
    'meshalyzer'
    """
    return name.strip().lower()


@dataclass(frozen=True)
class Item:
    """A stored memory. Times are ISO 8601 in UTC.

    ``seen`` counts how often the same text was added in the same session, ``last_seen`` is the
    time of the last one. ``turn`` is the place in the session, from 1. ``echo_of`` names what was
    recalled before the text was written; such a text is no evidence.
    """

    id: str
    content: str
    tags: tuple[str, ...]
    timestamp: str
    session: str | None = None
    speaker: str | None = None
    seen: int = 1
    last_seen: str = ""
    role: str | None = None
    turn: int | None = None
    echo_of: tuple[str, ...] = ()

    @property
    def is_of_user(self) -> bool:
        """Whether the first person of the text is the user."""
        if self.role is not None:
            return self.role == "user"
        return self.speaker is None or self.speaker.casefold() in ("user", USER_NAME.casefold())


@dataclass(frozen=True)
class Found:
    """An entity in a text, and the name of the pattern that found it."""

    type: str
    name: str
    normalized_name: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
        if not self.normalized_name:
            object.__setattr__(self, "normalized_name", normalized(self.name))

    @property
    def key(self) -> tuple[str, str]:
        """What identifies an entity: its type and its normalized name."""
        return self.type, self.normalized_name


USER = Found("user", USER_NAME)


@dataclass(frozen=True)
class FoundEdge:
    """A relation in a text. ``weight`` is from 0 to 1.

    Of a relation that does not hold, ``superseded_by`` is the one that took its place, and a
    weight of 0 says that it need not have held before.
    """

    subject: Found
    predicate: str
    object: Found
    weight: float
    pattern: str = ""
    superseded_by: FoundEdge | None = None

    @property
    def key(self) -> tuple[tuple[str, str], str, tuple[str, str]]:
        """What identifies an edge: its ends and its predicate."""
        return self.subject.key, self.predicate, self.object.key


@dataclass(frozen=True)
class Extraction:
    """What a text states, each entity and edge once, in the order of the text.

    ``edges`` hold; ``ended`` do not, or not any more.
    """

    entities: tuple[Found, ...] = ()
    edges: tuple[FoundEdge, ...] = ()
    ended: tuple[FoundEdge, ...] = ()


@dataclass(frozen=True)
class Entity:
    """An entity of the graph."""

    id: str
    type: str
    name: str
    normalized_name: str
    metadata: dict[str, Any] = field(default_factory=dict)
    created_ts: str = ""
    updated_ts: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Edge:
    """A relation of two entities. ``evidence`` names the memories that state it.

    ``valid_until`` is None while the relation holds, else the time of the memory that ended it;
    ``superseded_by`` is the id of the edge that took its place.
    """

    id: str
    subject_id: str
    predicate: str
    object_id: str
    weight: float
    evidence: dict[str, Any] = field(default_factory=dict)
    created_ts: str = ""
    valid_until: str | None = None
    superseded_by: str | None = None

    @property
    def time(self) -> str:
        """When its evidence was written, in a form that is compared as text."""
        return comparable(str(self.evidence.get("timestamp") or self.created_ts))

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Hit:
    """An entity that a search returns, with its score."""

    entity: Entity
    score: float


@dataclass(frozen=True)
class Neighbor:
    """An edge of an entity, the entity at its other end, and its direction."""

    edge: Edge
    entity: Entity
    direction: str
