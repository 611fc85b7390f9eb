"""POST /maintenance/NAME and /backup: what takes long, of a nexus that is being served."""

from __future__ import annotations

import inspect
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, StrictStr, ValidationError
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from kiprdf.interchange.mapping.contexts import ORIGINAL, packs
from kiprdf.nexus import Nexus
from kiprdf.serve.replies import HttpError
from kiprdf.store.folder import MANIFEST
from kiprdf.store.journal import FOLDER, PAST
from kiprdf.store.past import require_embedded

_CHUNK = 1024**2
Context = dict[str, Any]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Optimize(_Arguments):
    """Those of ``Nexus.optimize``."""

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.optimize()


class Forget(_Arguments):
    """Those of ``Nexus.forget``."""

    command: StrictStr
    parameters: dict[str, Any] = {}
    dry_run: StrictBool = False

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.forget(self.command, dry_run=self.dry_run, **self.parameters)


class CompactHistory(_Arguments):
    """Those of ``Nexus.compact_history``."""

    before: StrictInt | StrictStr

    def run(self, nexus: Nexus) -> dict[str, Any]:
        return nexus.compact_history(self.before)


class Import(_Arguments):
    """Those of ``Nexus.import_rdf``, or ``import_ontology``; no path of this machine is read."""

    source: StrictStr
    ontology: StrictBool = False
    format: StrictStr | None = None
    mapping: StrictStr | Context | list[StrictStr | Context] | None = None
    define: StrictBool = False
    default_type: StrictStr | None = None
    language: StrictStr | None = None
    base_iri: StrictStr | None = None
    metadata: Context | None = None
    context: Context | list[Context] | None = None
    also: list[StrictStr] = []
    update: StrictBool = True
    inherit: StrictBool = False
    dry_run: StrictBool = False

    def run(self, nexus: Nexus) -> dict[str, Any]:
        run: Any = nexus.import_ontology if self.ontology else nexus.import_rdf
        options = self.model_dump(exclude_unset=True, exclude={"source", "ontology"})
        for name in options.keys() - inspect.signature(run).parameters:
            raise _malformed(f"{name} cannot be combined with ontology={self.ontology}")
        mappings = self.mapping if isinstance(self.mapping, list) else [self.mapping]
        for mapping in mappings:
            if isinstance(mapping, str) and mapping not in (ORIGINAL, *packs()):
                raise _malformed(f"mapping: there is no mapping named {mapping!r}")
        if any("@context" not in one and not _is_by_url(one) for one in self._contexts()):
            raise _malformed("context: it has no @context")
        options["also"] = [io.StringIO(text) for text in self.also]
        return dict(run(io.StringIO(self.source), **options))

    def _contexts(self) -> list[Context]:
        return self.context if isinstance(self.context, list) else [self.context or {}]


def _is_by_url(context: Context) -> bool:
    return all(isinstance(one, dict) for one in context.values())


COMMANDS: dict[str, type[Optimize | Forget | CompactHistory | Import]] = {
    "forget": Forget,
    "optimize": Optimize,
    "compact-history": CompactHistory,
    "import": Import,
}


def read(name: str, body: bytes) -> Optimize | Forget | CompactHistory | Import:
    """The arguments of a command; raises ``HttpError`` with status 400."""
    try:
        return COMMANDS[name].model_validate(json.loads(body or b"{}"))
    except ValidationError as fault:
        errors = fault.errors(include_input=False, include_url=False)
        where = ".".join(map(str, errors[0]["loc"])) or "the body"
        raise _malformed(f"{where}: {errors[0]['msg']}") from None
    except (ValueError, RecursionError) as fault:
        raise _malformed(f"the body is not JSON that can be read: {fault}") from None


def _malformed(detail: str) -> HttpError:
    hint = "Send a JSON object with the arguments that /openapi.json lists."
    return HttpError(400, f"The arguments are malformed: {detail}.", hint)


# Backup ---------------------------------------------------------------------------------------


def back_up(nexus: Nexus) -> TemporaryDirectory[str]:
    """A temporary folder with a copy of the nexus.

    It is in the folder of a nexus, where files can be linked, and the next opening, or forgetting,
    removes what a kill leaves.
    """
    store = nexus._store
    require_embedded(store, "be copied")
    place = None if store.folder is None or store.read_only else store.folder / FOLDER
    files = TemporaryDirectory(prefix=PAST, dir=place if place and place.is_dir() else None)
    try:
        nexus.backup(Path(files.name) / "nexus")
    except BaseException:
        files.cleanup()
        raise
    return files


class TarResponse(StreamingResponse):
    """A copy of a nexus as a tar stream; its files are removed afterwards."""

    def __init__(self, files: TemporaryDirectory[str]) -> None:
        headers = {"Content-Disposition": 'attachment; filename="nexus.tar"'}
        chunks = _tar(Path(files.name) / "nexus")
        super().__init__(chunks, headers=headers, media_type="application/x-tar")
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._files.cleanup()


def _tar(folder: Path) -> Iterator[bytes]:
    """A folder as a tar stream; the manifest comes last, so that nothing less is a nexus."""
    for path in sorted(folder.rglob("*"), key=lambda path: (path.name == MANIFEST, path)):
        info = tarfile.TarInfo(path.relative_to(folder).as_posix())
        if path.is_dir():
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            yield info.tobuf()
            continue
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            info.size, info.mtime = stat.st_size, stat.st_mtime
            yield info.tobuf()
            while chunk := file.read(_CHUNK):
                yield chunk
        yield bytes(-info.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)
