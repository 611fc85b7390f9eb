"""What goes wrong becomes lines on standard error and an exit status, never a traceback."""

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
from typer.core import TyperGroup

from kiprdf.cli import output
from kiprdf.errors import KipError, StoreError

_log = logging.getLogger(__name__)


class Failure(Exception):
    """Something outside KIP stands in the way; the message is one sentence."""


class Commands(TyperGroup):
    """The commands; whatever they raise is reported."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command, and write everything out while errors can still be told."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader, such as `head`, has seen enough: nothing to tell anybody.
            _discard_output()
            raise typer.Exit(1) from None
        except (KipError, StoreError, Failure, OSError) as fault:
            report(fault)
            raise typer.Exit(_status(ctx)) from None
        except (typer.Exit, typer.Abort):
            raise
        except RuntimeError as fault:
            # What the engine raises when it finds its files damaged.
            _log.exception("kiprdf failed")
            report(Failure(f"The engine failed: {fault}"))
            raise typer.Exit(_status(ctx)) from None
        return result


def _status(ctx: Any) -> int:
    """The exit status of a failed command; ``diff`` says by 1 that something differs."""
    return 2 if ctx.invoked_subcommand == "diff" else 1


def report(fault: KipError | StoreError | Failure | OSError) -> None:
    """Tell what went wrong on standard error, below what was printed so far."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    if isinstance(fault, KipError):
        output.error_lines(f"{fault.code} {fault.located_message}", fault.excerpt, fault.hint)
    else:
        output.error_lines(f"kiprdf: {_sentence(fault)}")


def _sentence(fault: StoreError | Failure | OSError) -> str:
    if not isinstance(fault, OSError):
        return str(fault)
    reason = fault.strerror or str(fault)
    return f"{fault.filename}: {reason}." if fault.filename else f"{reason}."


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere, since standard output is broken."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a file that cannot be written into one sentence."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        yield
    except OSError as fault:
        raise Failure(f"{path} cannot be written: {fault.strerror or fault}.") from None
