"""Totals of a dataset, which its writer keeps up to date (docs/decisions/157)."""

from __future__ import annotations

import json
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.dataclasses import dataclass
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.store.delta import Lines, Use, Written
from kiprdf.store.sorted_values import FAULTS, KEPT_COMMITS, Changes
from kiprdf.store.update_times import UPDATED_AT

FILE = "totals.json"
KEPT = 64
"""The last changed elements of each kind that are kept."""
MOST_PENDING = 2_000
"""Triples of commits that were not added yet."""
SAVED_AFTER = KEPT_COMMITS // 2
"""After so many commits the file is written, so that the history leads from it to the last one."""
BELONGS = "belongs_to_domain"
FILING = f"/{BELONGS}"
"""What the IRI of a link that only files a concept ends with."""

_REIFIES, _UPDATED_AT = vocab.REIFIES.value, UPDATED_AT.value


def kind(iris: Iris, iri: str) -> str:
    """The type of a concept; of a proposition, its predicate in parentheses; "" of other nodes."""
    base = iris.base
    if "%" in iri or not iri.startswith(base):
        name = iris.name(iri)
        return name.type if isinstance(name, ConceptName) else ""
    end = iri.find("/", len(base))
    if iri.startswith("$proposition/", len(base)):
        return f"({iri[iri.rfind('/') + 1 :]})"
    return iri[len(base) : end]


@dataclass(slots=True)
class Recent:
    """The times of the last changed elements: of all that do not rank behind ``floor``."""

    times: dict[str, str] = field(default_factory=dict)
    floor: tuple[str, str] | None = None

    def add(self, iri: str, time: str) -> None:
        floor = self.floor
        if floor is not None and (time < floor[0] or (time == floor[0] and iri > floor[1])):
            return
        self.times[iri] = time
        if len(self.times) > 4 * KEPT:
            self.times = dict(self.ranked()[: 2 * KEPT])
            iri, time = next(reversed(self.times.items()))
            self.floor = time, iri

    def ranked(self) -> list[tuple[str, str]]:
        """The elements and their times, the last one first; equal times in the order of IRIs."""
        by_iri = sorted(self.times.items())
        return sorted(by_iri, key=itemgetter(1), reverse=True)


