"""All ways of writing into a nexus, each of which tries to write some metadata."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import rdflib

import kiprdf.serve
from kiprdf import KipError, Nexus, chunks, principals
from kiprdf.memory import Memory
from kiprdf.memory.functions import MemoryFunctions

Claim: TypeAlias = dict[str, Any]
"""Metadata that a writer gives."""
Way: TypeAlias = Callable[[Nexus, Claim], Any]

BOB, META = "urn:kip:nexus/Person/Bob", "urn:kip:metadata/"
IS_BOB = '{type: "Person", name: "Bob"}'
IS_EVE = '{type: "Person", name: "Eve"}'
KNOWS = f'?l ({IS_BOB}, "knows", {IS_EVE})'
SETUP = f"""
UPSERT {{
  CONCEPT ?eve {{ {IS_EVE} SET ATTRIBUTES {{ city: "Rome" }} }}
  CONCEPT {{ {IS_BOB} SET ATTRIBUTES {{ city: "Paris" }} SET PROPOSITIONS {{ ("knows", ?eve) }} }}
}}
"""


def literal(claim: Claim) -> str:
    """Metadata as KML writes them."""
    return "{ " + ", ".join(f"{key}: {json.dumps(value)}" for key, value in claim.items()) + " }"


def turtle(value: Any) -> list[str]:
    """Texts and numbers in N-Triples."""
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    values = value if isinstance(value, list) else [value]
    return [json.dumps(one) if isinstance(one, str) else f'"{one}"{integer}' for one in values]


def run(text: str) -> Way:
    """A statement in which CLAIM stands for the metadata."""
    return lambda nexus, claim: nexus.execute(text.replace("CLAIM", literal(claim)))


def capsule(nexus: Nexus, claim: Claim) -> None:
    nexus.apply_capsule(
        f"UPSERT {{ CONCEPT {{ {IS_BOB} SET ATTRIBUTES {{ city: 1 }} }} }}"
        f" WITH METADATA {literal(claim)}"
    )


def transaction(nexus: Nexus, claim: Claim) -> None:
    update = f"UPDATE ?p SET METADATA {literal(claim)} WHERE {{ ?p {IS_BOB} }}"
    nexus.transaction(lambda tx: tx.execute(update))


def elements(nexus: Nexus, claim: Claim) -> None:
    bob = {"type": "Person", "name": "Bob", "attributes": {"city": 1}, "metadata": claim}
    nexus.transaction(lambda tx: tx.write([bob]))


def element_of_a_link(nexus: Nexus, claim: Claim) -> None:
    ends = ({"type": "Person", "name": name} for name in ("Bob", "Eve"))
    subject, object_ = ends
    link = {"subject": subject, "predicate": "knows", "object": object_, "metadata": claim}
    nexus.transaction(lambda tx: tx.write([link]))


def import_option(nexus: Nexus, claim: Claim) -> None:
    data = '<urn:x:bob> a <urn:x:Person> ; <http://www.w3.org/2000/01/rdf-schema#label> "Bob" .'
    nexus.import_rdf(data, define=True, metadata=claim)


def rdf_of_ours(claim: Claim) -> str:
    """A document in our own vocabulary, as a snapshot has it."""
    rows = "".join(
        f"<{BOB}> <{META}{key}> {one} .\n" for key, value in claim.items() for one in turtle(value)
    )
    return f"<{BOB}> a <urn:kip:nexus/$ConceptType/Person> .\n{rows}"


def import_of_ours(nexus: Nexus, claim: Claim) -> None:
    nexus.import_rdf(rdf_of_ours(claim), define=True, base_iri="urn:kip:nexus/")


def import_of_annotations(nexus: Nexus, claim: Claim) -> None:
    """A fact with annotations, of which a mapping may make metadata."""
    vocabulary = {key: {"@id": f"urn:x:{key}"} for key in claim}
    mapping = {"@context": {"metadata": {"@id": "@nest"}, **vocabulary}}
    rows = "".join(f" ; <urn:x:{key}> {', '.join(turtle(value))}" for key, value in claim.items())
    nexus.import_rdf(
        f"<{BOB}> <urn:kip:nexus/$PropositionType/knows> <urn:kip:nexus/Person/Eve> .\n"
        "[] a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement> ;"
        f" <http://www.w3.org/1999/02/22-rdf-syntax-ns#subject> <{BOB}> ;"
        " <http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate>"
        " <urn:kip:nexus/$PropositionType/knows> ;"
        " <http://www.w3.org/1999/02/22-rdf-syntax-ns#object> <urn:kip:nexus/Person/Eve>"
        f"{rows} .",
        define=True,
        mapping=mapping,
    )


def import_of_graph(nexus: Nexus, claim: Claim) -> None:
    graph = rdflib.Graph().parse(data=rdf_of_ours(claim), format="turtle")
    nexus.import_rdf(graph, define=True)


def ontology(nexus: Nexus, claim: Claim) -> None:
    name = "Lake" + "".join(claim).replace("_", "")
    data = (
        f"<urn:x:{name}> a <http://www.w3.org/2002/07/owl#Class> . "
        f"<urn:x:feeds{name}> a <http://www.w3.org/2002/07/owl#ObjectProperty> ; "
        f"<http://www.w3.org/2000/01/rdf-schema#domain> <urn:x:{name}> ."
    )
    nexus.import_ontology(data, metadata=claim)


def patch(nexus: Nexus, claim: Claim) -> None:
    """The triples of a patch that sets them, instead of those that are there."""
    stored: list[str] = []
    for key in claim:
        rows = nexus.sparql(f"SELECT ?v WHERE {{ <{BOB}> <{META}{key}> ?v }}")
        assert not isinstance(rows, bool)
        stored += [f"D <{BOB}> <{META}{key}> {row['v']} .\n" for row in rows]
    json_ = "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>"
    added = [
        f"A <{BOB}> <{META}{key}> "
        + (
            f"{json.dumps(json.dumps(value))}{json_}"
            if isinstance(value, list)
            else turtle(value)[0]
        )
        + " .\n"
        for key, value in claim.items()
    ]
    nexus.apply_patch("".join([*stored, *added]))


def restore(nexus: Nexus, claim: Claim) -> None:
    """A snapshot of another nexus, in which the owner of that wrote what is claimed."""
    allowed = {key: value for key, value in claim.items() if not key.startswith("_")}
    other = Nexus.memory()
    other.execute(SETUP)
    run(f"UPDATE ?p SET METADATA CLAIM WHERE {{ ?p {IS_BOB} }}")(other, allowed)
    nexus.restore(other.snapshot())


def undo(nexus: Nexus, claim: Claim) -> None:
    """Delete what says nothing of the kind; what is restored says nothing of it either."""
    nexus.execute(f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {IS_BOB} }}")
    nexus.undo(seq=nexus.info()["commit"])


def rules(nexus: Nexus, claim: Claim) -> None:
    """A rule that writes the claim as properties, and as the context."""
    given = "; ".join(f"{key} {json.dumps(value).strip('[]')}" for key, value in claim.items())
    rule = (
        "start {} => Person {@module memory; @do put; @id Bob; city 7; " + given + "; "
        "@context human/ada}, start {@do clear}"
    )
    engine = chunks.Engine(rule, modules={"memory": nexus})
    engine.goal("start {}")
    engine.run()


def memory_edge(nexus: Nexus, claim: Claim) -> None:
    memory = Memory(nexus)
    user, tool = memory.upsert_entity("user", "Primary User"), memory.upsert_entity("tool", "Zed")
    memory.upsert_edge(user, "uses", tool, 0.5, claim)


def memory_entity(nexus: Nexus, claim: Claim) -> None:
    Memory(nexus).upsert_entity("tool", "Zed", claim)


def memory_notes(nexus: Nexus, claim: Claim) -> None:
    """Notes in which another person speaks."""
    memory = Memory(nexus)
    memory.add(f"I use Vim. {claim}", speaker="human/ada", session="human/ada", tags=["reviewed"])
    messages = [{"role": "user", "name": "ada", "content": f"I use Zed. {claim}", **claim}]
    memory.add_messages(messages, session="ada")


def memory_import(nexus: Nexus, claim: Claim) -> None:
    other = Memory(Nexus.memory())
    other.add("I use Helix.", id="m1")
    document = other.export()
    for edge in document["edges"]:
        edge |= claim
        edge["evidence"] |= claim
    for entity in document["entities"]:
        entity |= {key: value for key, value in claim.items() if key not in entity}
        entity["metadata"] = claim
    Memory(nexus).import_(document, merge=True)


def remember(nexus: Nexus, claim: Claim) -> None:
    functions = MemoryFunctions(nexus)
    answer = functions.call("remember", {"text": f"I use Zed. {claim}", "speaker": "ada"})
    assert "result" in answer, answer
    raise_of(functions.call("remember", {"text": "I use Vim.", **claim}))


def request(nexus: Nexus, claim: Claim) -> None:
    update = f"UPDATE ?p SET METADATA {literal(claim)} WHERE {{ ?p {IS_BOB} }}"
    raise_of(nexus.execute_kip({"command": update}))


def over_http(nexus: Nexus, claim: Claim) -> None:
    """A request with the token of a model to an application with a file of principals."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "principals.toml"
        token = principals.add(file, "claude", "model", "write")
        application = kiprdf.serve.app(nexus, principals=file)
        update = f"UPDATE ?p SET METADATA {literal(claim)} WHERE {{ ?p {IS_BOB} }}"
        call = {"method": "execute_kip", "params": {"command": update}}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return await http.post(
                    "/kip", json=call, headers={"Authorization": f"Bearer {token}"}
                )

        raise_of(asyncio.run(send()).json())


