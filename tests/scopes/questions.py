"""Questions of every shape, and their answers in a form in which two nexuses can be compared."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import kiprdf
from kiprdf import KipError, Nexus
from kiprdf.language import ast, parse
from kiprdf.memory import Memory
from tests.properties.choices import RandomChoices
from tests.properties.strategies import FAULTS, HOPS, QueryWriter
from tests.properties.strategies import Words as QueryWords
from tests.scopes.world import (
    CANARIES,
    HIDDEN_AUTHOR,
    HIDDEN_NAMES,
    HIDDEN_WORDS,
    NOW,
    World,
)
from tests.trust.mutations import mutated

PAGES = 4
"""How many pages of an answer are read."""
_WORDS = QueryWords(
    types=HIDDEN_WORDS.types,
    predicates=HIDDEN_WORDS.predicates,
    names=HIDDEN_WORDS.names,
    attributes=HIDDEN_WORDS.keys,
    metadata=("source", "status", "_version", "_created_at", "_updated_at", "_actor"),
    strings=("red", "wine", "znarfle", "zwombat", "a", "", HIDDEN_AUTHOR),
)
_VALUES = (1, 2.5, None, True, "red wine", "znarfle", "zwombat wine", 918273645, ["x", 1])
_CURSOR = "CURSOR :cursor"


@dataclass(frozen=True)
class Question:
    """A question; ``request`` is one of KIP, ``query`` one of SPARQL, else it is ``call``."""

    kind: str
    text: str
    request: dict[str, Any] | None = None
    query: str | None = None
    call: Callable[[Nexus], Any] | None = None

    def ask(self, nexus: Nexus) -> Any:
        """The answer of a nexus, as JSON; errors are answers."""
        if self.request is not None:
            return paged(self.request, nexus.execute_kip)
        try:
            if self.query is not None:
                return of_sparql(nexus.sparql(self.query))
            assert self.call is not None
            return plain(self.call(nexus))
        except (KipError, ValueError) as error:
            return f"{type(error).__name__}: {error}"


# Answers ------------------------------------------------------------------------------------------


def paged(request: dict[str, Any], execute: Callable[[dict[str, Any]], Any]) -> Any:
    """The response to a request, all its pages in one; rows without an order are sorted."""
    response = execute(request)
    command = _parsed(request.get("command"))
    if not isinstance(command, ast.Find | ast.Describe | ast.Export):
        return response
    rows = _rows(command, response)
    sizes = [len(rows)]
    while len(sizes) < PAGES and (cursor := response.pop("next_cursor", None)):
        text = f"{request['command']} {_CURSOR}"
        parameters = {**request.get("parameters", {}), "cursor": cursor}
        following = execute({**request, "command": text, "parameters": parameters})
        assert "error" not in following, (request, following)
        rows += _rows(command, following)
        sizes.append(len(rows))
        response["next_cursor"] = following.get("next_cursor")
    has_more = response.pop("next_cursor", None) is not None
    if not isinstance(command, ast.Find) or "result" not in response:
        return {**response, "rows": rows, "sizes": sizes, "has_more": has_more}
    del response["result"]
    if not command.order_by:
        # Which rows are on the first pages is open.
        rows = sorted(rows) if not has_more else []
    elif not _is_decided(command):
        rows = sorted(rows) if not has_more else []
    return {**response, "rows": rows, "sizes": sizes, "has_more": has_more}


def without_examples(value: Any) -> Any:
    """An answer without the examples in a hint that are of the first 100 of more rows.

    Which these are depends on the order in which a store was filled.
    """
    if isinstance(value, str):
        return re.sub(r"(Before it, \S+ is ).*?, …\.", r"\1….", value)
    if isinstance(value, dict):
        return {key: without_examples(one) for key, one in value.items()}
    return [*map(without_examples, value)] if isinstance(value, list) else value


def _parsed(text: Any) -> ast.Command | None:
    try:
        return parse(text) if isinstance(text, str) else None
    except KipError:
        return None


def _rows(command: ast.Command, response: Any) -> list[Any]:
    """The rows of an answer, each as a text that sorts."""
    result = response.get("result")
    if not isinstance(command, ast.Find):
        return result if isinstance(result, list) else [result]
    if len(command.expressions) > 1 and result and all(isinstance(one, list) for one in result):
        result = zip(*result, strict=True)
    elif not isinstance(result, list):
        result = [result]
    is_grouped = any(isinstance(one, ast.Aggregate) for one in command.expressions)
    return [json.dumps(_alike(row) if is_grouped else row, sort_keys=True) for row in result]


def _alike(value: Any) -> Any:
    """A value of a group, of which 3 and 3.0 are one."""
    if isinstance(value, list | tuple):
        return [_alike(one) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(f"{float(value):.12g}") if is_number else value


def _is_decided(command: ast.Find) -> bool:
    """Whether rows that are equal have equal keys."""
    return all(key.expression in command.expressions for key in command.order_by)


def of_sparql(answer: Any) -> Any:
    return answer if isinstance(answer, bool) else sorted(map(str, answer))


def plain(value: Any) -> Any:
    """A value of the library as JSON."""
    return json.loads(json.dumps(value, default=_shown, sort_keys=True))


def _shown(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return vars(value) if hasattr(value, "__dict__") else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# Questions ----------------------------------------------------------------------------------------


class RandomQueries(RandomChoices, QueryWriter):
    """Queries over what there is, hidden or not."""

    def __init__(self, world: World) -> None:
        super().__init__(world.choose, world.graph, _WORDS)
        self._everything = world.everything

    def value(self) -> Any:
        return self.pick(_VALUES)

    def finds(self, where: str) -> bool:
        variable = re.search(r"\?\w+", where)
        if variable is None or not self.one_in(9):
            return True
        text = f"FIND({variable[0]}) WHERE {{ {where} }} LIMIT 1"
        with suppress(KipError):
            return bool(self._everything.execute(text))
        return False


class Questions:
    """Random questions to a reader of the view of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._choose = world.choose
        self._kinds = [
            getattr(self, name) for name in vars(Questions) if name[0] != "_" and name != "of"
        ]
        self._weights = [_WEIGHTS.get(kind.__name__, 1) for kind in self._kinds]

    def __iter__(self) -> Iterator[Question]:
        while True:
            [kind] = self._choose.choices(self._kinds, self._weights)
            yield kind()

    def of(self, *kinds: str) -> Question:
        """A question of one of some kinds."""
        question: Question = getattr(self, self._choose.choice(kinds))()
        return question

    # Words ------------------------------------------------------------------------------------

    def _pick(self, *options: Any) -> Any:
        return self._choose.choice(options)

    def _name(self, names: tuple[str, ...], near: tuple[str, ...]) -> str:
        """A name; or one that is nearly that of something, hidden or not; or of nothing."""
        kind = self._choose.random()
        if kind < 0.6:
            return str(self._choose.choice(names))
        if kind < 0.95:
            return misspelt(self._choose.choice(near), self._choose)
        return "Blah"

    def _type(self) -> str:
        return self._name((*HIDDEN_WORDS.types, "Domain", "$ConceptType"), HIDDEN_WORDS.types)

    def _predicate(self) -> str:
        return self._name(HIDDEN_WORDS.predicates, HIDDEN_WORDS.predicates)

    def _concept(self) -> str:
        return self._name(HIDDEN_WORDS.names, HIDDEN_NAMES)

    def _element(self) -> str:
        """The id of an element, hidden or not, or of none."""
        graph = self._world.graph
        ids = [*graph.concepts, *graph.propositions]
        return str(self._pick(*ids, f"C:{self._type()}/{self._concept()}", "P:0123456789abcdef:x"))

    def _words(self) -> str:
        words = ("red", "wine", "znarfle", "zwombat", "beasts", "zwhimsical", "a", "things")
        words += ("peanuts", "Docker", "Zorblaxian", "Qwyzara", "znarfl", "wne", "near", "likes")
        return " ".join(self._choose.sample(words, self._choose.randint(1, 3)))

    def _find(self) -> str:
        return RandomQueries(self._world).find()

    def _request(self, kind: str, command: str, **fields: Any) -> Question:
        request = {"command": command, **fields}
        return Question(kind, _json(request), request)

    # FIND -------------------------------------------------------------------------------------

    def find(self) -> Question:
        return self._request("find", self._find())

    def count(self) -> Question:
        text = re.sub(r"^FIND\(.*?\) WHERE", "WHERE", self._find(), count=1)
        text = re.sub(r" (ORDER BY .*|LIMIT \d+)$", "", text)
        [variable, *_] = re.findall(r"\?\w+", text)
        return self._request("count", f"FIND(COUNT({variable})) {text}")

    def believed(self) -> Question:
        return self._request("believed", self._find(), view="believed")

    def faulty(self) -> Question:
        fault = self._pick(*FAULTS)
        return self._request("faulty", self._find().replace("WHERE {", f"WHERE {{ {fault} ", 1))

    def named(self) -> Question:
        """An exact or a nearly right name in each place of a FIND."""
        types, predicate, name = self._type(), self._predicate(), self._concept()
        where = self._pick(
            "?x {type: :type}",
            "?x {type: :type, name: :name}",
            "?x {name: :name}",
            "?x {id: :id}",
            "?x (id: :id)",
            "(?x, :predicate, ?y)",
            "?x {type: :type} NOT { (?x, :predicate, ?y) }",
            "?x {type: :type} OPTIONAL { (?x, :predicate, ?y) }",
            f"(?x {{type: :type, name: :name}}, :predicate{self._pick(*HOPS)}, ?y)",
            "?x {type: :type} FILTER(?x.name == :name)",
            "?x {type: :type} FILTER(?x.attributes.zkruft == :name)",
        )
        values = {"type": types, "predicate": predicate, "name": name, "id": self._element()}
        used = {key: value for key, value in values.items() if f":{key}" in where}
        what = self._pick("?x", "COUNT(?x)", "?x.name", "?x.attributes", "?x.metadata")
        return self._request("named", f"FIND({what}) WHERE {{ {where} }}", parameters=used)

    def mutated(self) -> Question:
        text = mutated(self._find(), self._choose, [self._find()])
        return self._request("mutated", text.encode(errors="replace").decode())

    def batch(self) -> Question:
        commands = [self._find(), "DESCRIBE CONCEPT TYPES", self._find()]
        # All rows of each, in an order.
        texts = [re.sub(r" (ORDER BY .*|LIMIT \d+)$", "", text) for text in commands]
        request = {"commands": [re.sub(r"^FIND\(.*?\) WHERE", self._counted, t) for t in texts]}
        return Question("batch", _json(request), request)

    def _counted(self, match: re.Match[str]) -> str:
        [variable, *_] = re.findall(r"\?\w+", match.string[match.end() :])
        return f"FIND(COUNT({variable})) WHERE"

    def dry(self) -> Question:
        return self._request("dry", self._find(), dry_run=True)

    # META -------------------------------------------------------------------------------------

    def describe(self) -> Question:
        command = self._pick(
            "PRIMER",
            "DOMAINS",
            f"CONCEPT TYPES LIMIT {self._pick(1, 5, 50)}",
            f"PROPOSITION TYPES LIMIT {self._pick(1, 5, 50)}",
            f"CONCEPT TYPE {_json(self._type())}",
            f"CONCEPT TYPE {_json(self._type())}",
            f"PROPOSITION TYPE {_json(self._predicate())}",
        )
        return self._request("describe", f"DESCRIBE {command}")

    def search(self) -> Question:
        of = self._pick("CONCEPT", "PROPOSITION")
        text = f"SEARCH {of} {_json(self._words())}"
        if self._choose.random() < 0.4:
            name = self._type() if of == "CONCEPT" else self._predicate()
            text += f" WITH TYPE {_json(name)}"
        mode = self._pick("", "", " MODE keyword", " MODE hybrid", " MODE semantic")
        return self._request("search", f"{text}{mode}{self._pick('', ' LIMIT 2', ' LIMIT 50')}")

    def export(self) -> Question:
        where = self._pick(
            f"?x {{type: {_json(self._type())}}}",
            f"?x {{name: {_json(self._concept())}}}",
            f"?x (?a, {_json(self._predicate())}, ?b)",
        )
        limit = self._pick("", f" LIMIT {self._pick(1, 2)}")
        return self._request("export", f"EXPORT ?x WHERE {{ {where} }}{limit}")

    def sparql(self) -> Question:
        words = _json(self._words())
        base = self._world.view.base_iri
        types = f"<{base}{self._type()}>"
        predicate = f"<{base}$PropositionType/{self._predicate()}>"
        text = self._pick(
            "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }",
            "SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p",
            "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }",
            f"SELECT ?s WHERE {{ ?s a {types} }}",
            f"SELECT ?s ?o WHERE {{ ?s {predicate}+ ?o }}",
            f"ASK {{ ?s {predicate} ?o }}",
            f"ASK {{ ?s ?p {words} }}",
            f"SELECT ?s WHERE {{ ?s ?p ?l FILTER(CONTAINS(STR(?l), {words})) }}",
            f"SELECT ?s WHERE {{ ?s a ?t FILTER NOT EXISTS {{ ?s {predicate} ?o }} }}",
            f"CONSTRUCT WHERE {{ ?s {predicate} ?o }}",
            f"DESCRIBE {types}",
            "SELECT ?r ?s ?p ?o WHERE { ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> "
            "<<( ?s ?p ?o )>> }",
            "SELECT (MAX(?v) AS ?m) WHERE { ?s <urn:kip:metadata/_version> ?v }",
        )
        return Question("sparql", text, query=text)

    # The library ------------------------------------------------------------------------------

    def diagnosed(self) -> Question:
        text = self._find()
        return Question("diagnosed", text, call=lambda nexus: repr(nexus.diagnose(text)))

    def explained(self) -> Question:
        text = self._find()
        return Question("explained", text, call=lambda nexus: nexus.explain(text))

    def element(self) -> Question:
        what, id = self._pick("id_of", "validity", "trust", "wikibase"), self._element()
        calls: dict[str, Callable[[Nexus], Any]] = {
            "id_of": lambda nexus: nexus.id_of(id.rpartition("/")[2]),
            "validity": lambda nexus: nexus.validity(id),
            "trust": lambda nexus: kiprdf.trust(nexus, id),
            "wikibase": lambda nexus: nexus.wikibase(),
        }
        return Question(f"element {what}", f"{what} {id}", call=calls[what])

    def document(self) -> Question:
        calls: dict[str, Callable[[Nexus], Any]] = {
            "names": lambda nexus: nexus.names(),
            "info": _info,
            "export": lambda nexus: nexus.export(),
            "snapshot": lambda nexus: nexus.snapshot(profile="rdf12"),
            "context": lambda nexus: nexus.context(),
            "schema": lambda nexus: nexus.schema(),
            "shapes": lambda nexus: nexus.shapes(),
            "provenance": lambda nexus: nexus.provenance(intervals=True),
            "instructions": lambda nexus: kiprdf.instructions(nexus),
            "short instructions": lambda nexus: kiprdf.instructions(nexus, budget_tokens=2_000),
            "rejections": lambda nexus: nexus.rejections(),
            "erasures": lambda nexus: nexus.erasures(),
            "check": _checked,
        }
        name = self._pick(*calls)
        return Question(f"document {name}", name, call=calls[name])

    def memory(self) -> Question:
        words, name = self._words(), self._concept()
        calls: dict[str, Callable[[Memory], Any]] = {
            "recall": lambda memory: re.sub("[0-9a-f]{8,}", "", str(memory.recall(words))),
            "reasons": lambda memory: memory.recall(words).reasons,
            "context": lambda memory: memory.context(words),
            "search": lambda memory: memory.search(words),
            "entity": lambda memory: memory.entity(name),
            "entities": lambda memory: sorted(map(str, memory.entities())),
            "edges": lambda memory: sorted(map(str, memory.edges())),
            "neighbors": lambda memory: sorted(map(str, memory.neighbors(name))),
            "items": lambda memory: sorted(str(item) for item in memory.items()),
            "stats": lambda memory: memory.stats(),
            "contradictions": lambda memory: memory.contradictions(),
        }
        what = self._pick(*calls)
        return Question(
            f"memory {what}",
            f"{what} {words} {name}",
            call=lambda nexus: calls[what](Memory(nexus, clock=lambda: NOW)),
        )


_WEIGHTS = {"find": 12, "count": 4, "named": 8, "search": 6, "describe": 4, "believed": 3}
_WEIGHTS |= {"mutated": 3, "export": 2, "memory": 3, "document": 1, "diagnosed": 2}


def _info(nexus: Nexus) -> Any:
    about = nexus.info()
    return {key: about[key] for key in about if key not in ("commit", "read_only", "history")}


def _checked(nexus: Nexus) -> Any:
    report = nexus.check()
    return {key: report[key] for key in report if key not in ("commit", "history")}


def misspelt(name: str, choose: random.Random) -> str:
    """A name that differs in a letter or in its case, and has no canary in it."""
    at = choose.randrange(1, len(name))
    near = choose.choice(
        (
            name[:at] + name[at + 1 :],
            name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            name.swapcase(),
            name.lower(),
            f"{name[:at]}x{name[at + 1 :]}",
        )
    )
    return near if near != name and not any(one in near for one in CANARIES) else name[:-1]
