"""Several nexuses: read as one, by views; and kept in the folders of a directory, by names."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from kiprdf.arguments import check, check_opening
from kiprdf.budget import Budget
from kiprdf.errors import ClosedError, KipError, LockedError, StoreError, shown
from kiprdf.execution.writer import seen_through
from kiprdf.kml.draft import Clock
from kiprdf.nexus import Nexus
from kiprdf.search.embedders import Embedder
from kiprdf.spelling import fault_of_name, keys_of_name
from kiprdf.store.folder import MANIFEST, absolute, is_half_created, is_written
from kiprdf.store.past import require_embedded
from kiprdf.store.view import ViewStore
from kiprdf.turns import turn

MOST_OPEN = 40
"""The nexuses that are open at once, each with some 20 file descriptors."""
_REMOVED = ".removed-"
"""What the names of folders begin with that are being erased."""


def View(  # noqa: N802  (it makes an object, as a class does)
    members: Sequence[Nexus],
    *,
    write: Nexus | None = None,
    base_iri: str | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    budget: Budget | None = None,
) -> Nexus:
    """The union of several nexuses as a nexus in memory; close it before its members.

    What a member commits is seen by the next command on the view. One IRI is one element: of a key
    that several members have, the later member's value holds; the element is as old as the oldest
    and as new as the newest. ``base_iri`` is the base of its IRIs, that of the first member if it
    is not given. Members are in memory or in folders. A member that is open read-only stays as it
    was when it was opened, and so does what the view shows of it.

    With ``write``, which is one of the members, the view may be written: what a statement names
    and what its WHERE matches is that of the view, and what it writes goes to this member alone.
    What it names and only others have becomes a stub there, without values; what changes or deletes
    such a thing is KIP_3004. EXPECT VERSION means the version in this member.

    ``clock``, ``embedder`` and ``budget`` are those of ``Nexus.open``. Raises ``KipError``:
    KIP_1001 for no member, the same one twice, one in a SPARQL store, and for a ``write`` that is
    no member, is open read-only, or is a view.

    >>> team, ada = Nexus.memory(), Nexus.memory()
    >>> view = View([team, ada])
    >>> _ = ada.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    >>> view.find('FIND(?p.name) WHERE { ?p {type: "Person", name: "Ada"} }').column("?p.name")
    ['Ada']
    """
    check(base_iri=base_iri)
    check_opening(None, embedder)
    if not isinstance(members, list | tuple) or not all(isinstance(m, Nexus) for m in members):
        raise KipError("KIP_1001", "The members of a view are a list of nexuses.", "Give [a, b].")
    stores = [require_embedded(member.store, "be a member of a view") for member in members]
    places = {store.folder or id(store) for store in stores}
    if not stores or len(places) < len(stores):
        message = "A view has a member twice." if stores else "A view has one member at least."
        raise KipError("KIP_1001", message, "Name each member once.")
    if write is not None:
        _require_writable(write, members)
    store = ViewStore(stores, members[0].base_iri if base_iri is None else base_iri)
    view = Nexus(store, genesis=False, clock=clock, embedder=embedder, budget=budget)
    store.expire = view._engine.catalogs.expire
    if write is not None:
        view._engine.write_to(write._engine)
        view._member = write
    return view


def _require_writable(write: object, members: Sequence[Nexus]) -> None:
    """Raise KIP_1001 for what a view cannot write."""
    if not isinstance(write, Nexus) or all(write.store is not one.store for one in members):
        message, hint = "What a view writes is one of its members.", "Give one of them as write."
    elif isinstance(write.store, ViewStore):
        message, hint = "What a view writes is no view.", "Give one of the members of that view."
    elif write.read_only:
        message, hint = "The nexus is open read-only.", "Open it for writing."
    else:
        return
    raise KipError("KIP_1001", message, hint)


def obeying(view: Nexus, member: Nexus) -> AbstractContextManager[None]:
    """Writes of a member obey what any member of a view has rejected, in this block."""
    return seen_through(member._engine.writer, view._engine.writer)


class Brains:
    """The nexuses in the folders of a directory; the name of a folder is that of its nexus.

    A nexus is opened for writing when it is asked for. Of more than ``most_open``, those that
    nothing refers to are closed, the one that was asked for longest ago first. ``base_iri`` is the
    base of new ones; ``clock``, ``embedder`` and ``budget`` are those of ``Nexus.open``. The
    directory is created if it is absent. All methods may be called by several threads.

    Raises ``KipError``: KIP_1001 for a text that is no name, KIP_3002 for a name that no nexus has,
    KIP_3003 for one that is taken; ``StoreError`` as ``Nexus.open``.

    >>> import tempfile
    >>> with Brains(tempfile.mkdtemp()) as brains:
    ...     team, ada = brains.add("team"), brains.add("ada")
    ...     _ = ada.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    ...     view = brains.view("team", "ada")
    ...     brains.names(), view.id_of("Ada"), brains["ada"] is ada
    (['ada', 'team'], 'C:Person/Ada', True)
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        base_iri: str | None = None,
        most_open: int = MOST_OPEN,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> None:
        check(folder=directory, base_iri=base_iri)
        check_opening(None, embedder)
        if not isinstance(most_open, int) or most_open < 1:
            raise KipError(
                "KIP_1001", "The argument most_open is a number above 0.", "Leave it out."
            )
        self.directory = absolute(directory)
        self._base_iri = base_iri
        self._most_open = most_open
        self._clock, self._embedder, self._budget = clock, embedder, budget
        self._lock = threading.RLock()
        self._open: dict[str, Nexus] = {}
        """The nexuses that are open; the one that was asked for last is the last one."""
        self._views: weakref.WeakSet[Nexus] = weakref.WeakSet()
        self._is_closed = False
        if (self.directory / MANIFEST).exists():
            raise StoreError(f"{self.directory} is a nexus; give the folder that it is in.")
        if self.directory.is_file():
            raise StoreError(f"{self.directory} cannot be used: it is a file.")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            for folder in self.directory.glob(f"{_REMOVED}*"):
                _erase(folder)  # erasing it was interrupted
        except OSError as fault:
            raise self._unusable(fault) from None

    def __enter__(self) -> Brains:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        """The names, so that ``name in brains`` says whether there is one."""
        return iter(self.names())

    def names(self) -> list[str]:
        """The names of all nexuses in the directory, sorted."""
        try:
            with os.scandir(self.directory) as entries:
                folders = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
        except OSError as fault:
            raise self._unusable(fault) from None
        return sorted(
            name
            for name in folders
            # Of thousands of names, an object for each path would take most of the time.
            if fault_of_name(name) is None
            and os.path.isfile(os.path.join(self.directory, name, MANIFEST))
        )

    def __getitem__(self, name: str) -> Nexus:
        with self._lock:
            nexus = self._open.pop(name, None) if isinstance(name, str) else None
            if nexus is None or nexus.store.closed:
                self.folder(name)
                nexus = self._opened(name)
            self._open[name] = nexus
            self._close_unused()
            return nexus

    def add(self, name: str) -> Nexus:
        """Create a nexus and return it."""
        with self._lock:
            self._require_open()
            fault = fault_of_name(name)
            if fault is not None:
                raise _not_a_name(name, fault)
            try:
                with turn(self.directory):
                    self._require_free(name)
                    nexus = self._open[name] = self._opened(name, self._base_iri)
            except OSError as error:
                raise self._unusable(error) from None
            self._close_unused()
            return nexus

    def view(self, *names: str, write: str | None = None, base_iri: str | None = None) -> Nexus:
        """A view of several of them, the last one of which wins; close it.

        ``write`` is the name of the one that it writes, if any. They stay open as long as the view
        is used.
        """
        with self._lock:
            members = {name: self[name] for name in names}
            if write is not None and write not in members:
                if (fault := fault_of_name(write)) is not None:
                    raise _not_a_name(write, fault)
                message = f"The view does not read {shown(write)!r}."
                raise KipError("KIP_1001", message, "Give the name of one of its members as write.")
            view = View(
                [members[name] for name in names],
                write=None if write is None else members[write],
                base_iri=base_iri,
                clock=self._clock,
                embedder=self._embedder,
                budget=self._budget,
            )
            self._views.add(view)
            return view

    def remove(self, name: str) -> None:
        """Close a nexus and erase all files of it; views of it fail from then on.

        Raises ``StoreError`` if another process has it open for writing.
        """
        with self._lock:
            folder = self.folder(name)
            nexus = self._open.pop(name, None)
            if nexus is not None and not nexus.store.closed:
                nexus.close()
            elif is_written(folder):
                raise LockedError(folder)
            removed = self.directory / f"{_REMOVED}{secrets.token_hex(8)}"
            try:
                folder.rename(removed)
                _erase(removed)
            except OSError as fault:
                raise StoreError(f"{folder} cannot be erased: {fault.strerror}.") from None

    def close(self) -> None:
        """Close all nexuses and views that are open. Closing twice is fine."""
        with self._lock:
            self._is_closed = True
            for nexus in (*self._views, *self._open.values()):
                nexus.close()
            self._open.clear()

    def _require_free(self, name: str) -> None:
        """Raise ``KipError`` for a name that a folder has; a nexus may be half created in it."""
        folder = self.directory / name
        is_half = not folder.is_symlink() and is_half_created(folder)
        taken = os.listdir(self.directory)
        require_free(name, (other for other in taken if not (is_half and other == name)))

    def _unusable(self, fault: OSError) -> StoreError:
        return StoreError(f"{self.directory} cannot be used: {fault.strerror}.")

    def _require_open(self) -> None:
        if self._is_closed:
            raise ClosedError

    def folder(self, name: str) -> Path:
        """The folder of a nexus."""
        self._require_open()
        fault = fault_of_name(name)
        if fault is not None:
            raise _not_a_name(name, fault)
        folder = self.directory / name
        is_nexus = (folder / MANIFEST).is_file() and not folder.is_symlink()
        # A file system may ignore the case of names.
        if not is_nexus or name not in os.listdir(self.directory):
            hint = "names() lists the names; add() creates a nexus."
            raise KipError("KIP_3002", f"There is no nexus named {shown(name)!r}.", hint)
        return folder

    def _opened(self, name: str, base_iri: str | None = None) -> Nexus:
        return Nexus.open(
            self.directory / name,
            base_iri,
            clock=self._clock,
            embedder=self._embedder,
            budget=self._budget,
        )

    def _close_unused(self) -> None:
        """Close nexuses that nothing refers to, as long as too many are open."""
        too_many = len(self._open) - self._most_open
        if too_many <= 0:
            return
        views = [view.store for view in self._views]
        stores = [view.members for view in views if isinstance(view, ViewStore)]
        in_views = {id(member.store) for members in stores for member in members}
        for name in list(self._open)[:-1]:
            is_used = _references(self._open, name) > _ALONE
            if is_used or id(self._open[name].store) in in_views:
                continue
            self._open.pop(name).close()
            too_many -= 1
            if not too_many:
                return


def _erase(folder: Path) -> None:
    """Remove a folder with all files, some of which another process may remove meanwhile."""
    while folder.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)


def _references(holder: Mapping[str, object], key: str) -> int:
    """How often the object in a mapping is referred to."""
    return sys.getrefcount(holder[key])


_ALONE = _references({"": object()}, "")


def require_free(name: str, taken: Iterable[str]) -> None:
    """Raise KIP_3003 for a name that looks like one that is taken."""
    keys = set(keys_of_name(name))
    for other in taken:
        if not keys.isdisjoint(keys_of_name(other)):
            message = f"The name {shown(other)!r} is taken."
            hint = "Use another name; letters that look alike make no difference."
            raise KipError("KIP_3003", message, hint)


def _not_a_name(name: object, fault: str) -> KipError:
    text = f"{shown(name)!r}" if isinstance(name, str) else f"A {type(name).__name__}"
    return KipError("KIP_1001", f"{text} is no name: {fault}.", "Use another name, such as 'ada'.")
