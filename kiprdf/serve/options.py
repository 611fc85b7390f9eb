"""The options of a server, checked."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import field
from secrets import token_urlsafe
from urllib.parse import urlsplit

from kiprdf.dataclasses import dataclass
from kiprdf.principals import Principal, PrincipalsFile, with_token
from kiprdf.protocol import LEAST_CHARS, MAX_CHARS

_WITH_PORT = re.compile(r"(\[[^]]*\]|[^:]*):[0-9]*")
MCP = Principal("mcp", "model", "write")
"""The client of MCP that needs no token."""
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Options:
    """The arguments of ``kiprdf.serve.app``; raises ``ValueError`` for those that are unusable."""

    token: str | None = None
    read_token: str | None = None
    read_only: bool = False
    base_url: str | None = None
    title: str | None = None
    max_body: int = 2_097_152
    allow_hosts: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    explorer: bool = True
    mcp: bool = True
    host: str = "127.0.0.1"
    principals: str | os.PathLike[str] | None = None
    mcp_as: Principal = MCP
    mcp_max_chars: int = MAX_CHARS
    mib: bool = False
    local_token: str = field(init=False, repr=False, default_factory=token_urlsafe)
    """Lets clients of MCP in that have read it in the folder."""
    file: PrincipalsFile | None = field(init=False, default=None)
    """What ``principals`` names."""

    def __post_init__(self) -> None:
        for name in ("allow_hosts", "cors"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("token", "read_token"):
            token = getattr(self, name)
            if token is not None and not token.strip():
                raise ValueError(f"The {name.replace('_', ' ')} is empty.")
        if self.token is not None and self.token == self.read_token:
            raise ValueError("The token and the read token are equal.")
        if self.principals is not None:
            object.__setattr__(self, "file", PrincipalsFile(self.principals))
        listed = () if self.file is None else self.file.principals()
        for given in (self.token, self.read_token):
            if given is not None and (other := with_token(given, listed)) is not None:
                raise ValueError(f"A token is that of the principal {other.name!r}, too.")
        if self.mcp_max_chars < LEAST_CHARS:
            raise ValueError(f"The most characters of an answer are at least {LEAST_CHARS}.")
        if self.base_url is not None and urlsplit(self.base_url).scheme not in ("http", "https"):
            raise ValueError("The base URL begins with http:// or https://.")

    @property
    def has_token(self) -> bool:
        return any(given is not None for given in (self.token, self.read_token, self.principals))

    @property
    def public_path(self) -> str:
        """The path of the public address, without a final slash."""
        return urlsplit(self.base_url or "").path.rstrip("/")

    def is_own_origin(self, origin: str, headers: Mapping[str, str]) -> bool:
        """Whether a page of this server sends a request, whose header ``Origin`` is given."""
        parts = urlsplit(origin)
        own = {headers.get("host", "").lower()}
        if self.base_url is not None:
            own.add(urlsplit(self.base_url).netloc.lower())
        return parts.scheme in ("http", "https") and parts.netloc.lower() in own

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def hosts(self) -> frozenset[str] | None:
        """The names that ``Host`` may have, without ports; None if all are allowed.

        The addresses of this machine are not among them: ``is_own_address``.
        """
        allowed = {host_name(name) for name in self.allow_hosts}
        if self.base_url is not None:
            allowed.add(host_name(urlsplit(self.base_url).netloc))
        allowed |= LOOPBACK_NAMES | {_bracketed(self.host)}
        if self.is_loopback:
            return frozenset(allowed)
        return None if self.has_token else frozenset(allowed | _own_names())


def is_loopback(host: str) -> bool:
    """Whether a host to bind is only reached from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_own_address(host: str) -> bool:
    """Whether a host is an address of this machine, so that a socket can be bound to it.

    >>> is_own_address("127.0.0.1"), is_own_address("[::]"), is_own_address("localhost")
    (True, True, False)
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        with socket.socket(family) as own:
            own.bind((str(address), 0))
    except (OSError, ValueError):
        return False
    return True


def _own_names() -> set[str]:
    """The names of this machine, as other machines of its network may write them."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return {name, short, f"{short}.local", socket.getfqdn().lower()}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


def host_name(host: str) -> str:
    """A host without its port, in lower case.

    Anything but digits after the colon is no port, and stays.

    >>> host_name("Example.org:8080"), host_name("[::1]:80"), host_name("localhost:x.org")
    ('example.org', '[::1]', 'localhost:x.org')
    """
    match = _WITH_PORT.fullmatch(host)
    return (host if match is None else match[1]).lower()
