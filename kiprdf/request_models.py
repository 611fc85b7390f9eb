"""Requests of KIP 6 as pydantic models; pydantic takes longer to load than a nexus to open."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from kiprdf.errors import KipError

__all__ = ["AsOf", "CommandItem", "Request", "ValidationError"]
_STRICT = ConfigDict(extra="forbid", frozen=True)


class AsOf(BaseModel):
    """A state of the nexus in its history: that of a commit, or that at a time."""

    model_config = _STRICT

    seq: Annotated[StrictInt | None, Field(description="The number of a commit.")] = None
    time: Annotated[
        StrictStr | None,
        Field(description="An ISO 8601 time with an offset: the last commit at or before it."),
    ] = None

    @property
    def when(self) -> int | str:
        """The one of the two that is given."""
        if (self.seq is None) == (self.time is None):
            message = "`as_of` has exactly one of `seq` and `time`."
            raise KipError("KIP_1001", message, "Send one of the two.")
        return self.seq if self.seq is not None else self.time or ""


View: TypeAlias = Annotated[
    Literal["believed"] | None,
    Field(
        description="`believed`: a FIND sees no element that is draft, deprecated, retracted, "
        "superseded or not valid now, and no fact about one."
    ),
]
Why: TypeAlias = Annotated[
    StrictBool,
    Field(
        description="Say under `why` what each row of a FIND comes from: the propositions, "
        "concepts and values that give it."
    ),
]

EntailField: TypeAlias = Annotated[
    StrictBool | Literal["same_as"] | None,
    Field(
        description="True: a FIND also matches what follows from `subclass_of`, `subproperty_of`, "
        "`is_symmetric`, `inverse_of` and `is_transitive` of the definitions; `same_as`: and takes "
        "concepts that are linked by `same_as` for one. Left out: as the memory does by default."
    ),
]


class CommandItem(BaseModel):
    """One command of a batch with its own parameters, which override the shared ones."""

    model_config = _STRICT

    command: Annotated[StrictStr, Field(description="One complete KIP command.")]
    parameters: Annotated[
        dict[str, Any],
        Field(description="Values by placeholder name; they override the shared parameters."),
    ] = Field(default_factory=dict)
    as_of: Annotated[
        AsOf | None, Field(description="Read the memory as it was then, by this command only.")
    ] = None
    view: View = None
    why: Why = False
    entail: EntailField = None


class Request(BaseModel):
    """The arguments of ``execute_kip`` (KIP 6.1): either ``command`` or ``commands``."""

    model_config = _STRICT

    command: Annotated[
        StrictStr | None,
        Field(description="One complete KIP command. Either this or `commands`."),
    ] = None
    commands: Annotated[
        list[StrictStr | CommandItem] | None,
        Field(
            description="KIP commands to run in order, each a string or an object with "
            "its own parameters. The first write that fails ends the batch.",
        ),
    ] = None
    parameters: Annotated[
        dict[str, Any],
        Field(
            description="Values by placeholder name: `:name` in a command takes the value of "
            "`name`. A placeholder replaces a whole JSON value, never a part of a string.",
        ),
    ] = Field(default_factory=dict)
    dry_run: Annotated[
        StrictBool, Field(description="Answer as a real run would, write nothing.")
    ] = False
    as_of: Annotated[
        AsOf | None, Field(description="Read the memory as it was then; writes are refused.")
    ] = None
    view: View = None
    why: Why = False
    entail: EntailField = None
    max_chars: Annotated[
        StrictInt | None,
        Field(
            description="The most characters of the response. Rows beyond it are left out, with a "
            "next_cursor for them; a longer row has values that end in …, and says how to read it.",
        ),
    ] = None
