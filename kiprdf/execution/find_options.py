"""What a FIND sees of a nexus: what is believed at a moment, and what follows from the definitions
(docs/decisions/208)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kiprdf.errors import KipError
from kiprdf.kql.beliefs import Moment, not_a_find
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast
from kiprdf.source import NOWHERE, Span
from kiprdf.store import NexusStore
from kiprdf.store.view import ViewStore
from kiprdf.trees import walk

ENTAIL = "entail"
"""The record of the default, the option and the field of requests."""
_VALUES: dict[str, Entail] = {"true": True, "same_as": "same_as"}


class FindOptions(NamedTuple):
    """What a command sees. ``given`` is the option of the call, ``entail`` that or the default."""

    moment: Moment | None
    given: Entail | None
    entail: Entail

    @property
    def is_asked(self) -> bool:
        """Whether the call asks for what only a FIND can see; a default asks nothing."""
        return self.moment is not None or bool(self.given)

    def check(self, command: ast.Command, parameters: Mapping[str, Any]) -> None:
        """Raise KIP_1001 for another command that asks for this, and for an option that may have
        been meant as a parameter."""
        if not isinstance(command, ast.Find):
            if self.moment is not None:
                raise not_a_find(command)
            if self.given:
                raise _not_a_find(command.span)
        if self.given is None or ENTAIL in parameters:
            return
        for part in walk(command):
            if isinstance(part, ast.Placeholder) and part.name == ENTAIL:
                message = "`entail` is an option, and the placeholder :entail has no parameter."
                hint = "Give the placeholder and its parameter another name."
                raise KipError("KIP_1001", message, hint, part.span)


def refuse_entail(command: object, parameters: Mapping[str, Any]) -> None:
    """Raise KIP_1001 for the option where there is none; it would be a parameter without effect.

    >>> refuse_entail("FIND(?p) WHERE { ?p {name: :entail} }", {"entail": "Ada"})
    """
    if ENTAIL in parameters and f":{ENTAIL}" not in str(command):
        raise _not_a_find()


def _not_a_find(span: Span = NOWHERE) -> KipError:
    message = "Only a FIND can be asked for what follows."
    return KipError("KIP_1001", message, "Leave entail out.", span)


def read_default(records: Mapping[str, str]) -> Entail:
    """The default that the records of a nexus have."""
    return _VALUES.get(records.get(ENTAIL, ""), False)


def default_of_view(store: NexusStore) -> Entail | None:
    """The default of a view: of those of its members the one that matches most; None for others."""
    if not isinstance(store, ViewStore):
        return None
    defaults = [read_default(member.store.records()) for member in store.members]
    return "same_as" if "same_as" in defaults else any(defaults)
