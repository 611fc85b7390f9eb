"""Who sends many wrong tokens waits; who has the right one does not."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from kiprdf import principals
from kiprdf.serve import access
from kiprdf.serve.access import MOST_ADDRESSES, Authentication
from kiprdf.serve.http import HttpError
from kiprdf.serve.options import Options
from tests.serve.running import RunningServer, serving


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, str]]:
    """A server with a short token, and the long one of a principal."""
    file = tmp_path_factory.mktemp("tokens") / "principals.toml"
    token = principals.add(file, "ada", "human", "write")
    with serving("ignored", "--memory", "--principals", str(file), KIPRDF_TOKEN="s3cret") as server:
        yield server, token


def status(server: RunningServer, token: str, address: str) -> int:
    """Of a request by way of a proxy on this machine."""
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
    return int(server.client.get("/graph?default", headers=headers).status_code)


def test_an_address_waits_after_twenty_wrong_tokens(tokens: tuple[RunningServer, str]) -> None:
    server, long = tokens
    here, there = "192.0.2.1", "192.0.2.2"
    assert status(server, "s3cret", here) == 200
    assert [status(server, f"wrong {number}", here) for number in range(20)] == [401] * 20
    for wrong in ("wrong", "x" * 100):
        headers = {"Authorization": f"Bearer {wrong}", "X-Forwarded-For": here}
        answer = server.client.get("/", headers=headers)
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 6
        error = answer.json()["error"]
        assert (error["code"], error["name"]) == ("HTTP_429", "Too Many Requests")
        assert error["message"] == "Too many wrong tokens came from this address."
        assert error["hint"] == f"Send the right token in {answer.headers['retry-after']} s."
    # It has sent this token before; nobody guesses the long one.
    assert status(server, "s3cret", here) == status(server, long, here) == 200
    assert status(server, "wrong", there) == 401
    assert status(server, "s3cret", there) == 200
    assert server.client.get("/health", headers={"X-Forwarded-For": here}).status_code == 200


def test_a_guess_that_is_right_looks_like_a_wrong_one(tokens: tuple[RunningServer, str]) -> None:
    server, _ = tokens
    for number in range(20):
        status(server, f"wrong {number}", "192.0.2.3")
    assert [status(server, token, "192.0.2.3") for token in ("s3cre", "s3cret")] == [429, 429]


def test_login_is_limited_with_the_other_requests(tokens: tuple[RunningServer, str]) -> None:
    server, long = tokens
    headers = {"X-Forwarded-For": "192.0.2.4"}

    def login(token: str, accept: str = "*/*") -> httpx.Response:
        sent = {**headers, "Accept": accept}
        return httpx.post(f"{server.address}login", data={"token": token}, headers=sent)

    assert [login("wrong").status_code for _ in range(10)] == [401] * 10
    assert [status(server, "wrong", "192.0.2.4") for _ in range(10)] == [401] * 10
    page = login("wrong", "text/html")
    assert page.status_code == 429
    assert "Too many wrong tokens came from this address. Send the right token in" in page.text
    assert "<form" in page.text
    assert int(page.headers["retry-after"]) <= 6
    assert login("s3cret").json()["error"]["code"] == "HTTP_429"
    assert login(long).status_code == 303


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    time = [1000.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: time[0])
    return time


def sent(authentication: Authentication, token: str, address: str) -> int:
    try:
        principal = authentication.of_token(token, {"client": (address, 1)})
    except HttpError as error:
        return error.status
    return 401 if principal is None else 200


def test_one_wrong_token_more_is_allowed_every_six_seconds(now: list[float]) -> None:
    authentication = Authentication(Options(token="s3cret"))

    def send(number: int, token: str = "wrong") -> list[int]:
        return [sent(authentication, token, "192.0.2.1") for _ in range(number)]

    assert send(22) == [401] * 20 + [429] * 2
    now[0] += 6
    assert send(2) == [401, 429]
    now[0] += 12
    assert send(3) == [401, 401, 429]
    now[0] += 6
    assert send(1, "s3cret") == [200]
    now[0] += 3600
    assert send(21) == [401] * 20 + [429]
    # A clock never goes back, but nothing breaks where it does.
    now[0] -= 100
    assert send(1) == [429]


@pytest.mark.parametrize(
    ("addresses", "is_one"),
    [
        (("2001:db8::1", "2001:db8::ffff:1"), True),
        (("2001:db8:0:1::1", "2001:db8:0:2::1"), False),
        (("::ffff:192.0.2.1", "192.0.2.1"), True),
        (("192.0.2.1", "192.0.2.2"), False),
        (("unix", "unix"), True),
    ],
)
def test_a_network_is_one_client(
    addresses: tuple[str, str], is_one: bool, now: list[float]
) -> None:
    authentication = Authentication(Options(token="s3cret"))
    for _ in range(20):
        assert sent(authentication, "wrong", addresses[0]) == 401
    assert sent(authentication, "wrong", addresses[1]) == (429 if is_one else 401)
    assert authentication.of_token("s3cret" * 9, {}) is None


def test_a_limited_number_of_addresses_is_remembered(now: list[float]) -> None:
    authentication = Authentication(Options(token="s3cret", read_token="r3ad"))
    for number in range(3 * MOST_ADDRESSES):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        assert sent(authentication, "wrong", address) == 401
        assert sent(authentication, "s3cret", address) == 200
    assert len(authentication._failures._over) == MOST_ADDRESSES
    assert len(authentication._accepted) == MOST_ADDRESSES
    for _ in range(20):
        sent(authentication, "wrong", "10.0.0.1")
    assert sent(authentication, "wrong", "10.0.0.1") == 429
