"""Parsed commands and compiled FINDs, kept by text (docs/decisions/037)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

from kiprdf.errors import KipError
from kiprdf.execution.literals import opened
from kiprdf.kml.draft import Targets
from kiprdf.kql import holes
from kiprdf.kql.find import FindResult, Prepared, prepare
from kiprdf.kql.holes import PlanKey, Roles
from kiprdf.kql.valid_at import with_moment
from kiprdf.language import Template, ast, parse
from kiprdf.language.parameters import opens_map
from kiprdf.language.printer import outline
from kiprdf.semantics import Catalog, check
from kiprdf.semantics.patterns import Kinds, check_block
from kiprdf.source import NOWHERE
from kiprdf.store import Store

MOST_CHARACTERS = 8 * 1024
"""Longer texts are not kept."""
MOST_TEXTS = 256
MOST_PLANS = 16
"""Of one text, for different kinds of arguments."""


_OVER_BUDGET = ("KIP_4001", "KIP_4002")

Plans: TypeAlias = dict[PlanKey, Prepared | None]
"""None where a command cannot be compiled with holes."""


@dataclass
class CacheEntry:
    """One text: the parsed command, and its plans with the catalog that they were checked with.

    ``is_repeated`` says that a statement has run before.
    """

    template: Template[ast.Command]
    is_repeated: bool = False
    # One attribute, since another thread may still add to the plans of an older catalog.
    checked: tuple[Catalog | None, Plans] = (None, {})

    @cached_property
    def roles(self) -> Roles | None:
        """The placeholders of a FIND, UPDATE or DELETE; None for other commands."""
        return holes.placeholder_roles(self.template.command)

    @cached_property
    def outline(self) -> str | None:
        """That of what the text writes; None where it depends on the keys of a parameter."""
        command = self.template.command
        if not isinstance(command, ast.Manipulation) or opens_map(command):
            return None
        return outline(command)


class PlanCache:
    """Parses each text once and compiles a FIND once for each kind of arguments.

    ``catalog`` returns the catalog of the current commit, the same object until the schema
    changes; plans of an older catalog are compiled again.
    """

    def __init__(self, store: Store, catalog: Callable[[], Catalog]) -> None:
        self._store = store
        self._catalog = catalog
        self._entries: dict[str, CacheEntry] = {}
        self._shared: dict[str, CacheEntry | None] = {}

    def template(self, text: str) -> Template[ast.Command]:
        """The parsed command; raises ``KipError``."""
        entry = self._entries.get(text)
        if entry is None:
            entry = CacheEntry(Template(parse(text)))
            if len(text) <= MOST_CHARACTERS:
                if len(self._entries) >= MOST_TEXTS:
                    self.forget_texts()
                self._entries[text] = entry
        return entry.template

    def outline(self, text: str) -> str | None:
        """The outline of a text that writes; None where it must be made for its parameters."""
        entry = self._entries.get(text)
        return None if entry is None else entry.outline

    def clear(self) -> None:
        """Forget all texts."""
        self.forget_texts()
        self._shared.clear()

    def forget_texts(self) -> None:
        """Forget all texts, but not the plans that they share."""
        self._entries.clear()

    def find(self, text: object, parameters: Mapping[str, Any]) -> FindResult | None:
        """Run a FIND by its plan, which is compiled when the text comes for the second time.

        None where the command must be bound, checked and compiled for its own parameters: a new
        text, another command, an element that does not exist.
        """
        if not isinstance(text, str):
            return None
        parameters = with_moment(text, parameters)
        entry = self._entries.get(text)
        if entry is None or any(isinstance(value, list) for value in parameters.values()):
            return self._find_shared(text, parameters)
        return self._find(entry, parameters)

    def _find_shared(self, text: str, parameters: Mapping[str, Any]) -> FindResult | None:
        """Run a FIND by the plan of the texts that differ from it only in their literals, or in the
        items of a list.

        What fails is left to the text itself, whose places a message shows.
        """
        literals = opened(text, parameters) if len(text) <= MOST_CHARACTERS else None
        if literals is None:
            return None
        shared, arguments = literals
        if shared not in self._shared:
            if len(self._shared) >= MOST_TEXTS:
                self._shared.clear()
            self._shared[shared] = None
            return None
        try:
            entry = self._shared[shared]
            if entry is None:
                entry = self._shared[shared] = CacheEntry(Template(parse(shared)))
            result = self._find(entry, arguments)
        except KipError as error:
            if error.code in _OVER_BUDGET and error.span is NOWHERE:
                raise  # the text itself would fail alike, after as much work
            return None
        if result is None or result.lacks is None:
            return result
        # The reasons have places in the text itself.
        return result._replace(find=cast(ast.Find, self.template(text).bind(parameters)))

    def _find(self, entry: CacheEntry, parameters: Mapping[str, Any]) -> FindResult | None:
        if entry.roles is None or not isinstance(entry.template.command, ast.Find):
            return None
        key = holes.plan_key(entry.roles, parameters)
        if key is None:
            return None
        checked_with, plans = entry.checked
        if plans.get(key, entry) is None and checked_with is self._catalog():
            return None

        def run() -> FindResult | None:
            plan = self._plan(entry, key, parameters)
            bound = lambda: cast(ast.Find, entry.template.bind(parameters))  # noqa: E731
            return None if plan is None else plan.run(parameters, self._store, bound)

        return self._store.read(run)

    def targets(
        self, text: str, parameters: Mapping[str, Any]
    ) -> Callable[[], Targets | None] | None:
        """A function that finds the targets of a statement by its plan, which is compiled when the
        text comes for the second time; None, and it returns None, where the statement must be
        checked and compiled for its own parameters."""
        entry = self._entries.get(text)
        if entry is None or entry.roles is None:
            return None
        if not entry.is_repeated:
            entry.is_repeated = True
            return None
        # The statement is bound already: other parameters do no harm.
        key = holes.plan_key(entry.roles, {name: parameters[name] for name in entry.roles})
        if key is None:
            return None

        def find() -> Targets | None:
            plan = self._plan(entry, key, parameters)
            nodes = None if plan is None else plan.nodes(parameters, self._store)
            return None if plan is None or nodes is None else Targets(nodes, plan.kinds)

        return find

    def _plan(
        self, entry: CacheEntry, key: PlanKey, parameters: Mapping[str, Any]
    ) -> Prepared | None:
        """The plan for parameters of some kinds, compiled once for each catalog."""
        catalog = self._catalog()
        checked_with, plans = entry.checked
        if checked_with is not catalog:
            plans = {}
            entry.checked = catalog, plans
        if key not in plans:
            if len(plans) >= MOST_PLANS:
                return None
            plans[key] = self._compiled(entry, key, parameters, catalog)
        return plans[key]

    def _compiled(
        self, entry: CacheEntry, key: PlanKey, parameters: Mapping[str, Any], catalog: Catalog
    ) -> Prepared | None:
        """Check a command with its parameters and compile it with holes for them."""
        command = entry.template.command
        assert isinstance(command, ast.Find | ast.Targeted)
        assert entry.roles is not None
        with suppress(KipError):
            bound = entry.template.bind(parameters)
            assert isinstance(bound, ast.Find | ast.Targeted)
            check(bound, catalog)
            kinds = check_block(bound.where, catalog, Kinds())
            return prepare(holes.with_holes(command, entry.roles, key), kinds, self._store)
        return None
