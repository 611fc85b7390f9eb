"""The command line: a thin layer over ``kiprdf.nexus``.

``root`` (the program itself) and the modules of ``COMMANDS`` (``chunks`` with ``chunks_files``);
where a nexus is and how it is opened (``opening``; a server: ``served``), shared options
(``options``), files and parameters (``inputs``), answers (``answers``, ``tables``, ``output``),
errors (``failures``), ``shell`` and ``demo``.
"""

import sys
from typing import TYPE_CHECKING, Any

from kiprdf.loading import load

if TYPE_CHECKING:
    from kiprdf.cli.root import app

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = {
    "commands": "demo run shell load explain diagnose info",
    "why": "why",
    "memory": "memory",
    "chunks": "chunks",
    "snapshots": "snapshot restore export",
    "imports": "import",
    "linked": "diff patch schema context publish",
    "nanopublications": "nanopublication",
    "sharing": "branch merge follow conflicts",
    "git": "git-setup git-show git-merge",
    "signing": "sign key",
    "history": "at history changes undo forget receipt refusals compact-history erasures",
    "proposals": "proposals",
    "rejections": "reject lift rejections",
    "serving": "serve mcp instructions",
    "scopes": "scopes",
    "principals": "principals",
    "maintenance": "check rebuild verify embed optimize backup",
    "gate": "gate",
}
"""The commands of each module, in the order in which --help lists them."""


def main() -> None:
    """Run the command line; of the modules, only that of the command is imported."""
    arguments = sys.argv[1:]
    word = next((argument for argument in arguments if not argument.startswith("-")), None)
    modules = [module for module, words in COMMANDS.items() if word in words.split()]
    if not modules and arguments[:1] != ["--version"]:
        modules = [*COMMANDS]  # for the help, and for the command that a wrong one resembles
    _load(modules)
    sys.modules["kiprdf.cli.root"].main()


def __getattr__(name: str) -> Any:
    """The application with all commands, as ``app`` (PEP 562)."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _load([*COMMANDS])
    return sys.modules["kiprdf.cli.root"].app


def _load(modules: list[str]) -> None:
    load(*(f"kiprdf.cli.{module}" for module in ("root", *modules)))