class Totals:
    """The number of triples by ``Use``, without metadata, and the last changed elements.

    They are those of one commit, and written to a file when the store is closed. Nothing is known
    after a commit that was not added, until they are counted again.
    """

    def __init__(self, iris: Iris, path: Path | None, is_writer: bool) -> None:
        self.is_writer = is_writer
        """Whether it pays to count, since later commits will be added."""
        self._iris = iris
        self._links = iris.propositions
        self._path = path
        self._lock = threading.Lock()
        self._is_loaded = path is None
        self._saved: int | None = None
        self._commit: int | None = None
        self._pending: list[tuple[int, Sequence[Written], Sequence[Written]]] = []
        self._unread = 0
        self._is_wanted = False
        """Whether it was asked for: most nexuses in memory are never described."""
        self._uses: Counter[Use] = Counter()
        self._recent: tuple[Recent, Recent] | None = None
        self._time: tuple[Any, str | None] = None, None
        """The last time that was read, and its text: the elements of a commit have the same."""

    def uses(self, commit: int) -> Counter[Use] | None:
        """The number of triples by their use as of a commit; None where it is not known."""
        with self._lock:
            self._is_wanted = True
            self._add_pending()
            return +self._uses if self._commit == commit else None

    def number(self, commit: int, predicate: str, of: str | None) -> int | None:
        """The number of triples with a predicate, of one kind of subjects if it is given; None
        where it is not known as of a commit."""
        with self._lock:
            self._is_wanted = True
            self._add_pending()
            if self._commit != commit:
                return None
            uses = self._uses.items()
            return sum([n for (kind, p, _), n in uses if p == predicate and of in (None, kind)])

    def recent(self, commit: int, are_links: bool) -> tuple[list[str], bool] | None:
        """The last changed concepts, or links that do not file a concept, and whether these are
        all; equal times in the order of IRIs."""
        with self._lock:
            self._add_pending()
            if self._commit != commit or self._recent is None:
                return None
            recent = self._recent[are_links]
            return [iri for iri, _ in recent.ranked()], recent.floor is None

    def set_uses(self, commit: int, uses: Counter[Use]) -> None:
        """Take what was counted in the dataset."""
        with self._lock:
            self._is_loaded, self._pending = True, []
            self._commit, self._uses, self._recent = commit, uses, None
            self._save(commit)

    def set_recent(self, commit: int, concepts: Recent, links: Recent) -> None:
        """Take the last changed elements, where the uses are known."""
        with self._lock:
            self._add_pending()
            if self._commit == commit:
                self._recent, self._saved = (concepts, links), None
                self._save(commit)

    def note(self, commit: int, removed: Sequence[Written], added: Sequence[Written]) -> None:
        """Add the triples of a commit, those of several at once; ``load`` was called before."""
        with self._lock:
            if self._saved is not None and self._saved >= commit:
                self._remove_file()  # of commits that were lost
            if self._commit is None:
                return
            self._pending.append((commit, removed, added))
            self._unread += len(removed) + len(added)
            if self._unread > MOST_PENDING or len(self._pending) >= SAVED_AFTER:
                if self._path is None and not self._is_wanted:
                    self._commit, self._pending, self._unread = None, [], 0
                self._add_pending()
                self._save(commit)

    def _add_pending(self) -> None:
        pending, self._pending, self._unread = self._pending, [], 0
        for commit, removed, added in pending:
            self._add(commit, removed, added)

    def _add(self, commit: int, removed: Iterable[Written], added: Iterable[Written]) -> None:
        # An interrupt may leave them half changed: they are counted again then.
        before, self._commit = self._commit, None
        if before is None or before != commit - 1:
            return
        uses, iris, metadata = self._uses, self._iris, vocab.METADATA
        if isinstance(added, Lines):
            uses.update(added.uses)
            for node in () if self._recent is None else added.elements:
                self._note(node.value, added.time, 1)
            added = added.others
        for triples, number in ((removed, -1), (added, 1)):
            last, of, reified = None, "", 0
            for subject, predicate, value in triples:
                name = predicate.value
                if name.startswith(metadata):
                    if name == _UPDATED_AT:
                        self._note(subject.value, value, number)
                elif name == _REIFIES:
                    reified += number
                else:
                    if subject != last:
                        last, of = subject, kind(iris, subject.value)
                    at = kind(iris, value.value) if isinstance(value, NamedNode) else ""
                    if at or of[:1] != "(":
                        use = of, name, at
                        uses[use] = uses.get(use, 0) + number
            uses["", _REIFIES, ""] += reified
        self._commit = commit

    def _note(self, iri: str, time: Any, number: int) -> None:
        if self._recent is None:
            return
        is_link = iri.startswith(self._links)
        if is_link and iri.endswith(FILING):
            return
        if time is not self._time[0]:
            is_text = isinstance(time, Literal) and time.datatype == vocab.STRING
            self._time = time, time.value if is_text else None
        text = self._time[1]
        if text is None:
            self._recent = None
        elif number > 0:
            self._recent[is_link].add(iri, text)
        else:
            self._recent[is_link].times.pop(iri, None)

    # The file ---------------------------------------------------------------------------------

    def load(self, commit: int, changes: Changes) -> None:
        """Read the file, once, and add the commits after it."""
        if self._is_loaded:
            return
        with self._lock, suppress(*FAULTS, TypeError):
            self._is_loaded = True
            checksum, _, text = cast(Path, self._path).read_text("utf-8").partition("\n")
            if zlib.crc32(text.encode()) != int(checksum):
                return
            content = json.loads(text)
            self._saved = number = int(content["commit"])
            if number > commit:
                return
            uses = {(s, p, o): n for s, p, o, n in content["uses"]}
            recent = content["recent"]
            self._uses = Counter(uses)
            self._recent = None if recent is None else cast(Any, tuple(map(_read_recent, recent)))
            self._commit = number
            for later, removed, added in changes(number) if number < commit else ():
                if later <= commit:
                    self._add(later, removed, added)

    def close(self, commit: int) -> None:
        """Write the file, if they are known as of a commit."""
        if self._path is not None:
            with self._lock:
                self._add_pending()
                self._save(commit)

    def _save(self, commit: int) -> None:
        if self._path is not None and self._commit == commit != self._saved and self.is_writer:
            recent = self._recent and [(dict(one.ranked()), one.floor) for one in self._recent]
            uses = [[*use, number] for use, number in sorted((+self._uses).items())]
            text = json.dumps({"commit": commit, "uses": uses, "recent": recent})
            with suppress(OSError):
                self._path.parent.mkdir(exist_ok=True)
                partial = self._path.with_suffix(".partial")
                partial.write_text(f"{zlib.crc32(text.encode())}\n{text}", "utf-8")
                partial.replace(self._path)
                self._saved = commit

    def clear(self) -> None:
        """Forget all of it: something was forgotten, or the dataset is another one."""
        with self._lock:
            self._commit, self._pending = None, []
            self._remove_file()

    def _remove_file(self) -> None:
        self._is_loaded, self._saved = True, None
        if self._path is not None and self.is_writer:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def _read_recent(content: Any) -> Recent:
    times, floor = content
    return Recent(times, None if floor is None else tuple(floor))
