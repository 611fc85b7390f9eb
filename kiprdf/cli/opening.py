"""Where the nexus of a command is, and how the command opens it.

A command over a nexus is registered with one of the classes here. It takes the nexus as its last
argument or as ``--nexus``, and finds the ``Place`` in its context.
"""

from __future__ import annotations

import copy
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import typer
from typer.core import TyperArgument, TyperCommand

from kiprdf.budget import Budget
from kiprdf.cli import output
from kiprdf.cli.failures import Failure, PlainHelp
from kiprdf.cli.options import DEFAULT_NEXUS, Sync, with_entail_value
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError
from kiprdf.nexus import Nexus
from kiprdf.search import Embedder, embedders
from kiprdf.store.folder import MANIFEST

_log = logging.getLogger(__name__)
AUTH = "KIPRDF_AUTH"
"""The environment variable with ``user:password``, or a token."""


# Places ---------------------------------------------------------------------------------------


def is_url(place: str) -> bool:
    """Whether a nexus is in a store, not in a folder.

    >>> is_url("http://127.0.0.1:3030/ds/query"), is_url("brain")
    (True, False)
    """
    return re.match(r"https?://", place, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Place:
    """A folder or a store, with the options of stores and folders that a command was given."""

    where: str = DEFAULT_NEXUS
    update_url: str | None = None
    default_graph: str | None = None
    sync: str | None = None
    profile: str | None = None
    token: str | None = None
    erasures: str | None = None

    def __str__(self) -> str:
        return self.where

    @property
    def is_url(self) -> bool:
        return is_url(self.where)

    @property
    def is_only_read(self) -> bool:
        """Whether the nexus is in a store, and the command has no URL for updates."""
        return self.is_url and self.update_url is None

    @property
    def is_absent(self) -> bool:
        """Whether opening a folder would create a nexus; a store shows it when it is connected."""
        folder = Path(self.where)
        if self.is_url:
            return False
        return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))

    def to_read(self, base_iri: str | None = None, budget: Budget | None = None) -> Nexus:
        """Open a nexus read-only, also while another program writes to it.

        The ``budget`` is that of connecting to a store.
        """
        if self.is_url:
            return self.connect(writes=False, base_iri=base_iri, embedder=embedder(), budget=budget)
        self._options_of_folder()
        self.require()
        return Nexus.open(self.where, base_iri, read_only=True, embedder=embedder())

    def to_write(
        self,
        base_iri: str | None = None,
        strict_schema: bool | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """Open a nexus; create it if the folder or the store does not exist or is empty."""
        arguments: dict[str, Any] = {
            "base_iri": base_iri,
            "strict_schema": strict_schema,
            "embedder": embedder(),
        }
        if self.is_url:
            return self.connect(writes=True, budget=budget, **arguments)
        return Nexus.open(self.where, **arguments, **self._options_of_folder())

    def existing(self, dry_run: bool = False) -> Nexus:
        """Open a nexus to write, or for a dry run to read; a missing one is not created."""
        if dry_run:
            return self.to_read()
        self.require()
        return self.to_write()

    @contextmanager
    def for_person(self, name: str | None) -> Iterator[Nexus]:
        """Open an existing nexus on which a person acts; without a name, its owner."""
        with self.existing() as opened, opened.acting(author=name, kind="human"):
            yield opened

    def require(self) -> None:
        """Raise ``Failure`` where opening a folder would create a nexus."""
        if self.is_absent:
            raise Failure(
                f"There is no nexus in {self}; create one with kiprdf load, run, import, restore "
                "or shell, or name another folder with --nexus or KIPRDF_NEXUS."
            )

    @contextmanager
    def for_command(
        self,
        base_iri: str | None = None,
        strict_schema: bool | None = None,
        budget: Budget | None = None,
    ) -> Iterator[Nexus]:
        """Open a nexus for one command; if that fails, a folder created for it is deleted."""
        folder = Path(self.where)
        existed, is_new = folder.exists(), self.is_absent
        nexus = self.to_write(base_iri, strict_schema, budget)
        first_commit = nexus.info()["commit"]
        keep = True
        try:
            with nexus:
                try:
                    yield nexus
                except BaseException:
                    keep = not is_new or nexus.info()["commit"] != first_commit
                    raise
                _index_much(nexus)
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
                if existed:
                    folder.mkdir()

    def served(self, read_only: bool, create: bool, budget: Budget) -> Nexus:
        """Open a nexus that a server serves."""
        if self.is_url:
            writes = not (read_only or self.is_only_read)
            return self.connect(writes=writes, embedder=embedder(), budget=budget)
        options = self._options_of_folder()
        if self.is_absent:
            if read_only:
                self.require()
            if not (create or Path(self.where).exists()):
                raise Failure(f"There is no nexus in {self}; check the name, or add --create.")
            _log.warning("There was no nexus in %s: it is a new one.", self)
        return Nexus.open(
            self.where, read_only=read_only, embedder=embedder(), budget=budget, **options
        )

    def opening(self, read_only: bool, budget: Budget) -> dict[str, Any]:
        """The arguments with which a server opens each of several nexuses."""
        options = self._options_of_folder()
        # They share the model of one embedder.
        return {"read_only": read_only, "embedder": embedder(), "budget": budget, **options}

    def connect(self, *, writes: bool, embedder: Embedder | None, **arguments: Any) -> Nexus:
        """The nexus in the store at this URL."""
        if self.sync is not None:
            raise Failure(f"--sync belongs to a folder, and {self} is a store.")
        if writes and self.update_url is None:
            raise Failure(f"The nexus at {self} is only read without --update-url.")
        auth: Any = os.environ.get(AUTH) or None
        if auth is not None and ":" in auth:
            auth = tuple(auth.split(":", 1))
        given: dict[str, Any] = {"default_graph": self.default_graph, "profile": self.profile}
        try:
            return Nexus.connect(
                self.where,
                self.update_url,
                auth=auth,
                read_only=not writes and self.update_url is not None,
                embedder=embedder,
                **{name: value for name, value in given.items() if value is not None},
                **arguments,
            )
        except (KipError, StoreError) as error:
            try:
                server = self.server(arguments.get("budget"))
            except (KipError, StoreError):
                raise error from None
            if server is None:
                raise
        raise Failure(
            f"{self} is a kiprdf server, not a SPARQL store: send commands to it by POST /kip; "
            "--nexus with its address is for forget, erasures apply, import, optimize, "
            "compact-history and backup."
        )

    def server(self, budget: Budget | None = None) -> Any:
        """The nexus of the kiprdf server at this URL; None for a folder and for a SPARQL store.

        The time of ``budget`` is how long the server may take to say what it is.
        """
        if not self.is_url:
            return None
        # HTTP takes long to load.
        from kiprdf.cli.served import nexus_at

        return nexus_at(self.where, self.token or os.environ.get("KIPRDF_TOKEN"), budget)

    def _options_of_folder(self) -> dict[str, Any]:
        """The options of a folder that is opened; raises ``Failure`` for those of stores."""
        for name in ("update_url", "default_graph", "profile"):
            if getattr(self, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise Failure(f"{option} belongs to a store, and {self} is a folder.")
        given = {"sync": self.sync, "erasures": self.erasures}
        return {name: value for name, value in given.items() if value is not None}

    def with_erasures_applied(self) -> Place:
        """This place after its nexus has forgotten what ``--erasures`` names, before it is read.

        A nexus that the command creates gets the list when it does.
        """
        if self.erasures is None or self.is_absent:
            return self
        if self.is_url:
            raise Failure(f"--erasures belongs to a folder, and {self} is none.")
        with Nexus.open(self.where, genesis=False, erasures=Path(self.erasures)) as opened:
            if opened.erased:
                erased = output.counted(opened.erased, "element")
                output.note(f"Erased {erased} of {self}, which {self.erasures} names.")
        return replace(self, erasures=None)


def place_of(context: typer.Context) -> Place:
    """The place of the nexus of the running command."""
    return cast(Place, context.obj)


def in_memory(base_iri: str | None = None, strict_schema: bool | None = None) -> Nexus:
    """A new nexus in memory."""
    return Nexus.memory(base_iri, strict_schema=strict_schema, embedder=embedder())


def embedder() -> Embedder | None:
    """The embedder of the extra ``semantic``, if installed; its model is loaded on first use."""
    return embedders.wordllama() if embedders.is_installed() else None


def _index_much(nexus: Nexus) -> None:
    """Complete the text index after a large write, which is done even if this fails."""
    try:
        with output.index_progress() as advance:
            nexus.build_index(advance, propositions=False, only_after_much=True)
    except (KeyboardInterrupt, KipError, StoreError) as fault:
        reason = f" ({fault})" if str(fault) else ""
        output.note(f"The text index is not complete{reason}; the next SEARCH completes it.")


# Commands -------------------------------------------------------------------------------------

_PANEL = "Where the nexus is"


def _declared(
    named: Annotated[str | None, typer.Argument(metavar="NEXUS")] = None,
    nexus: Annotated[
        str, typer.Option("--nexus", "-n", envvar="KIPRDF_NEXUS", show_envvar=True, metavar="NEXUS")
    ] = DEFAULT_NEXUS,
    update_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="URL for updates of a store; without it, the store is only read."
        ),
    ] = None,
    default_graph: Annotated[
        str | None, typer.Option(metavar="IRI", help="Graph of the nexus in a store.")
    ] = None,
    sync: Annotated[
        Sync | None,
        typer.Option(help="full: a folder has each commit on the disk before the answer."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Form of links in a new nexus in a store: auto, rdf11 or rdf12."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KIPRDF_TOKEN",
            show_envvar=True,
            help="Token for writing, where the nexus is the URL of a kiprdf server.",
        ),
    ] = None,
    erasures: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="First forget what this erasure list names."),
    ] = None,
) -> None:
    """The parameters of a place; never called."""


