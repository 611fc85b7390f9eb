"""An OpenTelemetry span for each request, if the SDK is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Scope

# Without the sdk nothing is recorded, and the import alone would take long.
IS_INSTALLED = find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None
if IS_INSTALLED:
    from opentelemetry import propagate, trace

_ATTRIBUTES = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "rows": "kiprdf.rows",
    "commit": "kiprdf.commit",
}


@contextmanager
def request_span(scope: Scope) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """The span of a request, below that of its client; call the result with what was answered.

    It has no values: neither the path nor the statement.
    """
    if not IS_INSTALLED:
        yield lambda fields: None
        return
    context = propagate.extract(Headers(scope=scope))
    tracer = trace.get_tracer("kiprdf")
    with tracer.start_as_current_span("HTTP", context, trace.SpanKind.SERVER) as span:

        def describe(fields: Mapping[str, Any]) -> None:
            span.update_name(f"{fields['method']} {fields['route']}")
            for name, attribute in _ATTRIBUTES.items():
                if fields[name] is not None:
                    span.set_attribute(attribute, fields[name])
            if fields["status"] >= 500:
                span.set_status(trace.StatusCode.ERROR)

        yield describe
