"""The nexus of a running kiprdf server: what the maintenance commands do with its URL."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from kiprdf.budget import Budget, spend
from kiprdf.cli.failures import Failure
from kiprdf.errors import KipError, StoreError, without_folder
from kiprdf.interchange import files, formats
from kiprdf.interchange.formats.lenient import BadParts
from kiprdf.interchange.formats.parsing import decoded
from kiprdf.store import OxigraphStore
from kiprdf.store.folder import MANIFEST, new_folder
from kiprdf.store.http import HttpClient, Response

_MOST_BYTES = 64 * 1024**2
"""The longest report that is read."""


def nexus_at(place: str, token: str | None, budget: Budget | None = None) -> ServedNexus | None:
    """The nexus of the kiprdf server at a URL; None for a SPARQL store.

    The one place that decides whether a URL is a server or a store.
    """
    client = HttpClient(place, token or None)

    def ask() -> tuple[int, Any]:
        response = client.get({"Accept": "application/json"})
        return response.status, _json(response)

    status, answer = spend(budget or Budget(), ask)
    if status == 401 and "error" in answer:
        raise Failure(f"The server at {place} needs a token: set --token or KIPRDF_TOKEN.")
    if status == 404 and "error" in answer:
        raise Failure(f"The server has no nexus at {place} for this token.")
    return ServedNexus(place, token) if answer.get("name") == "kiprdf" else None


class ServedNexus:
    """The methods of a nexus that its server runs, with the same arguments and reports."""

    read_only = False

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url.rstrip("/")
        self._token = token or None

    def __enter__(self) -> ServedNexus:
        return self

    def __exit__(self, *failure: object) -> None:
        """Nothing: the server keeps the nexus open."""

    def optimize(self) -> Any:
        return self._run("optimize", {})

    def forget(
        self, command: str, /, *, derived: bool = False, dry_run: bool = False, **parameters: Any
    ) -> Any:
        options = {"derived": derived, "dry_run": dry_run}
        return self._run("forget", {"command": command, "parameters": parameters, **options})

    def apply_erasures(self, source: files.Source, *, dry_run: bool = False) -> Any:
        arguments = {"erasures": files.text(source), "dry_run": dry_run}
        return self._run("apply-erasures", arguments)

    def compact_history(self, before: int | str) -> Any:
        return self._run("compact-history", {"before": before})

    def import_rdf(self, document: files.Source, /, **options: Any) -> Any:
        return self._import(document, **options)

    def import_ontology(self, document: files.Source, /, **options: Any) -> Any:
        return self._import(document, ontology=True, **options)

    def _import(self, document: files.Source, /, **options: Any) -> Any:
        """Send a document, and the content of other files: their paths mean nothing there."""
        if isinstance(document, list):
            raise Failure("A server takes one file that replaces; join the files before.")
        options["source_name"] = options.pop("source", None)
        name, chosen = files.name_of(document), options["format"] or files.format_of(document)
        if name is not None:
            options["metadata"] = {"source": name, **options["metadata"]}
        options["format"] = chosen
        options["mapping"] = [_json_of(one) for one in options["mapping"] or ()] or None
        contexts = options.get("context") or ()
        options["context"] = [
            {url: _json_of(path) for url, path in one.items()}
            if isinstance(one, dict)
            else _json_of(one)
            for one in contexts
        ] or None
        bad, others = (BadParts() if options.get("lenient") else None for _ in range(2))
        options["also"] = [_text(one, chosen, others) for one in options.get("also", ())] or None
        given = {key: value for key, value in options.items() if value not in (None, False)}
        if options.get("update") is False:
            given["update"] = False
        report = self._run("import", {"source": _text(document, chosen, bad), **given})
        if bad is not None:  # lines that cannot be sent
            report["skipped"] = [*(one._asdict() for one in bad.first), *report["skipped"]]
            report["warnings"] = [*bad.warnings(), *report["warnings"]]
        return report

    def backup(self, folder: Path) -> None:
        """Download a copy into a folder, which is absent or empty; a cut one leaves nothing."""
        with new_folder(folder.absolute()) as partial:
            response = self._send("backup", b"")
            stream = io.BufferedReader(_Body(response))
            try:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    for member in tar:
                        _refuse_hostile(member)
                        tar.extract(member, partial, filter="data")
            except tarfile.TarError as fault:
                raise Failure(f"The backup of {self._url} is not complete: {fault}.") from None
            # The reader of the archive may leave some of the zeros at its end.
            rest = stream.read(2 * tarfile.RECORDSIZE)
            if rest.strip(b"\0") or stream.read(1) or not (partial / MANIFEST).is_file():
                raise Failure(f"The backup of {self._url} is not complete.")
            try:
                OxigraphStore.open(partial, read_only=True).close()
            except StoreError as fault:
                reason = without_folder(str(fault), partial)
                raise Failure(f"The backup of {self._url} is no nexus: {reason}") from None

    def _run(self, name: str, arguments: dict[str, Any]) -> Any:
        body = json.dumps(arguments).encode()
        return _json(self._send(f"maintenance/{name}", body))

    def _send(self, path: str, body: bytes) -> Response:
        client = HttpClient(f"{self._url}/{path}", self._token)
        response = client.post(body, {"Content-Type": "application/json"})
        if response.status != 200:
            error = _json(response).get("error", {})
            code, message, hint = (str(error.get(key, "")) for key in ("code", "message", "hint"))
            if code.startswith("KIP_"):
                raise KipError(code, message, hint)
            raise Failure(f"{self._url} answers {response.status}: {message} {hint}".rstrip())
        return response


class _Body(io.RawIOBase):
    """The body of a response, to read."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._response.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _refuse_hostile(member: tarfile.TarInfo) -> None:
    path = Path(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise Failure(f"The backup has a member {member.name!r}, which no backup has.")


def _json(response: Response) -> dict[str, Any]:
    """The JSON object in a response; an empty one for anything else."""
    chunks, size = [], 0
    while size < _MOST_BYTES and (chunk := response.read(1 << 16)):
        chunks.append(chunk)
        size += len(chunk)
    response.end()
    try:
        answer = json.loads(b"".join(chunks))
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _json_of(source: Any) -> Any:
    """The name of a mapping, or what its file has."""
    path = Path(source)
    try:
        return json.loads(path.read_text("utf-8-sig")) if path.is_file() else source
    except (ValueError, RecursionError) as fault:
        raise Failure(f"{path} is not JSON: {fault}.") from None


def _text(source: Any, format: formats.Format | None, bad: BadParts | None = None) -> str:
    return decoded(files.content(source), format or "turtle", bad)
