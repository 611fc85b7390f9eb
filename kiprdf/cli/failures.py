"""Errors become lines on standard error and an exit status, never a traceback."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from kiprdf.cli import output
from kiprdf.errors import KipError, LockedError, StoreError

_log = logging.getLogger(__name__)
_OVER_THE_SERVER = (
    ", or, if that is kiprdf serve, name its address: --nexus http://HOST:PORT/ (and its --token)"
)
_WAYS = {
    "run": ", or, if that is kiprdf serve, send the command to its address, POST /kip",
    "serve": ", or serve the state of now with --read-only",
    "mcp": ", or serve the state of now with --read-only; kiprdf serve has several clients at once",
    "shell": ", or read the state of now with --read-only",
    **dict.fromkeys(
        ("forget", "erasures", "import", "optimize", "compact-history", "backup"), _OVER_THE_SERVER
    ),
}
"""What a command can do beside the process that has the nexus open."""
_NO_WAY = " first; if that is kiprdf serve, stop it, because a server does not run this command"


class Failure(Exception):
    """A failure outside KIP, such as a missing file; the message is one sentence."""


class PlainHelp:
    """A command whose help shows no type for a flag."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with ``--help``."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class PlainCommand(PlainHelp, TyperCommand):
    """A command that opens no nexus, or several."""


class Subcommands(PlainHelp, TyperGroup):
    """A group of commands in another."""


class Commands(PlainHelp, TyperGroup):
    """The command group; it reports every exception of a command."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command, and flush its output while errors can still be reported."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe: not an error.
            _discard_output()
            raise typer.Exit(1) from None
        except LockedError as error:
            way = _WAYS.get(ctx.invoked_subcommand, _NO_WAY)
            report(Failure(f"{error.where}{way}."))
            raise typer.Exit(_status(ctx)) from None
        except (KipError, StoreError, Failure, OSError) as error:
            report(error)
            raise typer.Exit(_status(ctx)) from None
        except (typer.Exit, typer.Abort):
            raise
        except RuntimeError as error:
            # The engine raises this when its files are damaged.
            _log.exception("kiprdf failed")
            report(Failure(f"The engine failed: {error}"))
            raise typer.Exit(_status(ctx)) from None
        return result


def _status(ctx: Any) -> int:
    """The exit status of a failed command; 1 means "there are differences", or conflicts, here."""
    return 2 if ctx.invoked_subcommand in ("diff", "merge") else 1


def report(error: KipError | StoreError | Failure | OSError) -> None:
    """Print an error on standard error, after everything printed so far."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    if isinstance(error, KipError):
        output.error_lines(f"{error.code} {error.located_message}", error.excerpt, error.hint)
    else:
        output.error_lines(f"kiprdf: {_sentence(error)}")


def _sentence(error: StoreError | Failure | OSError) -> str:
    if not isinstance(error, OSError):
        return str(error)
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def _discard_output() -> None:
    """Redirect standard output, which is broken, so that the interpreter can flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report an ``OSError`` as one sentence about the file that cannot be written."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        yield
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}.") from None