@cache
def _parameters() -> list[Any]:
    """The declared parameters as those of a command."""
    declaring = typer.Typer(add_completion=False)
    declaring.command()(_declared)
    return list(typer.main.get_command(declaring).params)


class Reads(PlainHelp, TyperCommand):
    """A command that reads a nexus; options that do not belong to it are accepted, not shown."""

    shown: ClassVar[tuple[str, ...]] = ("default_graph",)
    where: ClassVar[str] = "Folder of the nexus, or URL of a SPARQL store."

    def __init__(self, *arguments: Any, params: list[Any] | None = None, **options: Any) -> None:
        own = {param.name for param in params or ()}
        added = [copy.copy(param) for param in _parameters() if param.name not in own]
        for param in added:
            param.hidden = param.name not in ("named", "nexus", *self.shown)
            param.help = self.where if param.name in ("named", "nexus") else param.help
            if param.name != "named":
                param.rich_help_panel = _PANEL
        self._optional = _optional_argument(params or [])
        if self._optional is not None and self._optional.nargs == -1:
            self._optional.help += " The folder of the nexus may follow."
            added = [param for param in added if param.name != "named"]
        self._added = [param.name for param in added]
        super().__init__(*arguments, params=[*(params or ()), *added], **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; the value of --entail may be missing."""
        return super().parse_args(ctx, with_entail_value(args))

    def invoke(self, ctx: Any) -> Any:
        """Make the place of what was given, and run the command."""
        given = {name: ctx.params.pop(name) for name in self._added}
        named, option = given.pop("named", None) or self._taken(ctx), given.pop("nexus")
        if named is None:
            named = option
        elif ctx.get_parameter_source("nexus").name == "COMMANDLINE" and named != option:
            raise typer.BadParameter(f"Name one nexus, not {named} and --nexus {option}.", ctx)
        ctx.obj = Place(
            where=named,
            **{name: value if value is None else str(value) for name, value in given.items()},
        )
        if not (ctx.params.get("scopes") or ctx.params.get("mount")):
            ctx.obj = ctx.obj.with_erasures_applied()
        if ctx.obj.is_absent:
            self._refuse_other_order(ctx)
        return super().invoke(ctx)

    def _refuse_other_order(self, ctx: Any) -> None:
        """Raise an error where another argument is a nexus, and the named one does not exist."""
        arguments = [param for param in self.params if isinstance(param, TyperArgument)]
        for argument in arguments:
            value = ctx.params.get(argument.name)
            if argument.nargs == 1 and isinstance(value, str) and _is_nexus(value):
                others = [param.metavar or param.name for param in arguments]
                order = " ".join([ctx.command_path, *others[:-1], value])
                raise typer.BadParameter(f"The nexus comes last: {order}.", ctx)

    def _taken(self, ctx: Any) -> str | None:
        """The nexus that was given instead of an optional argument, or after several."""
        argument = self._optional
        value = argument and ctx.params[argument.name]
        if isinstance(value, list | tuple):
            if len(value) < 2 or not _is_nexus(str(value[-1])):
                return None
            ctx.params[argument.name] = value[:-1]
            return str(value[-1])
        # A path has one slash where the URL has two.
        text = re.sub(r"^(https?:)/+", r"\1//", str(value or ""))
        if not (is_url(text) or _is_nexus(text)):
            return None
        ctx.params[argument.name] = argument.get_default(ctx)
        return text


class Writes(Reads):
    """A command that writes to a nexus."""

    shown: ClassVar[tuple[str, ...]] = ("update_url", "default_graph", "sync", "erasures")


class Creates(Writes):
    """A command that creates a nexus where there is none."""

    shown: ClassVar[tuple[str, ...]] = (*Writes.shown, "profile")


class Imports(Creates):
    """A command that creates a nexus, or runs in a server."""

    shown: ClassVar[tuple[str, ...]] = (*Creates.shown, "token")
    where = "Folder of the nexus, or URL of a SPARQL store or a kiprdf server."


class OfFolder(Reads):
    """A command for a nexus in a folder."""

    shown: ClassVar[tuple[str, ...]] = ()
    where = "Folder of the nexus."


class OfHistory(OfFolder):
    """A command that writes to a nexus in a folder."""

    shown: ClassVar[tuple[str, ...]] = ("sync",)


class OfServer(OfFolder):
    """A command for a nexus in a folder or in a server."""

    shown: ClassVar[tuple[str, ...]] = ("token",)
    where = "Folder of the nexus, or URL of a kiprdf server."


def _optional_argument(params: list[Any]) -> Any:
    """The last argument, if it may be missing or be several."""
    arguments = [param for param in params if isinstance(param, TyperArgument)]
    last = arguments[-1] if arguments else None
    return last if last is not None and (last.nargs == -1 or not last.required) else None


def _is_nexus(place: str) -> bool:
    # A command may be longer than a path.
    return bool(place) and os.path.isfile(os.path.join(place, MANIFEST))
