"""HTTP to a SPARQL endpoint: what it sends, and one error for each answer that is none."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import socket
import threading
import time
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.budget import Budget, Cancellation, cancellable, spend
from kiprdf.errors import KipError, StoreError
from kiprdf.store.endpoint import TABLE, Dataset, Endpoint
from kiprdf.store.http import EndpointFault
from tests.store.answering import RESULTS, Reply, Request, answering, rows

QUERY = "SELECT ?x WHERE { ?x ?y ?z }"


def test_a_query_is_one_post_with_its_dataset_as_parameters() -> None:
    with answering(lambda request: rows("x", "a", "b")) as server:
        dataset = Dataset(NamedNode("urn:g"), (NamedNode("urn:h&i"),))
        solutions = Endpoint(server.url).select(QUERY, dataset)
    assert solutions.names == ("x",)
    assert solutions.rows == [(Literal("a"),), (Literal("b"),)]
    (request,) = server.requests
    assert request.path == "/ds?default-graph-uri=urn%3Ag&named-graph-uri=urn%3Ah%26i"
    assert request.body == QUERY.encode()
    assert request.headers["Content-Type"] == "application/sparql-query; charset=utf-8"


def test_a_form_has_the_query_and_its_dataset() -> None:
    with answering(lambda request: rows("x")) as server:
        endpoint = Endpoint(server.url)
        endpoint.uses_forms = True
        endpoint.select("SELECT ?x { ?x ?y 'ä&' }", Dataset(NamedNode("urn:g")))
    (request,) = server.requests
    assert request.body == (
        b"query=SELECT+%3Fx+%7B+%3Fx+%3Fy+%27%C3%A4%26%27+%7D&default-graph-uri=urn%3Ag"
    )


def test_connections_are_kept_alive() -> None:
    with answering(lambda request: rows("x", "a")) as server:
        endpoint = Endpoint(server.url, server.url)
        for _ in range(5):
            endpoint.select(QUERY)
        assert len(server.clients) == 1
        endpoint.update("CLEAR DEFAULT")
        endpoint.update("CLEAR DEFAULT")
    assert len(server.clients) == 2


SECRET = "s3cr:t"


def test_user_and_password_are_sent_as_basic() -> None:
    with answering(lambda request: rows("x")) as server:
        Endpoint(server.url, auth=("me", SECRET)).select(QUERY)
        Endpoint(server.url.replace("//", "//me:s3cr%3At@")).select(QUERY)
        Endpoint(server.url, auth="token").select(QUERY)
    sent = [request.headers["Authorization"] for request in server.requests]
    assert sent == ["Basic bWU6czNjcjp0", "Basic bWU6czNjcjp0", "Bearer token"]


def _digest(request: Request) -> Reply:
    """The reply of a server that lets ``me`` in, by digest only."""
    header = request.headers.get("Authorization", "")
    if not header.startswith("Digest "):
        challenge = 'Digest realm="store", nonce="n1", qop="auth", algorithm=SHA-256, opaque="o"'
        return Reply(401, b"who?", {"WWW-Authenticate": challenge})
    fields = dict(re.findall(r'(\w+)="?([^",]+)', header))

    def hashed(*parts: str) -> str:
        return hashlib.sha256(":".join(parts).encode()).hexdigest()

    secret, asked = hashed("me", "store", SECRET), hashed("POST", request.path)
    parts = (fields["nonce"], fields["nc"], fields["cnonce"], fields["qop"])
    right = fields["response"] == hashed(secret, *parts, asked) and fields["opaque"] == "o"
    return rows("x", "in") if right else Reply(401, b"no", {"WWW-Authenticate": 'Digest nonce="m"'})


def test_digest_is_sent_once_a_server_asks_for_it() -> None:
    with answering(_digest) as server:
        endpoint = Endpoint(server.url, auth=("me", SECRET))
        for _ in range(2):
            assert endpoint.select(QUERY, Dataset(NamedNode("urn:g"))).rows == [(Literal("in"),)]
        assert len(server.requests) == 3
        with pytest.raises(EndpointFault, match="rejects the credentials"):
            Endpoint(server.url, auth=("me", "wrong")).select(QUERY)
        assert len(server.requests) == 5


def test_triples_come_in_two_formats() -> None:
    construct = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    triple = Triple(NamedNode("urn:a"), NamedNode("urn:b"), Literal("é"))
    for kind, text in (
        ("application/n-triples", '<urn:a> <urn:b> "\\u00E9" .'),
        ("text/turtle; charset=utf-8", '@prefix u: <urn:> . u:a u:b "é" .'),
    ):
        reply = Reply(200, text.encode(), {"Content-Type": kind})
        with answering(lambda request, reply=reply: reply) as server:
            assert Endpoint(server.url).construct(construct) == [triple]
    fault = pytest.raises(EndpointFault, match="answered a CONSTRUCT without triples")
    with answering(lambda request: rows("x")) as server, fault:
        Endpoint(server.url).construct(construct)


def test_rows_come_as_a_table_where_it_is_accepted() -> None:
    replies = {TABLE: _table(b"?x\n<urn:a>\n\n12\n"), RESULTS: rows("x", "a")}
    with answering(lambda request: replies[request.headers["Accept"]]) as server:
        endpoint = Endpoint(server.url)
        assert endpoint.select(QUERY, accept=TABLE).rows == [
            (NamedNode("urn:a"),),
            (None,),
            (Literal(12),),
        ]
        assert endpoint.select(QUERY).rows == [(Literal("a"),)]
        # Texts may look like triple terms.
        replies[TABLE] = _table(b"?x\n" + b'"<<(<<(<<("\n' * 1_000)
        assert len(endpoint.select(QUERY, accept=TABLE).rows) == 1_000
        # A store may have no other format.
        replies[TABLE] = rows("x", "b")
        assert endpoint.select(QUERY, accept=TABLE).rows == [(Literal("b"),)]
        # Without a last row that is known, nothing would show that some are missing.
        replies[RESULTS] = _table(b"?x\n<urn:a>\n")
        with pytest.raises(EndpointFault, match="is text/tab-separated-values, not a SPARQL resu"):
            endpoint.select(QUERY)


def test_a_table_whose_last_line_is_cut_is_one_sentence() -> None:
    table = b'?x\n"a"\n12\n'
    for size in range(len(table)):
        if size and table[size - 1 : size] == b"\n":
            continue
        with (
            answering(lambda request, size=size: _table(table[:size])) as server,
            pytest.raises(EndpointFault, match=r"is incomplete|is not a SPARQL result"),
        ):
            Endpoint(server.url).select(QUERY, accept=TABLE)


def test_a_server_that_was_restarted_gets_its_new_nonce() -> None:
    """It says nothing of a stale nonce, as its first challenge does not."""
    nonces = ["n1"]

    def reply(request: Request) -> Reply:
        nonce = nonces[-1]
        if f'nonce="{nonce}"' in request.headers.get("Authorization", ""):
            return rows("x", "in")
        return Reply(401, b"who?", {"WWW-Authenticate": f'Digest realm="store", nonce="{nonce}"'})

    with answering(reply) as server:
        endpoint = Endpoint(server.url, auth=("me", SECRET))
        assert endpoint.select(QUERY).rows == [(Literal("in"),)]
        nonces.append("n2")
        assert endpoint.select(QUERY).rows == [(Literal("in"),)]


def _reply(status: int, body: bytes = b"", **headers: str) -> Reply:
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _table(body: bytes) -> Reply:
    return _reply(200, body, Content_Type="text/tab-separated-values; charset=utf-8")


HTML = b"<html><body>Please   log\nin</body></html>"
HALF = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"a"}}'
ANSWERS: dict[str, tuple[Reply, str]] = {
    "html": (
        _reply(200, HTML, Content_Type="text/html; charset=utf-8"),
        'The answer of {url} is text/html, not a SPARQL result: "<html><body>Please log in'
        '</body></html>".',
    ),
    "half": (
        _reply(200, HALF, Content_Type=RESULTS),
        "The answer of {url} is not a SPARQL result: Parser error at line 1 column 83: Array "
        "values must be followed by a comma to add a new value or a squared bracket to end the "
        "array (line 1).",
    ),
    "cut": (
        Reply(200, HALF, {"Content-Type": RESULTS}, len(HALF) + 100),
        "The answer of {url} is incomplete.",
    ),
    "redirect to a path": (
        _reply(303, b"", Location="ds2"),
        "{url} redirects to {url}2 (303): connect with that URL.",
    ),
    "redirect to nothing": (_reply(302), "{url} redirects without a target (302): check the URL."),
    "redirect": (
        _reply(302, b"", Location="https://me:pw@elsewhere.example/login?token=1"),
        "{url} redirects to https://elsewhere.example/login (302): connect with that URL.",
    ),
    "unauthorized": (
        _reply(401, b"no"),
        "{url} rejects the credentials (401): give auth=(user, password) or a token.",
    ),
    "forbidden": (_reply(403, b"not\nyou"), "{url} does not allow this query (403): not you"),
    "refused": (
        _reply(400, b"syntax error at ?x"),
        "{url} refused the query (400): syntax error at ?x",
    ),
    "failed": (_reply(500, b"oh\x00no"), "The store at {url} failed (500): oh no"),
    "busy": (_reply(503), "The store at {url} failed (503)"),
    "compressed": (
        _reply(200, gzip.compress(b"{}"), Content_Type=RESULTS, Content_Encoding="gzip"),
        "The answer of {url} is encoded as gzip, which was not requested.",
    ),
    "endless text": (
        _reply(200, HALF.partition(b'a"')[0] + 17_000_000 * b"a", Content_Type=RESULTS),
        "The answer of {url} is not a SPARQL result: Reached the buffer maximal size of 16777216.",
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_that_is_none_is_one_sentence(case: str) -> None:
    reply, message = ANSWERS[case]
    with answering(lambda request: reply) as server, pytest.raises(EndpointFault) as caught:
        Endpoint(server.url, auth=("me", SECRET)).select(QUERY)
    assert str(caught.value) == message.format(url=server.url)
    assert not caught.value.may_have_run or case in ("cut", "half", "html")


def test_a_request_beyond_a_limit_of_the_engine_is_kip_4002() -> None:
    text = b"Virtuoso 37000 Error SP031: SPARQL compiler: nesting depth of SPARQL"
    with answering(lambda request: Reply(500, text)) as server, pytest.raises(KipError) as caught:
        Endpoint(server.url).select(QUERY)
    assert caught.value.code == "KIP_4002"
    assert "SP031" in caught.value.message


def test_a_query_that_virtuoso_gave_up_for_an_update_is_sent_again() -> None:
    text = b"Virtuoso 40001 Error SR172: Transaction deadlocked"
    replies = iter((Reply(500, text), Reply(500, text), rows("x", "7")))
    with answering(lambda request: next(replies)) as server:
        answer = Endpoint(server.url).select("SELECT ?x WHERE { }")
    assert len(answer.rows) == 1


def test_the_limit_of_a_transaction_of_virtuoso_is_named() -> None:
    text = b"Virtuoso 40005 Error SR325: Transaction aborted because it's log after image size"
    with answering(lambda request: Reply(500, text)) as server, pytest.raises(KipError) as caught:
        Endpoint(server.url, server.url).update("CLEAR ALL")
    assert caught.value.code == "KIP_4002"
    assert "TransactionAfterImageLimit" in str(caught.value.hint)


def test_a_slow_server_costs_no_more_than_the_budget() -> None:
    def slow(request: Request) -> Reply:
        time.sleep(1.5)
        return rows("x")

    with answering(slow) as server:
        endpoint = Endpoint(server.url, server.url)
        begun = time.monotonic()
        with pytest.raises(KipError, match="KIP_4001"):
            spend(Budget(timeout_s=0.2), lambda: endpoint.select(QUERY))
        with pytest.raises(EndpointFault, match="did not answer in time") as caught:
            spend(Budget(timeout_s=0.2), lambda: endpoint.update("CLEAR ALL"))
        assert time.monotonic() - begun < 1.2
    assert caught.value.is_timeout
    assert caught.value.may_have_run


def test_a_header_that_never_ends_costs_no_more_than_the_budget() -> None:
    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + 1_000 * b"a":
                connection.sendall(bytes([byte]))
                time.sleep(0.01)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/ds")
        begun = time.monotonic()
        with pytest.raises(KipError, match="KIP_4001"):
            spend(Budget(timeout_s=0.2), lambda: endpoint.select(QUERY))
        assert time.monotonic() - begun < 1.2
        thread.join()


def test_a_cancelled_request_ends_at_once() -> None:
    cancellation = Cancellation()

    def reply(request: Request) -> Reply:
        cancellation.cancel()
        time.sleep(1.5)
        return rows("x")

    with answering(reply) as server:
        endpoint = Endpoint(server.url)
        begun = time.monotonic()
        with pytest.raises(KipError, match="KIP_4001 The request was cancelled"):
            cancellable(cancellation, lambda: spend(Budget(), lambda: endpoint.select(QUERY)))
        assert time.monotonic() - begun < 1.2


def test_a_connection_that_was_closed_meanwhile_is_replaced() -> None:
    """A server that closes without a word, after the client has looked."""
    listener = socket.create_server(("127.0.0.1", 0))
    answer = rows("x", "1").body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {RESULTS}\r\nContent-Length: {len(answer)}\r\n\r\n"
    served: list[bytes] = []

    def serve() -> None:
        for _ in range(3):
            connection, _ = listener.accept()
            with connection:
                served.append(connection.recv(65536))
                connection.sendall(head.encode() + answer)
                # The next request has arrived when the connection ends.
                connection.recv(65536)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/ds")
        for _ in range(3):
            assert len(endpoint.select("SELECT ?x WHERE { }").rows) == 1
        endpoint.close()
        thread.join(10)
    assert len(served) == 3


def test_a_redirect_to_nowhere_is_one_sentence() -> None:
    with (
        answering(lambda request: Reply(302, b"", {"Location": "http://[::bad"})) as server,
        pytest.raises(EndpointFault) as caught,
    ):
        Endpoint(server.url).select("SELECT ?x WHERE { }")
    assert "redirects to http://[::bad (302)" in str(caught.value)


def test_triple_terms_that_are_nested_without_end_are_one_sentence() -> None:
    json = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":'
    json += '{"type":"triple","value":{"subject":' * 20_000
    terms = "<<( <urn:s> <urn:p> " * 20_000
    n_triples = f"<urn:s> <urn:p> {terms}<urn:o>{' )>>' * 20_000} .\n"
    for kind, body in ((RESULTS, json), ("application/n-triples", n_triples)):
        reply = Reply(200, body.encode(), {"Content-Type": kind})
        with (
            answering(lambda request, reply=reply: reply) as server,
            pytest.raises(EndpointFault, match="nests triple terms too deeply"),
        ):
            Endpoint(server.url).query(QUERY)


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/ds"
    with pytest.raises(EndpointFault) as caught:
        Endpoint(url, auth=("me", SECRET)).select(QUERY)
    assert str(caught.value) == f"The store at {url} cannot be reached: the connection was refused."
    assert not caught.value.may_have_run


def test_no_secret_is_shown() -> None:
    endpoint = Endpoint("http://me:pa55@kb.example/ds?key=s3cret", auth="t0ken")
    assert repr(endpoint) == "Endpoint('http://kb.example/ds')"
    assert not {"pa55", "s3cret", "t0ken"} & set(re.findall(r"\w+", repr(vars(endpoint))))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "scheme": ({"query_url": "ftp://me:pw@kb.example/"}, "'ftp://kb.example/' is not an HTTP URL."),
    "port": ({"query_url": "http://kb.example:x/"}, "'http://kb.example:x/' is not an HTTP URL."),
    "no scheme": ({"query_url": "me:s3cret@kb.example/"}, "'kb.example/' is not an HTTP URL."),
    "password": (
        {"query_url": "http://me:s3/cret@kb.example/"},
        "'http://kb.example/' is not an HTTP URL.",
    ),
    "no text": (
        {"query_url": "http://kb.example/", "update_url": b"x"},
        "\"b'x'\" is not an HTTP URL.",
    ),
    "own header": (
        {"query_url": "http://kb.example/", "headers": {"Connection": "close"}},
        "The header Connection is set by kiprdf: leave it out.",
    ),
    "wide header": (
        {"query_url": "http://kb.example/", "headers": {"X": "\u20ac"}},
        "The header X has a value that is not allowed in HTTP.",
    ),
    "space": (
        {"query_url": "http://kb.example/a b"},
        "'http://kb.example/a b' has a character that is not allowed in a URL.",
    ),
    "header": (
        {"query_url": "http://kb.example/", "headers": {"X": "a\r\nY: s3cret"}},
        "The header X has a value that is not allowed in HTTP.",
    ),
    "token": (
        {"query_url": "http://kb.example/", "auth": "s3cret\n"},
        "The token in auth has a character that is not allowed in HTTP.",
    ),
    "pair": (
        {"query_url": "http://kb.example/", "auth": ("me",)},
        "auth must be a pair of user and password, or a token.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_before_anything_is_sent(case: str) -> None:
    arguments, message = WRONG[case]
    with pytest.raises(StoreError) as caught:
        Endpoint(**arguments)
    assert str(caught.value) == message
