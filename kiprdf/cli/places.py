"""The place of the nexus of a command: a folder, or a SPARQL store."""

from __future__ import annotations

import os
import re
from typing import Any

from kiprdf.budget import Budget
from kiprdf.cli.failures import Failure
from kiprdf.cli.options import given
from kiprdf.errors import KipError, StoreError
from kiprdf.nexus import Nexus
from kiprdf.search import Embedder

AUTH = "KIPRDF_AUTH"
"""The environment variable with ``user:password``, or a token."""


def is_url(place: str) -> bool:
    """Whether a nexus is in a store, not in a folder.

    >>> is_url("http://127.0.0.1:3030/ds/query"), is_url("brain")
    (True, False)
    """
    return re.match(r"https?://", place, re.IGNORECASE) is not None


def is_only_read(place: str) -> bool:
    """Whether a nexus is in a store, to which the running command has no URL for updates."""
    return is_url(place) and "update_url" not in given()


def connect(
    url: str,
    *,
    writes: bool,
    embedder: Embedder | None,
    **arguments: Any,
) -> Nexus:
    """The nexus in the store at a URL, with the options of the running command."""
    options = given()
    if options.pop("sync", None) is not None:
        raise Failure(f"--sync belongs to a folder, and {url} is a store.")
    update_url = options.pop("update_url", None)
    if writes and update_url is None:
        raise Failure(f"The nexus at {url} is only read without --update-url.")
    auth: Any = os.environ.get(AUTH) or None
    if auth is not None and ":" in auth:
        auth = tuple(auth.split(":", 1))
    try:
        return Nexus.connect(
            url,
            update_url,
            auth=auth,
            read_only=not writes and update_url is not None,
            embedder=embedder,
            **options,
            **arguments,
        )
    except (KipError, StoreError) as error:
        try:
            server = served(url, os.environ.get("KIPRDF_TOKEN"), arguments.get("budget"))
        except (KipError, StoreError):
            raise error from None
        if server is None:
            raise
    raise Failure(
        f"{url} is a kiprdf server, not a SPARQL store: send commands to it by POST /kip; "
        "--nexus with its address is for forget, import, optimize, compact-history and backup."
    )


def served(place: str, token: str | None, budget: Budget | None = None) -> Any:
    """The nexus of the kiprdf server at a URL; None for a folder, and for a SPARQL store.

    The time of ``budget`` is how long the server may take to say what it is.
    """
    if not is_url(place):
        return None
    # HTTP takes long to load.
    from kiprdf.cli.served import nexus_at

    return nexus_at(place, token, budget)


def options_of(folder: str) -> dict[str, Any]:
    """The options of a folder that is opened; raises ``Failure`` for those of stores."""
    options = given()
    sync = options.pop("sync", None)
    if options:
        option = f"--{next(iter(options)).replace('_', '-')}"
        raise Failure(f"{option} belongs to a store, and {folder} is a folder.")
    return {} if sync is None else {"sync": sync.value}
