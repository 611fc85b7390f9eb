"""What a principal may not see is 404, as if it did not exist; what it has lost, too."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.serve.raw import raw_request
from tests.serve.scoped import ACCESS, ScopedServer, make, serving_scopes, token


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScopedServer]:
    place = tmp_path_factory.mktemp("scoped")
    make(place / "scopes")
    (place / "scopes" / "damaged").mkdir()
    (place / "scopes" / "damaged" / "nexus.json").write_text("{")
    with serving_scopes(place) as server:
        assert server.send("root", "POST", "/scopes", json={"name": "erased"}).status_code == 201
        assert server.send("root", "DELETE", "/scopes/erased").status_code == 204
        server.people("root", "/scopes/bob")
        yield server


HIDDEN = ("bob", "damaged", "erased", "never", "con", "%2e%2e", "a%2Fb", "%ff", "BOB", "x" * 300)
REQUESTS = (
    ("GET", ""),
    ("DELETE", ""),
    ("GET", "/"),
    ("PUT", "/"),
    ("GET", "/mcp"),
    ("GET", "/kip"),
    ("GET", "/page/Person/of%20bob"),
    ("GET", "/graph?default"),
    ("GET", "/explore/"),
    ("GET", "/health"),
)


def without_date(answer: str) -> str:
    return "\r\n".join(line for line in answer.split("\r\n") if not line.startswith("date: "))


@pytest.mark.parametrize(("method", "rest"), REQUESTS)
@pytest.mark.parametrize("who", ["ada", "nobody"])
def test_what_is_hidden_is_what_does_not_exist(
    scoped: ScopedServer, method: str, rest: str, who: str
) -> None:
    field = f"Authorization: Bearer {token(who)}"
    answers = {
        name: without_date(raw_request(scoped.server, method, f"/scopes/{name}{rest}", field))
        for name in HIDDEN
    }
    assert set(answers.values()) == {answers["never"]}
    assert answers["never"].startswith("HTTP/1.1 404 ")
    # A browser gets a page, which is the same, too.
    html = f"{field}\r\nAccept: text/html"
    pages = {
        without_date(raw_request(scoped.server, method, f"/scopes/{name}{rest}", html))
        for name in HIDDEN
    }
    assert len(pages) == 1
    assert ("text/html" in pages.pop()) == (method == "GET")


def test_a_write_to_what_is_hidden(scoped: ScopedServer) -> None:
    answers = [scoped.write("ada", "by ada", f"/scopes/{name}") for name in ("bob", "never")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert scoped.people("root", "/scopes/bob") == ["of bob"]


def test_the_time_of_what_is_hidden(scoped: ScopedServer) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in ("bob", "damaged", "never", "erased")}
    for _ in range(40):
        for name, times in seconds.items():
            begun = time.perf_counter()
            assert scoped.send("ada", "GET", f"/scopes/{name}/").status_code == 404
            times.append(time.perf_counter() - begun)
    least = [min(times) for times in seconds.values()]
    # Opening a folder takes 20 times as long as refusing it.
    assert max(least) < 3 * min(least), seconds


def test_hints_and_searches_know_what_is_visible_alone(scoped: ScopedServer) -> None:
    find = 'FIND(?p) WHERE { ?p {type: "Person", name: "of bop"} }'
    assert "of bob" in scoped.kip("bob", find).text
    assert "of bob" not in scoped.kip("ada", find).text
    assert "of bob" in scoped.kip("bob", 'SEARCH CONCEPT "bob"').text
    assert scoped.kip("ada", 'SEARCH CONCEPT "bob"').json()["result"] == []
    assert scoped.send("ada", "GET", "/page/Person/of%20bob").status_code == 404
    assert scoped.send("bob", "GET", "/page/Person/of%20bob").status_code == 200
    for path in ("/graph?default", "/explore/", "/explore/search?q=bob", "/.well-known/void"):
        assert "of bob" not in scoped.send("ada", "GET", path).text, path


def test_tags_and_cursors_are_of_one_reader(scoped: ScopedServer) -> None:
    tags = {
        (who, path): scoped.send(who, "GET", f"{path}/graph?default").headers["etag"]
        for who, path in (
            ("ada", ""),
            ("bob", ""),
            ("root", "/scopes/ada"),
            ("root", "/scopes/bob"),
            ("root", "/scopes/team"),
        )
    }
    assert len(set(tags.values())) == len(tags)
    for (who, path), tag in tags.items():
        sent = {"If-None-Match": tag}
        assert scoped.send(who, "GET", f"{path}/graph?default", headers=sent).status_code == 304
        others = [one for one in tags if one != (who, path)]
        for other, elsewhere in others:
            answer = scoped.send(other, "GET", f"{elsewhere}/graph?default", headers=sent)
            assert answer.status_code == 200
    page = 'FIND(?t.name) WHERE { ?t {type: "$ConceptType"} } ORDER BY ?t.name LIMIT 1'
    first = scoped.kip("ada", page).json()
    following = f'{page} CURSOR "{first["next_cursor"]}"'
    assert scoped.kip("ada", following).status_code == 200
    for asked in (
        'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name LIMIT 1',
        "DESCRIBE CONCEPT TYPES LIMIT 1",
        'EXPORT ?p WHERE { ?p {type: "Person"} } LIMIT 1',
    ):
        cursor = scoped.kip("ada", asked, "/scopes/ada").json()["next_cursor"]
        following = f'{asked} CURSOR "{cursor}"'
        assert scoped.kip("ada", following, "/scopes/ada").status_code == 200, asked
        assert scoped.kip("root", following, "/scopes/ada").status_code == 200, asked
        for who, path in (("ada", ""), ("ada", "/scopes/team"), ("bob", "/scopes/bob")):
            refused = scoped.kip(who, following, path)
            assert "The cursor belongs to another command" in refused.text, (asked, who, path)
        assert scoped.kip("bob", following, "/scopes/ada").status_code == 404

    def as_of(path: str, command: str) -> dict[str, Any]:
        params = {"command": command, "as_of": {"seq": 1}}
        call = {"method": "execute_kip", "params": params}
        answer: dict[str, Any] = scoped.send("root", "POST", f"{path}/kip", json=call).json()
        return answer

    asked = "DESCRIBE CONCEPT TYPES LIMIT 1"
    following = f'{asked} CURSOR "{as_of("/scopes/ada", asked)["next_cursor"]}"'
    assert "result" in as_of("/scopes/ada", following)
    assert "error" in as_of("/scopes/bob", following)


def test_nobody_finds_the_names_of_strangers_by_authors(scoped: ScopedServer) -> None:
    """The name of a principal is refused as that of an author, if it may be known here."""
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Q"} } } WITH METADATA { author: :author }'
    for path in ("", "/scopes/ada"):
        statuses = {
            author: scoped.kip("ada", write, path, author=author).status_code
            for author in ("bob", "root", "proposer", "alone", "never")
        }
        assert list(statuses.values()) == [403, 403, 403, 200, 200], path
    # Where the stranger is at home, his name is his.
    assert scoped.kip("bob", write, author="alone").status_code == 403


def test_without_a_scope_there_is_nothing_at_the_root(scoped: ScopedServer) -> None:
    for who in ("nobody", "root"):
        answer = scoped.kip(who, "DESCRIBE PRIMER")
        assert answer.status_code == 404
        assert "/scopes" in answer.json()["error"]["hint"]


def test_a_lost_scope_is_lost_at_the_next_request(scoped: ScopedServer) -> None:
    assert scoped.people("bob", "/scopes/team") == ["of team"]
    headers = {"Mcp-Session-Id": "of-bob", "Accept": "application/json, text/event-stream"}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "execute_kip_readonly",
            "arguments": {"command": 'SEARCH CONCEPT "of team"'},
        },
    }

    def over_mcp(path: str, who: str = "bob") -> httpx.Response:
        return scoped.send(who, "POST", f"{path}/mcp", json=call, headers=headers)

    assert "of team" in over_mcp("/scopes/team").text
    assert "Person/of team" in over_mcp("").text
    scoped.allow({**ACCESS, "bob": ("model", "write", ["bob"], "bob")})
    try:
        scoped.server.send_signal(signal.SIGHUP)
        until = time.monotonic() + 10
        while scoped.send("bob", "GET", "/scopes/team/").status_code != 404:
            assert time.monotonic() < until
        assert over_mcp("/scopes/team").status_code == 404
        assert over_mcp("").status_code == 200
        assert "Person/of team" not in over_mcp("").text
        assert scoped.people("bob") == ["of bob"]
        # The session of another is a name, and opens nothing.
        assert over_mcp("/scopes/bob", "ada").status_code == 404
        assert over_mcp("/scopes/bob").status_code == 200
    finally:
        scoped.allow(ACCESS)
        scoped.server.send_signal(signal.SIGHUP)


@pytest.mark.parametrize("path", ["/mcp", "/scopes/ada/mcp"])
def test_no_stream_outlives_its_request(scoped: ScopedServer, path: str) -> None:
    answer = scoped.send("ada", "GET", path, headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, DELETE")


def test_the_cookie_of_one_is_that_of_no_other(scoped: ScopedServer) -> None:
    with httpx.Client(base_url=scoped.server.address, timeout=60) as browser:
        browser.post("/login", data={"token": token("ada")})
        assert [cookie.path for cookie in browser.cookies.jar] == ["/"]
        statuses = {
            name: browser.get(f"/scopes/{name}/explore/").status_code
            for name in ("team", "ada", "bob", "never")
        }
    assert statuses == {"team": 200, "ada": 200, "bob": 404, "never": 404}
