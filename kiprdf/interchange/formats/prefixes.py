"""Abbreviates IRIs with prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kiprdf.loading import lazy_pattern
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris

# A part of PN_LOCAL that every parser reads; other names are written as whole IRIs.
_LETTERS = r"A-Za-z0-9_\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_LOCAL_NAME = lazy_pattern(rf"[{_LETTERS}][{_LETTERS}-]*")
_PREFIX_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Prefixes:
    """Writes IRIs as prefix and local name where all parsers agree on both.

    >>> prefixes = Prefixes({"ex": "https://example.org/"})
    >>> prefixes.short("https://example.org/a"), prefixes.short("https://example.org/a.b")
    ('ex:a', None)
    >>> prefixes.used
    {'ex': 'https://example.org/'}
    """

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self._by_namespace: dict[str, str] = {}
        for name, namespace in namespaces.items():
            self._by_namespace.setdefault(namespace, name)
        # No local name contains these characters, so most namespaces end at the last of them.
        odd = (space for space in self._by_namespace if not space.endswith(("/", "#", ":")))
        self._odd = sorted(odd, key=lambda space: (-len(space), space))
        self.used: dict[str, str] = {}
        """The namespaces in use so far, by prefix."""

    def short(self, iri: str) -> str | None:
        """``prefix:local``, or None when the IRI must be written in full."""
        end = max(iri.rfind("/"), iri.rfind("#"), iri.rfind(":")) + 1
        if not self._odd and iri[:end] not in self._by_namespace:
            return None
        for namespace in (*self._odd, iri[:end]):
            name = self._by_namespace.get(namespace)
            if name is None or not iri.startswith(namespace):
                continue
            local = iri[len(namespace) :]
            if _LOCAL_NAME.fullmatch(local):
                self.used[name] = namespace
                return f"{name}:{local}"
        return None


def namespaces(iris: Iris, mapped: Mapping[str, str]) -> dict[str, str]:
    """The fixed prefixes, and those of a mapping that do not clash with them."""
    fixed = vocab.prefixes(iris.base)
    own = {n: iri for n, iri in mapped.items() if n not in fixed and _PREFIX_NAME.fullmatch(n)}
    return {**fixed, **own}


def with_concept_types(fixed: dict[str, str], subjects: Iterable[str], iris: Iris) -> Prefixes:
    """Prefixes, and one for each concept type among the subjects whose name is not taken."""
    links = iris.propositions
    names = {iris.name(subject) for subject in subjects if not subject.startswith(links)}
    types = sorted({name.type for name in names if isinstance(name, ConceptName)})
    typed = {t: f"{iris.base}{t}/" for t in types if t not in fixed and _PREFIX_NAME.fullmatch(t)}
    return Prefixes({**fixed, **typed})
