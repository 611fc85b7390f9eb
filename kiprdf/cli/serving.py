"""The commands that serve a nexus: over HTTP, to MCP clients, and as a prompt."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from types import MappingProxyType, ModuleType
from typing import Annotated, Any, NoReturn

import typer

from kiprdf.actors import Kind
from kiprdf.brains import MOST_OPEN, Brains
from kiprdf.budget import Budget
from kiprdf.cli import opening, output
from kiprdf.cli.failures import Failure
from kiprdf.cli.inputs import names_in
from kiprdf.cli.opening import Creates, Place, Reads, place_of
from kiprdf.cli.options import SERVE, LogFormat, MemoryOption, ReadOption, WriteOption
from kiprdf.cli.root import app
from kiprdf.cli.scopes import opened_view
from kiprdf.dataclasses import dataclass
from kiprdf.errors import LockedError
from kiprdf.nexus import Nexus
from kiprdf.principals import Principal, name_fault
from kiprdf.protocol import LEAST_CHARS, MAX_CHARS
from kiprdf.search import Embedder

_SECONDS_ALONE = 1.0
"""How long a client has the processor for its start, before others are let in."""
HostOption = Annotated[str, typer.Option(help="Address to listen on.")]
PortOption = Annotated[int, typer.Option(help="Port; 0 for any free port.", min=0, max=65535)]
TokenOption = Annotated[
    str | None,
    typer.Option(envvar="KIPRDF_TOKEN", show_envvar=True, help="Token for reading and writing."),
]
ReadTokenOption = Annotated[
    str | None,
    typer.Option(envvar="KIPRDF_READ_TOKEN", show_envvar=True, help="Token for reading only."),
]
ReadOnlyOption = Annotated[
    bool, typer.Option("--read-only", help="Open read-only; another program may write.")
]
CreateOption = Annotated[
    bool, typer.Option("--create", help="Create the nexus if there is no such folder.")
]
AllowHostOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Allow this host name. Can be repeated.")
]


PrincipalsOption = Annotated[
    Path | None,
    typer.Option(
        envvar="KIPRDF_PRINCIPALS",
        show_envvar=True,
        metavar="FILE",
        help="File of principals, each with a token (kiprdf principals add).",
    ),
]


@app.command(cls=Creates, rich_help_panel=SERVE)
def serve(
    ctx: typer.Context,
    create: CreateOption = False,
    memory: MemoryOption = False,
    scopes: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Serve each nexus in this directory.")
    ] = None,
    mount: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FOLDER", help="Serve this nexus, too. Can be repeated."),
    ] = None,
    open_scopes: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum scopes that are open at once.")
    ] = MOST_OPEN,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    token: TokenOption = None,
    read_token: ReadTokenOption = None,
    principals: PrincipalsOption = None,
    insecure_no_token: Annotated[
        bool,
        typer.Option("--insecure-no-token", help="Allow other machines to connect without token."),
    ] = False,
    read_only: ReadOnlyOption = False,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Public address of the server.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the pages.")] = None,
    max_body: Annotated[
        int, typer.Option(metavar="BYTES", min=1, help="Maximum size of a body.")
    ] = 2_097_152,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Timeout of a request.")] = 30,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Maximum solutions of a request.")
    ] = 1_000_000,
    shutdown_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time for running requests to end at shutdown.")
    ] = 30,
    log_format: Annotated[LogFormat, typer.Option(help="Form of the log.")] = "text",
    audit_log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JSON line for each write here.")
    ] = None,
    allow_host: AllowHostOption = None,
    cors: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Allow this origin. Can be repeated.")
    ] = None,
    no_explorer: Annotated[
        bool, typer.Option("--no-explorer", help="Do not serve the explorer.")
    ] = False,
    no_mcp: Annotated[bool, typer.Option("--no-mcp", help="Do not serve MCP.")] = False,
    mib: Annotated[
        bool, typer.Option("--mib", help="Serve fresh memories to the benchmark MIB.")
    ] = False,
) -> None:
    """Serve a nexus over HTTP: KIP, SPARQL, linked data and pages.

    \b
    Examples:
      kiprdf serve
      kiprdf serve brain --create --port 0
      KIPRDF_TOKEN=secret kiprdf serve brain --host 0.0.0.0
      kiprdf serve brain --principals principals.toml
      kiprdf serve --scopes brains --principals principals.toml
    """
    options = {
        "token": token,
        "read_token": read_token,
        "principals": principals,
        "read_only": read_only,
        "base_url": base_url,
        "title": title,
        "max_body": max_body,
        "allow_hosts": tuple(allow_host or ()),
        "cors": tuple(cors or ()),
        "explorer": not no_explorer,
        "mcp": not no_mcp,
        "mib": mib,
        "host": host,
    }
    place = place_of(ctx)
    several = None
    if scopes is not None or mount:
        if memory or _is_named(ctx):
            _refuse("--scopes and --mount name the nexuses to serve: leave the other one out.")
        several = _Several(scopes, tuple(mount or ()), open_scopes)
    if memory and place.sync is not None:
        raise Failure("--sync belongs to a folder, and this nexus is in memory.")
    _serve(
        None if memory else place,
        options,
        port,
        create=create,
        is_open_to_all=insecure_no_token,
        budget={"timeout_s": timeout, "max_rows": max_rows},
        shutdown_timeout=shutdown_timeout,
        log_format=log_format,
        audit_log=audit_log,
        several=several,
    )


@app.command(cls=Creates, rich_help_panel=SERVE)
def mcp(
    ctx: typer.Context,
    create: CreateOption = False,
    read_only: ReadOnlyOption = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, at /mcp.")] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    token: TokenOption = None,
    read_token: ReadTokenOption = None,
    principals: PrincipalsOption = None,
    as_name: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Who the client is, if it needs no token.")
    ] = "mcp",
    kind: Annotated[Kind, typer.Option(help="What kind of principal that is.")] = "model",
    propose: Annotated[
        bool,
        typer.Option("--propose", help="Its writes wait until a person approves them."),
    ] = False,
    allow_host: AllowHostOption = None,
    scopes: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory of scopes, instead of a nexus.")
    ] = None,
    reads: ReadOption = None,
    writes: WriteOption = None,
    max_chars: Annotated[
        int,
        typer.Option(min=LEAST_CHARS, help="Maximum characters of an answer, if a call has none."),
    ] = MAX_CHARS,
) -> None:
    """Serve a nexus to an MCP client, on standard input and output or over HTTP.

    With --scopes, the client reads the scopes that --read names, as one, and writes
    the one that --write names.

    \b
    Examples:
      kiprdf mcp brain
      kiprdf mcp brain --as claude-desktop
      kiprdf mcp brain --propose
      kiprdf mcp brain --http --port 8765
      kiprdf mcp --scopes brains --read team,ada --write ada --as claude-desktop
    """
    fault = None if as_name == "mcp" else name_fault(as_name)
    if fault is not None:
        _refuse(f"The name {fault}.")
    names = names_in(reads or ())
    fault = _fault_of_scopes(ctx, scopes, names, writes)
    if fault is not None:
        _refuse(fault)
    client = Principal(as_name, kind, "propose" if propose else "write")
    if http:
        options = {
            "mcp_as": client,
            "mcp_max_chars": max_chars,
            "token": token,
            "read_token": read_token,
            "principals": principals,
            "read_only": read_only,
            "allow_hosts": tuple(allow_host or ()),
            "explorer": False,
            "host": host,
        }
        _serve(place_of(ctx), options, port, create=create)
        return
    try:
        from kiprdf.mcp import server
    except ImportError as fault:
        raise Failure(str(fault)) from None
    # The thread that reads standard input cannot be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    session, place = f"mcp-{token_hex(4)}", place_of(ctx)

    def open_folder() -> Nexus:
        return place.served(read_only, create, Budget())

    try:
        chosen = (
            open_folder()
            if scopes is None
            else opened_view(scopes, names, None if read_only else writes)
        )
    except LockedError:
        if scopes is not None:
            raise
        from kiprdf.cli.relay import Relay

        Relay(Path(place.where), open_folder, client, session, max_chars).run()
        return
    with (
        chosen as opened,
        _taking_clients(opened, scopes is None),
        opened.acting(author=client.name, session=session, kind=client.kind, access=client.access),
    ):
        server(opened, read_only=read_only, max_chars=max_chars).run_stdio()


@contextmanager
def _taking_clients(nexus: Nexus, is_alone: bool) -> Iterator[None]:
    """Let other clients of this machine in, a moment after the start, while a block runs."""
    folder, is_over = nexus.store.folder, Event()
    if folder is None or nexus.read_only or not is_alone:
        yield
        return

    def take(folder: Path) -> None:
        with suppress(ImportError, OSError):
            if not is_over.wait(_SECONDS_ALONE):
                from kiprdf.serve.server import beside

                with beside(nexus, folder):
                    is_over.wait()

    thread = Thread(target=take, args=(folder,))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _fault_of_scopes(
    ctx: typer.Context, scopes: Path | None, reads: list[str], writes: str | None
) -> str | None:
    """Why the options of scopes do not go together, or with others; None if they do."""
    if scopes is None:
        has_names = reads or writes is not None
        return "--read and --write name scopes: add --scopes DIR." if has_names else None
    if ctx.params["http"]:
        way = "kiprdf serve --scopes DIR --principals FILE"
        return f"Over HTTP, principals decide who reads and writes what: use {way}."
    place = place_of(ctx)
    options = (place.update_url, place.default_graph, place.sync, place.profile, place.erasures)
    if _is_named(ctx) or any(options):
        return "--scopes has the place of a nexus: leave NEXUS and its options out."
    if ctx.params["create"]:
        return f"--create does not go with --scopes: use kiprdf scopes add NAME --dir {scopes}."
    if not reads:
        return "--scopes needs the names of scopes: add --read, such as --read team,ada."
    if len(set(reads)) < len(reads):
        return "--read names a scope twice."
    if writes is not None and writes not in reads:
        return f"--write {writes} is not among the scopes to read: add it to --read."
    if writes is None and ctx.params["propose"]:
        return "--propose needs the scope to write: add --write."
    return None


@app.command(cls=Reads, rich_help_panel=SERVE)
def instructions(
    ctx: typer.Context,
    budget_tokens: Annotated[
        int, typer.Option(metavar="TOKENS", help="Maximum tokens of the text (estimated).", min=1)
    ] = 4000,
) -> None:
    """Print the system prompt that teaches a language model to use a nexus.

    \b
    Examples:
      kiprdf instructions brain
      kiprdf instructions brain --budget-tokens 8000
    """
    from kiprdf import prompt

    with place_of(ctx).to_read() as opened:
        try:
            text = prompt.instructions(opened, budget_tokens=budget_tokens)
        except ValueError as fault:
            raise Failure(str(fault)) from None
        print(text, end="")


def _serve(
    place: Place | None,
    arguments: dict[str, Any],
    port: int,
    *,
    create: bool,
    is_open_to_all: bool = False,
    budget: Mapping[str, Any] = MappingProxyType({}),
    shutdown_timeout: float = 30,
    log_format: LogFormat = "text",
    audit_log: Path | None = None,
    several: _Several | None = None,
) -> None:
    """Serve the nexus in a place, or a new one in memory, or several, until a signal.

    ``arguments`` are those of ``kiprdf.serve.app``.
    """
    try:
        from kiprdf.serve import observation, server
        from kiprdf.serve.application import asgi_app
        from kiprdf.serve.options import Options
        from kiprdf.serve.scopes import Folders, Scopes
        from kiprdf.serve.state import Server, Service
    except ImportError as fault:
        raise Failure(str(fault)) from None
    try:
        options, limits = Options(**arguments), Budget(**budget)
    except ValueError as fault:
        _refuse(str(fault))
    if not (options.is_loopback or options.has_token or is_open_to_all):
        who = f"Anyone who can reach {options.host}"
        _refuse(f"{who} could write; set --token, --read-token or --principals.")
    _log_requests(observation, log_format)
    audit = None if audit_log is None else observation.AuditLog(audit_log)
    service = Service(options, audit)
    if several is not None and place is not None:
        if options.read_token is not None:
            _refuse("A read token has no scopes: give a principal some, in --principals.")
        arguments = place.opening(options.read_only, limits)
        directory = several.brains(create and not options.read_only, arguments["embedder"])
        with directory or nullcontext():
            try:
                folders = Folders(directory, several.mounted())
            except ValueError as fault:
                _refuse(str(fault))
            scopes = Scopes(service, folders, arguments, several.most_open)
            server.serve(scopes.behind_gate(), service, port, shutdown_timeout)
        return
    if place is None:
        opened = Nexus.memory(embedder=opening.embedder(), budget=limits)
    else:
        opened = place.served(options.read_only, create, limits)
    with opened:
        takes_clients = options.mcp and not opened.read_only and find_spec("mcp") is not None
        folder = opened.store.folder if takes_clients else None
        server.serve(asgi_app(Server(opened, service)), service, port, shutdown_timeout, folder)


@dataclass(frozen=True)
class _Several:
    """The nexuses that a server has: those in a directory, and others by names."""

    directory: Path | None
    mounts: tuple[str, ...]
    most_open: int

    def brains(self, create: bool, embedder: Embedder | None) -> Brains | None:
        """Those in the directory, which must be there unless it may be created."""
        if self.directory is None:
            return None
        if not (create or self.directory.is_dir()):
            raise Failure(f"There is no directory {self.directory}; check it, or add --create.")
        return Brains(self.directory, embedder=embedder)

    def mounted(self) -> list[tuple[str, Path]]:
        """The names of the others, with their folders."""
        pairs = [one.partition("=") for one in self.mounts]
        for name, _, folder in pairs:
            if not name or not folder:
                _refuse("--mount takes a name and a folder: --mount team=FOLDER.")
        return [(name, Path(folder)) for name, _, folder in pairs]


def _is_named(context: typer.Context) -> bool:
    """Whether the command line names a nexus."""
    sources = [context.get_parameter_source(name) for name in ("named", "nexus")]
    return any(source is not None and source.name == "COMMANDLINE" for source in sources)


def _refuse(message: str) -> NoReturn:
    """End with the status of wrong usage."""
    print(message, file=sys.stderr)
    raise typer.Exit(2)


def _log_requests(observation: ModuleType, log_format: LogFormat) -> None:
    """Log one line for each request, and each warning of the server, on standard error."""
    is_json = log_format == "json"
    handler = logging.StreamHandler()
    formatter = observation.JsonFormatter() if is_json else observation.TextFormatter()
    handler.setFormatter(formatter)
    logging.getLogger().addHandler(handler)
    logging.getLogger("kiprdf").removeHandler(output.NOTES)
    observation.LOGGER.setLevel(logging.INFO)
