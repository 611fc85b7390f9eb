"""The entry points of a nexus, each with a generator of inputs.

An entry point may answer an input, or raise a KIP error other than KIP_4003, or a ``StoreError``.
Afterwards the nexus is sound.
"""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import kiprdf
from kiprdf import Budget, KipError, StoreError
from kiprdf.errors import ERROR_CODES
from tests.nexus.support import medical, restored
from tests.trust import corpus
from tests.trust.mutations import mutated, value

BUDGET = Budget(timeout_s=2.0, max_rows=50_000, max_product_rows=200_000, max_hops_rows=200_000)
ALLOWED_CODES = frozenset(ERROR_CODES) - {"KIP_4003"}
ROUND = 100
"""The number of inputs for one nexus; reproducing a failure needs at most these."""


class EntryPoint(ABC):
    """One way in. ``enter`` raises when something happens that is not allowed."""

    def begin(self) -> None:
        """A new round begins, on a new nexus."""
        self.nexus = medical(genesis=True, budget=BUDGET)

    @abstractmethod
    def draw(self, random: Random) -> Any:
        """An input; the same state of ``random`` gives the same one."""

    @abstractmethod
    def enter(self, given: Any) -> None: ...

    def end(self) -> None:
        """A round ends."""
        require_sound(self.nexus)


def require_sound(nexus: kiprdf.Nexus) -> None:
    report = nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound"), report


def require_answer(response: Any) -> None:
    """A response of KIP 6.2, in JSON that every reader takes."""
    json.dumps(response, allow_nan=False, ensure_ascii=False).encode()
    if isinstance(response.get("result"), list) and "error" not in response:
        for inner in response["result"]:
            if isinstance(inner, dict) and "error" in inner:
                require_allowed_code(inner)
    if "error" in response:
        require_allowed_code(response)
    else:
        assert "result" in response, response


def require_allowed_code(response: dict[str, Any]) -> None:
    error = response["error"]
    if isinstance(error, dict) and "code" in error:
        assert error["code"] in ALLOWED_CODES, error


def refusal(call: Callable[[], Any]) -> KipError | None:
    """The KIP error that a call ends with, if it does; a ``StoreError`` is as good as none."""
    try:
        call()
    except KipError as error:
        return error
    except StoreError:
        pass
    return None


class Commands(EntryPoint):
    """Commands with parameters, right and wrong ones."""

    def draw(self, random: Random) -> dict[str, Any]:
        text = random.choice(corpus.commands())
        if random.random() < 0.8:
            text = mutated(text, random, corpus.commands())
        request: dict[str, Any] = {"command": text, "dry_run": random.random() < 0.2}
        if random.random() < 0.5:
            given = dict(random.choice(corpus.parameters()))
            for name in (*given, "p"):
                if random.random() < 0.5:
                    given[name] = value(random, corpus.terms())
            request["parameters"] = given
        return request

    def enter(self, given: Any) -> None:
        require_answer(self.nexus.execute_kip(given))


class Requests(EntryPoint):
    """What is hardly a request: wrong kinds, wrong keys, batches of anything."""

    def draw(self, random: Random) -> Any:
        texts = corpus.commands()
        if random.random() < 0.1:
            return value(random, texts)
        names = ("command", "commands", "parameters", "dry_run", "function", "x", 1, None)
        chosen = random.sample(names, random.randrange(1, 4))
        request = {name: value(random, texts) for name in chosen}
        if "commands" in request and random.random() < 0.8:
            request["commands"] = [self._item(random) for _ in range(random.choice((0, 1, 3, 257)))]
            request.pop("command", None)
        return request

    def _item(self, random: Random) -> Any:
        text = random.choice(corpus.commands())
        if random.random() < 0.5:
            return text
        return {"command": text, "parameters": value(random, corpus.terms())}

    def enter(self, given: Any) -> None:
        require_answer(self.nexus.execute_kip(given))
        require_answer(self.nexus.execute_kip_readonly(given))


class Text(EntryPoint):
    """An entry point that reads a string and raises."""

    texts: Sequence[str] = ()

    def draw(self, random: Random) -> Any:
        return mutated(random.choice(self.texts), random, self.texts)

    def enter(self, given: Any) -> None:
        error = refusal(lambda: self.call(given))
        assert error is None or error.code in ALLOWED_CODES, error
        str(error).encode("utf-8", "surrogatepass")

    @abstractmethod
    def call(self, given: Any) -> None: ...


