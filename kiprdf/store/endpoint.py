"""The SPARQL 1.1 protocol: queries and updates of one store over HTTP."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode, urljoin

from pyoxigraph import (
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from kiprdf import budget
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, StoreError
from kiprdf.sparql import requests
from kiprdf.store.base import SIMPLE, Request, Row, Solutions
from kiprdf.store.cancellation import CancellationToken, run_cancellable
from kiprdf.store.http import Auth, EndpointFault, HttpClient, Response, shown_url
from kiprdf.store.sparql_worker import SparqlAnswer

RESULTS = "application/sparql-results+json"
_TABLE = "text/tab-separated-values"
TABLE = f"{_TABLE}, {RESULTS};q=0.5"
"""Accepts rows as a table. It may be cut between two rows: the reader must know the last one."""
_TRIPLES = "application/n-triples, text/turtle;q=0.5"
_FORMATS = {"application/n-triples": RdfFormat.N_TRIPLES, "text/turtle": RdfFormat.TURTLE}
_FORM = "application/x-www-form-urlencoded"
_NESTED = (b"<<(", b")>>", b"<<(")
_NESTED_IN_JSON = (b"{", b"}", b'"triple"')
"""What opens and closes a triple term, and what only triple terms have."""
_SHOWN = 300
"""The most characters of an answer that an error quotes."""
_READ_AT_ONCE = 1 << 16
_MOST_NESTED = 500
"""Triple terms within each other; of some thousand, the stack of the parser overflows."""
_TOO_LARGE = re.compile(
    r"SQ156|SR325|SR483|too (large|long|many(?! requests))|nesting depth|memory exhausted"
    "|out of memory|heap space",
    re.IGNORECASE,
)
"""What engines write about a request that is beyond a limit of theirs."""

_LOG_LIMIT = "SR325"
"""What Virtuoso writes where a transaction is beyond its TransactionAfterImageLimit."""

_DEADLOCK = "SR172"
"""What Virtuoso writes where it gave a query up for an update; it is sent again."""
LONGEST_PAUSE_S = 1.0

ReadRows: TypeAlias = Callable[[Iterable[Iterable[Any]]], Iterator[Row]]
"""Converts rows from the spelling of the store."""
_tuples: ReadRows = partial(map, tuple)


@dataclass(frozen=True)
class Dataset:
    """The graphs that a query reads: its default graph, and those that GRAPH can name.

    Without any, the store decides.
    """

    default: NamedNode | None = None
    named: tuple[NamedNode, ...] = ()

    def parameters(self) -> list[tuple[str, str]]:
        """The dataset as parameters of the protocol."""
        default = [] if self.default is None else [("default-graph-uri", self.default.value)]
        return default + [("named-graph-uri", graph.value) for graph in self.named]


WHOLE = Dataset()


class Endpoint:
    """A query URL, and an update URL unless the store is only read; safe to use from threads.

    ``uses_forms``: requests are sent as forms, which some engines need. Every failure raises
    ``EndpointFault``, with one sentence that names the URL.
    """

    def __init__(
        self,
        query_url: str,
        update_url: str | None = None,
        auth: Auth = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._queries = HttpClient(query_url, auth, headers)
        self._updates = None if update_url is None else HttpClient(update_url, auth, headers)
        self.uses_forms = False
        self.server = ""
        """What the last answer says in its header Server."""

    @property
    def url(self) -> str:
        """The query URL, without what may be secret in it."""
        return self._queries.url

    def close(self) -> None:
        """Close the connections."""
        self._queries.close()
        if self._updates is not None:
            self._updates.close()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"

    # Queries ----------------------------------------------------------------------------------

    def select(
        self,
        query: str,
        dataset: Dataset = WHOLE,
        request: Request = SIMPLE,
        *,
        read: ReadRows = _tuples,
        accept: str = RESULTS,
    ) -> Solutions:
        """The solutions of a SELECT; ``accept`` is ``RESULTS`` or ``TABLE``."""
        answer = self.query(query, dataset, request, read=read, accept=accept)
        if not isinstance(answer, Solutions):
            raise EndpointFault(
                f"{self.url} answered a SELECT without rows: check that it is a SPARQL query URL."
            )
        names = requests.columns(query)
        if names and list(answer.names) != names:
            received = ", ".join(answer.names)[:_SHOWN]
            raise EndpointFault(
                f"{self.url} answered another query: its columns are {received or 'none'}, "
                f"not {', '.join(names)}."
            )
        return answer

    def construct(self, query: str, dataset: Dataset = WHOLE) -> list[Triple]:
        """The triples of a CONSTRUCT."""
        answer = self.query(query, dataset, accept=_TRIPLES)
        if not isinstance(answer, list):
            raise EndpointFault(
                f"{self.url} answered a CONSTRUCT without triples: check that it is a SPARQL query "
                "URL."
            )
        return answer

    def query(
        self,
        query: str,
        dataset: Dataset = WHOLE,
        request: Request = SIMPLE,
        *,
        read: ReadRows = _tuples,
        accept: str = RESULTS,
    ) -> SparqlAnswer:
        """The answer to any query: solutions or a boolean, or triples if they are accepted.

        It is read within the budget of the running request. Virtuoso answers CONSTRUCT as it does
        SELECT where both media types are accepted.
        """
        pause = 0.02
        while True:
            try:
                return self._answer(query, dataset, request, read, accept)
            except EndpointFault as fault:
                spending = budget.current()
                if fault.is_timeout and spending is not None:
                    raise spending.expired() from None
                if _DEADLOCK not in str(fault) or pause > LONGEST_PAUSE_S:
                    raise
            time.sleep(pause)
            pause *= 2

    def _answer(
        self, query: str, dataset: Dataset, request: Request, read: ReadRows, accept: str
    ) -> SparqlAnswer:
        with self._sent(self._queries, "query", query, dataset.parameters(), accept) as response:
            kind = response.headers.get_content_type()
            if kind in _FORMATS:
                return list(self._parsed_triples(response, _FORMATS[kind]))
            if kind == _TABLE and accept == TABLE:
                format = QueryResultsFormat.TSV
            elif kind in (RESULTS, "application/json"):  # some engines send plain JSON
                format = QueryResultsFormat.JSON
            else:
                raise self._no_results(response)
            try:
                return self._fetched(response, format, request, read)
            except (SyntaxError, ValueError, MemoryError) as fault:
                message = f"The answer of {self.url} is not a SPARQL result: {fault}."
                raise EndpointFault(message) from None

    def _fetched(
        self, response: Response, format: QueryResultsFormat, request: Request, read: ReadRows
    ) -> SparqlAnswer:
        def parse(token: CancellationToken) -> SparqlAnswer:
            results = parse_query_results(self._body(response, format), format=format)
            if isinstance(results, QueryBoolean):
                return bool(results)
            assert isinstance(results, QuerySolutions)
            names = tuple(variable.value for variable in results.variables)
            return Solutions(names, token.fetch_all(read(results), request))

        # Iterators of the engine must end on the thread that made them, after a failure too.
        return run_cancellable(parse, budget.current(), threaded=False)

    def _parsed_triples(self, response: Response, format: RdfFormat) -> Iterator[Triple]:
        try:
            for quad in budget.paced(parse(self._body(response, format), format=format)):
                yield quad.triple
        except SyntaxError as fault:
            message = f"The answer of {self.url} is not RDF: {fault}."
            raise EndpointFault(message) from None

    def _body(
        self, response: Response, format: QueryResultsFormat | RdfFormat
    ) -> io.BufferedReader:
        """The body of an answer for the parsers, which read two kilobytes at a time."""
        return io.BufferedReader(_Body(response.read, self.url, format), _READ_AT_ONCE)

    def _no_results(self, response: Response) -> EndpointFault:
        kind = response.headers.get_content_type()
        begin = _excerpt(response, 60)
        what = f"is {kind}, not a SPARQL result" + (f': "{begin}"' if begin else "")
        return EndpointFault(f"The answer of {self.url} {what}.", status=response.status)

    # Updates ----------------------------------------------------------------------------------

    def update(self, update: str) -> str:
        """Send one update request, and return the begin of the store's answer to it."""
        if self._updates is None:
            raise StoreError("The nexus is open read-only.")
        with self._sent(self._updates, "update", update, [], "*/*") as response:
            begin = _excerpt(response, 60)
            while response.read(_READ_AT_ONCE):
                pass
        return f'{response.status} {response.headers.get_content_type()} "{begin}"'

    def not_carried_out(self, answer: str) -> EndpointFault:
        """The error for an update that the store accepted, with an answer, and did not run."""
        assert self._updates is not None
        url = self._updates.url
        fault = EndpointFault(f"{url} accepts updates, but does not carry them out: {answer}.")
        fault.hint = "Read what the command writes before you send it again: it may come later."
        return fault

    # Both -------------------------------------------------------------------------------------

    @contextmanager
    def _sent(
        self,
        client: HttpClient,
        operation: str,
        text: str,
        parameters: Sequence[tuple[str, str]],
        accept: str,
    ) -> Iterator[Response]:
        """The answer to a query or an update, if it is one."""
        headers = {"Accept": accept}
        if self.uses_forms:
            headers["Content-Type"] = _FORM
            body, query = urlencode([(operation, text), *parameters]).encode(), ""
        else:
            headers["Content-Type"] = f"application/sparql-{operation}; charset=utf-8"
            body, query = text.encode(), urlencode(parameters, quote_via=quote)
        response = client.post(body, headers, query)
        try:
            self.server = response.headers.get("Server", self.server)
            if not 200 <= response.status < 300:
                raise _refusal(client.url, operation, response)
            coding = response.headers.get("Content-Encoding", "identity")
            if operation == "query" and coding.lower() != "identity":
                what = f"is encoded as {coding}, which was not requested"
                message = f"The answer of {client.url} {what}."
                raise EndpointFault(message)
            yield response
        finally:
            response.end()


