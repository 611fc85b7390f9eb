"""Names as IRIs, by the ``@rdfmap`` chunks of a graph (Chunks and Rules: Mapping to RDF)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kiprdf.chunks.model import Chunk

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Vocabulary:
    """The IRIs of names: mapped ones, compact ones with a prefix, and those under ``@base``.

    A later mapping, base or reference to prefixes replaces an earlier one for the whole graph.
    """

    def __init__(self, maps: Iterable[Chunk], get: Callable[[str], Chunk | None]) -> None:
        self.base: str | None = None
        self.prefixes: dict[str, str] = {}
        self.names: dict[str, str] = {}
        for chunk in maps:
            if isinstance(base := chunk.get("@base"), str):
                self.base = str(base)
            prefixes = chunk.get("@prefix", ())
            for id in prefixes if isinstance(prefixes, tuple) else (prefixes,):
                if isinstance(id, str) and (cited := get(id)) is not None:
                    self.prefixes.update(_mappings(cited))
            self.names.update(_mappings(chunk))

    def iri(self, name: str) -> str | None:
        """The IRI of a name, or None if nothing maps it; ``*`` and reserved names have none."""
        return self.declared(name) or self.under_base(name)

    def declared(self, name: str) -> str | None:
        """The IRI of a name that is mapped or compact, or an IRI itself."""
        if name in self.names:
            return self._expanded(self.names[name])
        return self._compact(name)

    def under_base(self, name: str) -> str | None:
        """The IRI of a name under ``@base``, or None without that."""
        return None if self.base is None or name[:1] in ("*", "@") else self.base + name

    def _expanded(self, mapped: str) -> str | None:
        compact = self._compact(mapped)
        if compact is not None:
            return compact
        return mapped if _ABSOLUTE.match(mapped) else self.under_base(mapped)

    def _compact(self, name: str) -> str | None:
        prefix, colon, rest = name.partition(":")
        if rest.startswith("//"):
            return name
        return self.prefixes[prefix] + rest if colon and prefix in self.prefixes else None


def _mappings(chunk: Chunk) -> dict[str, str]:
    return {
        str(name): str(value)
        for name, value in chunk.properties.items()
        if name[0] != "@" and isinstance(value, str)
    }