class Capsules(Text):
    def __init__(self) -> None:
        self.texts = corpus.capsules()

    def call(self, given: str) -> None:
        # A text without a brace or a line is a path.
        self.nexus.apply_capsule(given + "\n")


class Queries(Text):
    def __init__(self) -> None:
        self.texts = corpus.queries()

    def call(self, given: str) -> None:
        self.nexus.sparql(given)


class Terms(EntryPoint):
    """The text index, by way of SEARCH and of names."""

    def draw(self, random: Random) -> Any:
        terms = corpus.terms()
        text = random.choice(terms)
        return mutated(text, random, terms) if random.random() < 0.8 else text

    def enter(self, given: str) -> None:
        for kind in ("CONCEPT", "PROPOSITION"):
            command = f"SEARCH {kind} :term LIMIT 5"
            require_answer(
                self.nexus.execute_kip({"command": command, "parameters": {"term": given}})
            )
        command = (
            'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { note: :name } } }'
        )
        require_answer(self.nexus.execute_kip({"command": command, "parameters": {"name": given}}))


class Documents(Text):
    """Documents with a format, as texts and as bytes."""

    documents: Sequence[tuple[Any, str]] = ()

    def draw(self, random: Random) -> Any:
        format, text = random.choice(self.documents)
        others = [other for named, other in self.documents if named == format]
        content: str | bytes = mutated(text, random, others)
        if random.random() < 0.2:
            format = random.choice(corpus.FORMATS)
        if random.random() < 0.3:
            encoding = random.choice(("utf-8", "utf-8", "utf-16", "utf-8-sig", "utf-32"))
            content = content.encode(encoding, "surrogatepass")
        return format, content


class Restored(Documents):
    """Snapshots, each into a new nexus; the restored content is sound and is exported unchanged."""

    def __init__(self) -> None:
        self.documents = corpus.snapshots()

    def begin(self) -> None:
        pass

    def call(self, given: Any) -> None:
        format, content = given
        nexus = kiprdf.Nexus.memory(genesis=False)
        try:
            nexus.restore(_open(content), format=format, base_iri=_base(content))
        except KipError:
            assert nexus.info()["commit"] == 0
            raise
        require_sound(nexus)
        assert restored(nexus).snapshot() == nexus.snapshot()

    def end(self) -> None:
        pass


class Compared(Restored):
    """Snapshots compared with a nexus."""

    def __init__(self) -> None:
        self.documents = [("turtle", text) for name, text in corpus.snapshots() if name == "turtle"]

    def begin(self) -> None:
        self.nexus = medical(budget=BUDGET)

    def call(self, given: Any) -> None:
        difference = self.nexus.diff(_open(given[1]))
        difference.text()
        difference.to_json()


class Imported(Documents):
    """Foreign data and ontologies."""

    def __init__(self) -> None:
        self.documents = corpus.foreign()

    def draw(self, random: Random) -> Any:
        return (*super().draw(random), random.random() < 0.3, random.random() < 0.7)

    def call(self, given: Any) -> None:
        format, content, as_ontology, define = given
        if as_ontology:
            self.nexus.import_ontology(_open(content), format=format)
        else:
            self.nexus.import_rdf(
                _open(content), format=format, define=define, default_type="Thing",
                mapping=("foaf", "skos"), base_iri="https://example.org/",
            )  # fmt: skip


def _open(content: str | bytes) -> Any:
    """An open file, since a text without a line could be a path."""
    return io.BytesIO(content) if isinstance(content, bytes) else io.StringIO(content)


def _base(content: str | bytes) -> str | None:
    """The base, for the many texts that have lost it."""
    shown = content if isinstance(content, str) else content.decode("utf-8", "ignore")
    return None if "kiprdf 1" in shown[:200] else corpus.BASE


ENTRY_POINTS: dict[str, type[EntryPoint]] = {
    "commands": Commands,
    "requests": Requests,
    "capsules": Capsules,
    "queries": Queries,
    "terms": Terms,
    "restored": Restored,
    "compared": Compared,
    "imported": Imported,
}
