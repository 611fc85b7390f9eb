"""Spans of OpenTelemetry, collected in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

import kiprdf.serve
from tests.nexus.support import medical

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_each_request_is_one_span_without_values(spans: InMemorySpanExporter) -> None:
    nexus = medical()
    client = TestClient(kiprdf.serve.app(nexus), base_url="http://localhost")
    command = 'FIND(?d.name) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    call = {"method": "execute_kip", "params": {"command": command}}
    client.post("/kip", json=call, headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
    client.get("/data/Drug/Aspirin")
    client.get("/secret")
    answered, document, missing = spans.get_finished_spans()
    commit = nexus.info()["commit"]
    assert [span.name for span in (answered, document, missing)] == [
        "POST /kip",
        "GET /data",
        "GET other",
    ]
    assert answered.attributes == {
        "http.request.method": "POST",
        "http.route": "/kip",
        "http.response.status_code": 200,
        "kiprdf.rows": 1,
        "kiprdf.commit": commit,
    }
    assert answered.kind is trace.SpanKind.SERVER
    assert f"{answered.context.trace_id:032x}" == TRACE
    assert missing.attributes["http.response.status_code"] == 404
    assert not any(
        word in span.to_json()
        for span in spans.get_finished_spans()
        for word in ("Aspirin", "secret")
    )