class _Body(io.RawIOBase):
    """The body of an answer as a file for the parsers.

    Raises ``EndpointFault`` for triple terms that would crash them, and for a table whose last line
    was cut, which they do not notice.
    """

    def __init__(
        self, read: Callable[[int], bytes], url: str, format: QueryResultsFormat | RdfFormat
    ) -> None:
        self._read = read
        self._url = url
        self._nested = _NESTED_IN_JSON if format == QueryResultsFormat.JSON else _NESTED
        self._open = self._triple_terms = 0
        self._is_table = self._ends_within_line = format == QueryResultsFormat.TSV

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        (self._check_table if self._is_table else self._check_nesting)(data)
        buffer[: len(data)] = data
        return len(data)

    def _check_table(self, data: bytes) -> None:
        if data:
            self._ends_within_line = not data.endswith(b"\n")
        elif self._ends_within_line:
            raise EndpointFault(f"The answer of {self._url} is incomplete.")

    def _check_nesting(self, data: bytes) -> None:
        opening, closing, sign = self._nested
        self._open += data.count(opening) - data.count(closing)
        self._triple_terms += data.count(sign)
        if min(self._open, self._triple_terms) > _MOST_NESTED:
            raise EndpointFault(f"The answer of {self._url} nests triple terms too deeply.")


