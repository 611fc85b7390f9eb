"""Parsed commands and their compiled WHEREs, kept by text and by shape (docs/decisions/037)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kml.draft import Targets
from kiprdf.kql import holes
from kiprdf.kql.beliefs import refuse_marked
from kiprdf.kql.entailment import Sight, sight_of
from kiprdf.kql.find import FindResult, Prepared, prepare
from kiprdf.kql.holes import PlanKey, Roles
from kiprdf.kql.valid_at import with_moment
from kiprdf.language import Template, ast, parse
from kiprdf.language.literals import MOST_CHARACTERS, Blocks, opened
from kiprdf.language.parameters import opens_map
from kiprdf.language.printer import outline
from kiprdf.loading import Lazy
from kiprdf.semantics import Catalog, check
from kiprdf.semantics.patterns import Kinds, check_block
from kiprdf.source import NOWHERE
from kiprdf.store import NexusStore, Store
from kiprdf.store.base import Cell, Row

if TYPE_CHECKING:
    from kiprdf.kql import derivations
else:
    derivations = Lazy("kiprdf.kql.derivations")

MOST_TEXTS = 256
MOST_PLANS = 16
"""Of one text, for different kinds of arguments."""


_OVER_BUDGET = ("KIP_4001", "KIP_4002")

FindTargets: TypeAlias = Callable[[], Targets | None]
"""The targets of a statement; None where it must be checked and compiled for its own parameters."""
Plans: TypeAlias = dict[tuple[PlanKey, Sight], Prepared | None]
"""By the kinds of arguments, and what is seen of the store; None where a command cannot be compiled
with holes."""


@dataclass
class Statement:
    """One text: the parsed command, and its plans with the catalog that they were checked with.

    ``has_run`` says that the command came before.
    """

    template: Template[ast.Command]
    has_run: bool = False
    # One attribute, since another thread may still add to the plans of an older catalog.
    checked: tuple[Catalog | None, Plans] = (None, {})

    @cached_property
    def roles(self) -> Roles | None:
        """The placeholders of a FIND, UPDATE or DELETE; None for other commands."""
        return holes.placeholder_roles(self.template.command)

    @cached_property
    def rewriting(self) -> derivations.Rewriting:
        """What is asked to explain a FIND."""
        command = self.template.command
        assert isinstance(command, ast.Find)
        return derivations.Rewriting(command)

    @cached_property
    def outline(self) -> str | None:
        """The normalized text for the history; None where it depends on the keys of a parameter."""
        command = self.template.command
        if not isinstance(command, ast.Manipulation) or opens_map(command):
            return None
        return outline(command)


class Write(NamedTuple):
    """A bound command that writes; ``outline`` and ``find_targets`` where they are known already.

    Its spans are places in its text only where it ``has_places``.
    """

    command: ast.Manipulation
    outline: str | None = None
    find_targets: FindTargets | None = None
    has_places: bool = True


class Statements:
    """Parses each text once, and compiles a WHERE once for each kind of arguments.

    Texts that differ only in literals share what is kept for their shape. ``catalog`` returns the
    catalog of the current commit, the same object until the schema changes; plans of an older
    catalog are compiled again.
    """

    def __init__(self, store: NexusStore, catalog: Callable[[], Catalog]) -> None:
        self._store = store
        self._catalog = catalog
        self._texts: dict[str, Statement] = {}
        self._shapes: dict[str, Statement | None] = {}
        self._blocks = Blocks()

    def clear(self) -> None:
        """Forget all texts and shapes."""
        self.forget_texts()
        self._shapes.clear()
        self._blocks = Blocks()

    def forget_texts(self) -> None:
        """Forget all texts, but not what they share."""
        self._texts.clear()

    def template(self, text: str) -> Template[ast.Command]:
        """The parsed command; raises ``KipError``."""
        return self._statement(text).template

    def rewriting(self, text: str) -> derivations.Rewriting:
        """What is asked to explain a FIND; raises ``KipError``."""
        return self._statement(text).rewriting

    def _statement(self, text: str) -> Statement:
        statement = self._texts.get(text)
        if statement is None:
            refuse_marked(text)
            statement = Statement(Template(parse(text)))
            if len(text) <= MOST_CHARACTERS:
                if len(self._texts) >= MOST_TEXTS:
                    self.forget_texts()
                self._texts[text] = statement
        return statement

    def _of_shape(self, shape: str) -> Statement | None:
        """What is kept for a shape; None when it comes for the first time. May raise ``KipError``:
        only the text itself can show where."""
        if shape not in self._shapes:
            if len(self._shapes) >= MOST_TEXTS:
                self._shapes.clear()
            self._shapes[shape] = None
            return None
        statement = self._shapes[shape]
        if statement is None:
            statement = self._shapes[shape] = Statement(Template(parse(shape)), has_run=True)
        return statement

    # Reading ----------------------------------------------------------------------------------

    def find(
        self,
        text: object,
        parameters: Mapping[str, Any],
        seen: Callable[[], Store] | None = None,
    ) -> FindResult | None:
        """Run a FIND by its plan, which is compiled when the text comes for the second time.

        ``seen`` returns the store as the FIND sees it; without it, it sees all.
        None where the command must be bound, checked and compiled for its own parameters: a new
        text, another command, an element that does not exist.
        """
        if not isinstance(text, str):
            return None
        parameters = with_moment(text, parameters)
        statement = self._texts.get(text)
        if statement is not None and not _has_list(parameters):
            return self._find(statement, parameters, seen)
        literals = opened(text, parameters)
        if literals is None:
            return None
        # What fails is left to the text itself, whose places a message shows.
        try:
            statement = self._of_shape(literals[0])
            result = None if statement is None else self._find(statement, literals[1], seen)
        except KipError as error:
            if error.code in _OVER_BUDGET and error.span is NOWHERE:
                raise  # the text itself would fail alike, after as much work
            return None
        if result is None or result.lacks is None:
            return result
        # The reasons have places in the text itself.
        return result._replace(find=cast(ast.Find, self.template(text).bind(parameters)))

    def _find(
        self,
        statement: Statement,
        parameters: Mapping[str, Any],
        seen: Callable[[], Store] | None,
    ) -> FindResult | None:
        if statement.roles is None or not isinstance(statement.template.command, ast.Find):
            return None
        key = holes.plan_key(statement.roles, parameters)
        if key is None:
            return None

        def bound() -> ast.Find:
            return cast(ast.Find, statement.template.bind(parameters))

        def run() -> FindResult | None:
            store = self._store if seen is None else seen()
            plan = self._plan(statement, key, parameters, store)
            return None if plan is None else plan.run(parameters, store, bound)

        return self._store.read(run)

    def solutions(
        self, text: str, parameters: Mapping[str, Any], store: Store
    ) -> list[dict[str, Cell]] | None:
        """What the variables that a FIND shows are bound to, by its plan; None as ``find`` says."""
        plan = self._plan_of(text, parameters, store)
        rows = None if plan is None else plan.rows(parameters, store)
        return None if plan is None or rows is None else _named(plan, rows)

    def solutions_of_each(
        self, text: str, arguments: Sequence[Mapping[str, Any]], store: Store
    ) -> list[dict[str, Cell]] | None:
        """``solutions`` for some parameters together; None where each must be asked for alone."""
        roles = self._statement(text).roles or {}
        keys = {holes.plan_key(roles, one) for one in arguments}
        plan = self._plan_of(text, arguments[0], store)
        rows = None if plan is None or len(keys) > 1 else plan.rows_of_each(arguments, store)
        return None if plan is None or rows is None else _named(plan, rows)

    def _plan_of(self, text: str, parameters: Mapping[str, Any], store: Store) -> Prepared | None:
        statement = self._statement(text)
        key = holes.plan_key(statement.roles or {}, parameters)
        return None if key is None else self._plan(statement, key, parameters, store)

    # Writing ----------------------------------------------------------------------------------

    def write(self, command: ast.Manipulation, text: str, parameters: Mapping[str, Any]) -> Write:
        """A command that a text bound to parameters writes, with what is kept of the text."""
        statement = self._texts.get(text)
        if statement is None:
            return Write(command)
        return Write(command, statement.outline, self._find_targets(statement, parameters))

    def write_by_shape(self, text: str, parameters: Mapping[str, Any]) -> Write | None:
        """What a text writes, filled into its shape; None where that is new."""
        if text in self._texts and not _has_list(parameters):
            return None
        shaped = None if parameters else self._blocks.read(text)
        if shaped is not None:
            # Only a history has the outlines.
            has_history = self._store.journal is not None
            outlined = self._blocks.outline(shaped) if has_history else None
            return Write(shaped.command, outlined, has_places=False)
        literals = opened(text, parameters, ("UPDATE", "DELETE"))
        if literals is None:
            return None
        shape, arguments = literals
        with suppress(KipError):
            statement = self._of_shape(shape)
            # Only the text itself can be refused for a parameter that it does not have.
            if (
                statement is not None
                and statement.roles
                and statement.roles.keys() == set(arguments)
            ):
                command = statement.template.bind(arguments)
                assert isinstance(command, ast.Targeted)
                find_targets = self._find_targets(statement, arguments)
                return Write(command, statement.outline, find_targets, has_places=False)
        return None

    def _find_targets(
        self, statement: Statement, parameters: Mapping[str, Any]
    ) -> FindTargets | None:
        """Finds the targets of a bound statement by its plan, from the second time on."""
        if statement.roles is None:
            return None
        if not statement.has_run:
            statement.has_run = True
            return None
        # Other parameters do no harm.
        key = holes.plan_key(statement.roles, {name: parameters[name] for name in statement.roles})
        if key is None:
            return None

        def find() -> Targets | None:
            plan = self._plan(statement, key, parameters, self._store)
            nodes = None if plan is None else plan.nodes(parameters, self._store)
            return None if plan is None or nodes is None else Targets(nodes, plan.kinds)

        return find

    # Plans ------------------------------------------------------------------------------------

    def _plan(
        self, statement: Statement, kind: PlanKey, parameters: Mapping[str, Any], store: Store
    ) -> Prepared | None:
        """The plan for parameters of some kinds, compiled once for each catalog, and for what is
        seen of the store."""
        catalog = self._catalog()
        checked_with, plans = statement.checked
        if checked_with is not catalog:
            plans = {}
            statement.checked = catalog, plans
        key = kind, sight_of(store)
        if key not in plans:
            if len(plans) >= MOST_PLANS:
                return None
            plans[key] = self._compiled(statement, kind, parameters, catalog, store)
        return plans[key]

    def _compiled(
        self,
        statement: Statement,
        key: PlanKey,
        parameters: Mapping[str, Any],
        catalog: Catalog,
        store: Store,
    ) -> Prepared | None:
        """Check a command with its parameters and compile it with holes for them."""
        command = statement.template.command
        assert isinstance(command, ast.Find | ast.Targeted)
        assert statement.roles is not None
        with suppress(KipError):
            bound = statement.template.bind(parameters)
            assert isinstance(bound, ast.Find | ast.Targeted)
            check(bound, catalog)
            kinds = check_block(bound.where, catalog, Kinds())
            return prepare(holes.with_holes(command, statement.roles, key), kinds, store)
        return None


def _named(plan: Prepared, rows: list[Row]) -> list[dict[str, Cell]]:
    """Rows by the names of their variables."""
    names = plan.plan.cells.names
    return [{name: row[index] for name, index in names.items()} for row in rows]


def _has_list(parameters: Mapping[str, Any]) -> bool:
    """Whether a parameter may be the list of an IN, whose items are opened."""
    return list in map(type, parameters.values())