def batch(nexus: Nexus, claim: Claim) -> None:
    update = f"UPDATE ?p SET METADATA {{ note: :claim }} WHERE {{ ?p {IS_BOB} }}"
    upsert = f"UPSERT {{ CONCEPT {{ {IS_BOB} }} }} WITH METADATA {literal(claim)}"
    answer = nexus.execute_kip({"commands": [update, upsert], "parameters": {"claim": claim}})
    for each in (answer, *(answer.get("result") or ())):
        raise_of(each)


def raise_of(answer: Any) -> None:
    """Raise the error of a response."""
    if isinstance(answer, dict) and "error" in answer:
        error = answer["error"]
        raise KipError(error["code"], error["message"], error.get("hint"))


WAYS: dict[str, Way] = {
    "UPSERT": run(f"UPSERT {{ CONCEPT {{ {IS_BOB} }} }} WITH METADATA CLAIM"),
    "UPSERT of a value": run(
        f"UPSERT {{ CONCEPT {{ {IS_BOB} SET ATTRIBUTES {{ city: 1 }} }} WITH METADATA CLAIM }}"
    ),
    "UPSERT of a new concept": run(
        'UPSERT { CONCEPT { {type: "Person", name: "New"} } WITH METADATA CLAIM }'
    ),
    "UPSERT of a fact": run(
        f'UPSERT {{ PROPOSITION {{ ({IS_BOB}, "knows", {IS_EVE}) }} WITH METADATA CLAIM }}'
    ),
    "UPSERT of a new fact": run(
        f"UPSERT {{ CONCEPT ?eve {{ {IS_EVE} }} CONCEPT {{ {IS_BOB} SET PROPOSITIONS "
        '{ ("collaborates_with", ?eve) WITH METADATA CLAIM } } }'
    ),
    "UPDATE": run(f"UPDATE ?p SET METADATA CLAIM WHERE {{ ?p {IS_BOB} }}"),
    "UPDATE of a fact": run(f"UPDATE ?l SET METADATA CLAIM WHERE {{ {KNOWS} }}"),
    "capsule": capsule,
    "transaction": transaction,
    "elements": elements,
    "element of a link": element_of_a_link,
    "import with metadata": import_option,
    "import of our vocabulary": import_of_ours,
    "import of annotations": import_of_annotations,
    "import of a graph": import_of_graph,
    "ontology": ontology,
    "patch": patch,
    "restore": restore,
    "undo": undo,
    "rules": rules,
    "edge of a memory": memory_edge,
    "entity of a memory": memory_entity,
    "notes": memory_notes,
    "import of a memory": memory_import,
    "remember": remember,
    "request": request,
    "batch": batch,
    "HTTP": over_http,
}