def _refusal(url: str, operation: str, response: Response) -> Exception:
    """The error for an answer with another status than success."""
    status = response.status
    reason = _excerpt(response, _SHOWN)
    quoted = f": {reason}" if reason else ""
    if status == 401:
        message = f"{url} rejects the credentials (401): give auth=(user, password) or a token."
    elif status == 403:
        message = f"{url} does not allow this {operation} (403){quoted}"
    elif 300 <= status < 400:
        target = response.headers.get("Location", "")
        message = f"{url} redirects without a target ({status}): check the URL."
        if target:
            with suppress(ValueError):
                target = urljoin(url, target)
            place = shown_url(target)[:_SHOWN]
            message = f"{url} redirects to {place} ({status}): connect with that URL."
    elif status in (413, 414, 431) or (status >= 400 and _TOO_LARGE.search(reason)):
        hint = "Split the command, or ask for less at once."
        if _LOG_LIMIT in reason:
            hint = (
                "Write less at once, or raise TransactionAfterImageLimit in the section Parameters "
                "of virtuoso.ini, and restart Virtuoso: it counts up to 250 bytes for a triple."
            )
        message = f"The store at {url} refused this {operation} as too large: {reason or status}"
        return KipError("KIP_4002", message, hint)
    elif status < 500:
        message = f"{url} refused the {operation} ({status}){quoted}"
    else:
        message = f"The store at {url} failed ({status}){quoted}"
    may_have_run = (status >= 500 or status == 408) and operation == "update"
    fault = EndpointFault(message, status=status, may_have_run=may_have_run)
    if 300 <= status < 500 and status not in (408, 429):
        fault.hint = "Check the URL, the credentials and the rights at the store."
    return fault


def _excerpt(response: Response, most: int) -> str:
    """The begin of an answer in one line, without control characters."""
    data = b""
    while len(data) < 4 * most and (block := response.read(4 * most)):
        data += block
    text = re.sub(r"[\s\x00-\x1f\x7f]+", " ", data.decode("utf-8", "replace")).strip()
    return text[:most] + ("…" if len(text) > most else "")
