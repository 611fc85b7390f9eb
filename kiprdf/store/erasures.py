"""The erasure list: digests of the ids of what was forgotten (docs/decisions/188).

A nexus keeps it in its records, one for each commit that changes it, so that it is in the graph, in
the journal and in every backup, and is written with the commit that forgets or not at all. The
digests of two nexuses can be compared: an id does not depend on the base of the IRIs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError, shown
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName, proposition_digits

HEADER = "kiprdf erasures 1"
"""The first line of a list as text."""
_RECORD = "erasures/"
_NO_LONGER = "-"
"""In a record, before the digest of what was written again."""
_KEPT = frozenset((*META_TYPES, "Rejection"))
"""The types of concepts that no list names."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


def digest(id: str) -> str:
    """The digest of an id; who knows a name can compute it.

    >>> digest("C:Person/Jane")[:16]
    'b436f4c24655cfaf'
    """
    return sha256(f"kiprdf erasure {id}".encode()).hexdigest()


def digests(iris: Iris, node: Any, fact: Any = None) -> Iterator[str]:
    """The digests of an element, none for what is nobody's data: a definition, a rejection.

    A link has that of its id, and of the id that its fact would have in another nexus, which
    differs where a MERGE gave it other ends.
    """
    name = iris.name(node.value)
    if name is None or (isinstance(name, ConceptName) and name.type in _KEPT):
        return
    yield digest(name.id)
    if isinstance(name, PropositionName) and isinstance(fact, Triple):
        subject, object_ = (cast(NamedNode, end) for end in (fact.subject, fact.object))
        digits = proposition_digits(iris.id(subject), name.predicate, iris.id(object_))
        if digits != name.digits:
            yield digest(PropositionName(digits, name.predicate).id)


def listed(records: Mapping[str, str]) -> frozenset[str]:
    """The digests on the list of a nexus with these records."""
    entries: set[str] = set()
    keys = [key for key in records if key.startswith(_RECORD)]
    for key in sorted(keys, key=lambda key: int(key.removeprefix(_RECORD))):
        for line in records[key].split():
            if line.startswith(_NO_LONGER):
                entries.discard(line.removeprefix(_NO_LONGER))
            else:
                entries.add(line)
    return frozenset(entries)


def noted(number: int, added: Iterable[str], removed: Iterable[str] = ()) -> dict[str, str]:
    """The record with which a commit changes the list; none where it does not."""
    lines = [*sorted(added), *(f"{_NO_LONGER}{one}" for one in sorted(removed))]
    return {f"{_RECORD}{number}": "\n".join(lines)} if lines else {}


def as_text(digests: Collection[str]) -> str:
    """A list as text: a header, and a digest a line."""
    return "".join(f"{line}\n" for line in (HEADER, *sorted(digests)))


def read(text: str) -> frozenset[str]:
    """The digests of a list; KIP_1001 with the line for anything else."""
    entries: set[str] = set()
    lines = text.removeprefix("\ufeff").splitlines()
    hint = "Use an unchanged file of kiprdf erasures export."
    if not lines or lines[0].strip() != HEADER:
        message = f"Line 1 of the erasure list is not '{HEADER}'."
        raise KipError("KIP_1001", message, hint)
    for number, line in enumerate(lines[1:], 2):
        one = line.strip()
        if _DIGEST.fullmatch(one):
            entries.add(one)
        elif one:
            message = f"Line {number} of the erasure list is not a digest: '{shown(one[:80])}'."
            raise KipError("KIP_1001", message, hint)
    return frozenset(entries)
