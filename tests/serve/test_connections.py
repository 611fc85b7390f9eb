"""Which connection makes room for a new one."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field

import pytest

from kiprdf.serve import connections
from kiprdf.serve.connections import Connections, most_connections


@dataclass(eq=False)
class Opened:
    """A connection of an address."""

    address: str
    is_waiting: bool = True
    is_closed: bool = field(default=False, init=False)

    def close(self) -> None:
        self.is_closed = True


def added(limited: Connections, *addresses: str, is_waiting: bool = True) -> list[Opened]:
    opened = [Opened(address, is_waiting) for address in addresses]
    for one in opened:
        assert limited.add(one)
    return opened


def test_the_oldest_of_the_address_with_most_makes_room() -> None:
    limited = Connections(4)
    first, *many = added(limited, "127.0.0.1", "10.0.0.1", "127.0.0.2", "127.0.0.2")
    (new,) = added(limited, "10.0.0.2")
    assert [one.is_closed for one in (first, *many, new)] == [False, False, True, False, False]
    assert len(limited) == 4


def test_one_address_has_half_and_closes_its_own() -> None:
    limited = Connections(4)
    first, second, third = added(limited, "10.0.0.1", "10.0.0.1", "10.0.0.1")
    assert (first.is_closed, second.is_closed, third.is_closed) == (True, False, False)
    assert len(limited) == 2


def test_this_machine_may_have_all() -> None:
    limited = Connections(4)
    local = added(limited, *["127.0.0.1", "::1"] * 2)
    assert not any(one.is_closed for one in local)


def test_a_connection_that_has_sent_a_request_is_the_newest_again() -> None:
    limited = Connections(2)
    first, second = added(limited, "127.0.0.1", "127.0.0.1")
    limited.renew(first)
    added(limited, "127.0.0.1")
    assert (first.is_closed, second.is_closed) == (False, True)


def test_one_with_a_running_request_is_never_closed() -> None:
    limited = Connections(2)
    running = added(limited, "127.0.0.1", "127.0.0.1", is_waiting=False)
    for number in range(connections.SPARE):
        assert not limited.add(Opened("127.0.0.1", is_waiting=False))
        assert not limited.is_full(), number
    assert not limited.add(Opened("127.0.0.1"))
    assert limited.is_full()
    assert not any(one.is_closed for one in running)


def test_a_closed_one_makes_room() -> None:
    limited = Connections(2)
    first, second = added(limited, "127.0.0.1", "127.0.0.1")
    limited.remove(first)
    added(limited, "127.0.0.1")
    assert not second.is_closed


@pytest.mark.parametrize(
    ("limit", "least", "most"),
    [(40, 16, 16), (256, 100, 192), (1024, 700, 960), (100_000, 1000, 1000)],
)
def test_the_number_leaves_descriptors_for_files(
    monkeypatch: pytest.MonkeyPatch, limit: int, least: int, most: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
    assert least <= most_connections() <= most
