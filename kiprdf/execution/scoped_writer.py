"""Writes one member of a view: what a statement names is resolved in the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from kiprdf.actors import acting_on
from kiprdf.errors import KipError, shown
from kiprdf.execution.catalog_cache import CatalogCache
from kiprdf.execution.writer import Writer
from kiprdf.kml.draft import Draft, Targets
from kiprdf.kml.protection import check_protection
from kiprdf.kml.rejections import Rejected
from kiprdf.kml.scoped import ScopedDraft
from kiprdf.kml.trust import check_deleted, check_status
from kiprdf.semantics import Catalog
from kiprdf.semantics.protected import REJECTION
from kiprdf.source import Span
from kiprdf.store import Delta, NexusStore, OxigraphStore, Store
from kiprdf.store.view import ViewStore

T = TypeVar("T")


class ScopedWriter(Writer):
    """The writer of a member of a view, for those who see the view."""

    __slots__ = ("_view", "_view_catalogs", "member")

    def __init__(self, view: NexusStore, catalogs: CatalogCache, member: Writer) -> None:
        # One lock, one state: records, rejections, proposals and caches are those of the member.
        self.__dict__ = member.__dict__
        self.member = member
        self._view = cast(ViewStore, view)
        self._view_catalogs = catalogs

    @property
    def shown(self) -> NexusStore:
        return self._view

    @property
    def place(self) -> dict[str, list[str]]:
        return {"view": [member.store.scope for member in self._view.members]}

    def require_one_nexus(self, what: str) -> None:
        scope = cast(OxigraphStore, self.store).scope
        where = f"'{shown(scope)}', the member" if scope else "the member"
        message = f"{what} concerns one nexus, and this is a view of several."
        raise KipError("KIP_1001", message, f"Call it on {where} that this view writes.")

    def catalog(self) -> Catalog:
        return self._view_catalogs.catalog()

    def new_draft(
        self,
        store: Store | None = None,
        targets: Targets | None = None,
        listed: frozenset[str] = frozenset(),
    ) -> Draft:
        own = cast(OxigraphStore, self.store)
        return ScopedDraft(self._view, own, self.clock, targets, listed)

    def draft(self, *command: Any, **options: Any) -> tuple[dict[str, Any], Draft]:
        draft = super().draft
        return self._view.read(lambda: draft(*command, **options))

    def check(self, draft: Draft, span: Span, **options: Any) -> None:
        if not isinstance(draft, ScopedDraft):
            super().check(draft, span, **options)
            return
        seen = draft.shown
        seen.actor = acting_on(self)
        if not options.get("privileged"):
            check_protection(seen, span)
            self.check_rejections(seen, span)
            check_status(seen, span)
            if not seen.actor.is_person:
                check_deleted(draft.deleted_in_view(), seen, span)
                draft.check_uncovered()
        draft.complete()
        super().check(draft, span, **options)
        draft.keep_marks()
        draft.unreviewed[:] = dict.fromkeys((*seen.unreviewed, *draft.unreviewed))

    def rejected_in(self, store: Store) -> Rejected:
        """Those of the view: what one member has rejected, no other one states for its readers."""
        return Rejected(self._view, is_asked=True)

    def has_rejections(self, store: Store) -> bool:
        return self._view.read(lambda: REJECTION in self.catalog().concept_types)

    def run_prepared(self, prepare: Callable[[Store], tuple[T, Delta]]) -> T:
        def write() -> T:
            result, delta = self._view.read(lambda: prepare(self._view))
            self.commit(delta)
            return result

        return self.store.write(write)

    def copied(self) -> tuple[ViewStore, OxigraphStore]:
        """A view of copies of the members, which it owns, and the copy of the one to write."""

        def copy() -> list[OxigraphStore]:
            return [member.store.copy() for member in self._view.members]

        stores = self._view.read(copy)
        written = next(
            own
            for own, member in zip(stores, self._view.members, strict=True)
            if member.store is self.store
        )
        return ViewStore(stores, self._view.iris.base, owns_members=True), written

    def try_out(self, judge: Callable[[NexusStore], T]) -> T:
        return self._view.read(lambda: judge(self._view))
