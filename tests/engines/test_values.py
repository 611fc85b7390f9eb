"""Each value that replaces another is read back as it was written, on each engine."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from kiprdf import Nexus
from tests.engines.conftest import NAMES
from tests.engines.servers import Engine

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _typed(text: str, datatype: str) -> dict[str, str]:
    return {"@value": text, "@type": datatype}


def _tagged(text: str, **more: str) -> dict[str, str]:
    return {"@value": text, **{f"@{key}": value for key, value in more.items()}}


VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308,
    2**53 + 1, float(2**53 + 2), 2**63 - 1, -(2**63), 123456789.123456789,
    "", " ", "0", "1", "1.0", "true", "null", "a", "A", "a ", "é", "e\u0301", "\U0001f34e",
    "\u0000", "a\r\nb", "a\nb", "\ufffe\uffff", "\\ \" ' ?x } #", "x" * 5_000, "x" * 4_999 + "y",
    [], {}, [1], [1.0], [True], ["a", None, {"k": ["\U0001f34e"]}],
    _tagged("a", language="en"), _tagged("a", language="de-ch"), _tagged("", language="en"),
    _tagged("é", language="de"), _tagged("\U0001f34e", language="zh-hant-tw"),
    _tagged("a", language="en", direction="rtl"), _tagged("a", language="en", direction="ltr"),
    _typed("1", XSD + "decimal"), _typed("1.0", XSD + "decimal"), _typed("01", XSD + "integer"),
    _typed("1", XSD + "boolean"), _typed("1", XSD + "float"), _typed("1", XSD + "double"),
    _typed("2020-01-01", XSD + "date"), _typed("2020-01-01T00:00:00Z", XSD + "dateTime"),
    _typed("2020-01-01T01:00:00+01:00", XSD + "dateTime"), _typed("2020", XSD + "gYear"),
    _typed("P1D", XSD + "duration"), _typed("PT24H", XSD + "dayTimeDuration"),
    _typed("a", XSD + "anyURI"), _typed("0fb7", XSD + "hexBinary"), _typed("a", XSD + "token"),
    _typed("<b/>", RDF + "XMLLiteral"), _typed("<b></b>", RDF + "XMLLiteral"),
    _typed("<b>", RDF + "HTML"), _typed("a", "urn:kb:own"), _typed("1", "urn:kb:own"),
)  # fmt: skip


def _write(nexus: Nexus, before: bool) -> None:
    """An item for each value that comes first, with a key for each that replaces it."""
    rows = [
        {
            "name": str(number),
            **{f"k{key}": value if before else other for key, other in enumerate(VALUES)},
        }
        for number, value in enumerate(VALUES)
    ]
    for row in rows:
        name = row.pop("name")
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Item", name: :name} SET ATTRIBUTES :values } }',
            name=name,
            values=row,
        )


def _read(nexus: Nexus) -> list[str]:
    """The attributes of the items by number, as JSON."""
    names, attributes = nexus.execute(
        'FIND(?i.name, ?i.attributes) WHERE { ?i {type: "Item"} } ORDER BY ?i.name'
    )
    by_name = dict(zip(names, attributes, strict=True))
    return [json.dumps(by_name[str(number)], sort_keys=True) for number in range(len(VALUES))]


def test_every_value_replaces_every_other(engine: Engine) -> None:
    if NAMES not in os.environ and engine.name != "oxigraph":
        pytest.skip(f"{engine.name} runs with {NAMES}={engine.name}")
    with Nexus.connect(**engine.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }')
        _write(nexus, before=True)
        keys = range(len(VALUES))
        assert _read(nexus) == [
            json.dumps({f"k{key}": value for key in keys}, sort_keys=True) for value in VALUES
        ]
        _write(nexus, before=False)
    after = json.dumps({f"k{key}": other for key, other in enumerate(VALUES)}, sort_keys=True)
    with Nexus.connect(**engine.arguments) as nexus:
        assert _read(nexus) == [after] * len(VALUES)


def test_a_text_keeps_the_zeros_at_its_end(engine: Engine) -> None:
    texts = [
        "é\u0000",
        "\u0000é\u0000\u0000",
        _tagged("\U0001f34e\u0000", language="ja"),
        "a\u0000",
    ]
    values = {f"k{number}": text for number, text in enumerate(texts)}
    find = 'FIND(?i.attributes) WHERE { ?i {type: "Item", name: "a"} }'
    with Nexus.connect(**engine.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }')
        for row in (values, dict.fromkeys(values, "b")):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "Item", name: "a"} SET ATTRIBUTES :values } }',
                values=row,
            )
            with Nexus.connect(**engine.arguments) as other:
                assert other.execute(find) == [row]


def test_a_long_name_is_kept_or_refused(engine: Engine) -> None:
    """Each character of the name takes nine bytes of its IRI."""
    upsert = 'UPSERT { CONCEPT { {type: "Item", name: :name} } }'
    with Nexus.connect(**engine.arguments) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Item"} } }')
        nexus.execute(upsert, name="中" * 200)
        answer = nexus.execute_kip({"command": upsert, "parameters": {"name": "中" * 700 + "a"}})
        names = nexus.execute('FIND(?i.name) WHERE { ?i {type: "Item"} }')
        assert nexus.check()["faults"] == []
    if engine.name == "virtuoso":
        assert answer["error"]["code"] == "KIP_4002"
        assert "keeps at most 1900" in answer["error"]["message"]
        assert names == ["中" * 200]
    else:
        assert set(names) == {"中" * 200, "中" * 700 + "a"}
