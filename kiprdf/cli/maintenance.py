"""The maintenance commands: check, rebuild, verify, embed, optimize, backup."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kiprdf.cli import inputs, output
from kiprdf.cli.failures import Failure
from kiprdf.cli.opening import OfFolder, OfServer, Place, Reads, Writes, place_of
from kiprdf.cli.options import MAINTAIN, JsonOption
from kiprdf.cli.root import app
from kiprdf.errors import (
    DamagedGraphError,
    DamagedManifestError,
    ReplacedError,
    StoreError,
    clear_frames,
)
from kiprdf.nexus import Nexus
from kiprdf.store.folder import repair_manifest

ATTEMPTS = 8
"""How often a copy is begun of a nexus that another process rewrites meanwhile."""
_DOCUMENTS = (".json", ".jsonld")
SHOWN_FAULTS = 20
"""The number of faults printed without ``--json``."""


@app.command(cls=Reads, rich_help_panel=MAINTAIN)
def check(
    ctx: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Fail where nothing can be repaired now.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check every file and triple of a nexus; repair a faulty index and a damaged graph.

    A damaged graph is written again from the history, if that has all of it. The
    exit status is 0 if the nexus is sound or was repaired, and 1 if it has faults.
    While another program writes to the nexus, nothing is repaired; with --repair
    that is an error.

    \b
    Examples:
      kiprdf check
      kiprdf check --repair --nexus brain
      kiprdf check --nexus brain --json
    """
    place = place_of(ctx)
    with _open_to_check(place, repair) as opened, output.progress_bar() as advance:
        advance(0, f"checking {place}")
        report = opened.check(repair=not opened.read_only)
    output.show_answer(as_json, report, _lines(place, report))
    if not as_json and len(report["faults"]) > SHOWN_FAULTS and report["concepts"] is not None:
        output.note(f"{len(report['faults']) - SHOWN_FAULTS} more; --json shows all of them.")
    has_history_faults = bool(report["history"] and report["history"]["faults"])
    is_wrong = bool(report["faults"]) or report["index"] == "wrong" or has_history_faults
    raise typer.Exit(int(is_wrong))


@app.command(cls=OfFolder, rich_help_panel=MAINTAIN)
def rebuild(ctx: typer.Context) -> None:
    """Write the graph of a folder again from its history, also if it is sound.

    The graph before is kept in the subfolder "damaged". Nothing is changed if the
    history lacks a commit, or if another program has the nexus open.

    \b
    Examples:
      kiprdf rebuild --nexus brain
    """
    place = place_of(ctx)
    place.require()
    Nexus.rebuild(place.where)
    output.note(f"The graph of {place} was written again; the one before is in its damaged/.")


@app.command(cls=OfFolder, rich_help_panel=MAINTAIN)
def verify(
    ctx: typer.Context,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="DID", help="Who may have signed a document. Can be repeated."),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare a receipt of a commit with the history."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a signed document, or that the history of a nexus is the one that was written.

    Of a file, the signature is verified: the exit status is 1 if the document was
    changed, or signed by nobody whom --trust names.

    Of a folder, each record of the history has the SHA-256 of the one before it,
    and the graph notes the last one. The exit status is 1 if a record was changed,
    dropped, moved or added afterwards; the commit of the first one is printed. It is
    1, too, if the history has not what the receipt says.

    \b
    Examples:
      kiprdf verify brain
      kiprdf verify brain --receipt receipt.jsonld
      kiprdf verify --nexus brain --json
      kiprdf verify brain.jsonld --trust did:key:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX
    """
    place = place_of(ctx)
    if place.is_url:
        raise StoreError(f"{place} is an address; a history is verified in its folder.")
    path = Path(place.where)
    if not path.is_dir() and (path.exists() or path.suffix in _DOCUMENTS or path == inputs.STDIN):
        if receipt is not None:
            raise Failure(f"--receipt belongs to the folder of a nexus, and {path} is none.")
        _verify_document(path, trust, as_json)
    if trust and receipt is None:
        raise Failure(f"--trust belongs to a signed document, and {place} is none.")
    place.require()
    document = None if receipt is None else io.BytesIO(inputs.read_bytes(receipt))
    report = Nexus.verify_history(place.where, receipt=document, trusted=trust)
    commit, fault, last, warning = (report[key] for key in ("commit", "fault", "last", "warning"))
    verdict = f"the history is as it was written, up to commit {last}; head {report['head']}."
    lines = [f"{place}: {verdict}" if fault is None else f"{place}: commit {commit}: {fault}"]
    compared = report.get("receipt", {"fault": None})
    if receipt is not None:
        lines.append(f"{receipt}: {compared['fault'] or _receipt_line(compared)}")
    output.show_answer(as_json, report, lines)
    if warning is not None and not as_json:
        output.note(warning)
    raise typer.Exit(int(fault is not None or compared["fault"] is not None))


def _receipt_line(receipt: dict[str, Any]) -> str:
    """What a receipt says that the history confirms."""
    of = "commit {seq}, {kind} at {at} by {by}; signed by {signer}.".format_map(receipt)
    again = " Its record was written again, by forgetting or compacting."
    return output.printable(of) + (again if receipt["rewritten"] else "")


def _verify_document(path: Path, trusted: list[str] | None, as_json: bool) -> NoReturn:
    from kiprdf.signing.documents import verify

    verified = verify(io.BytesIO(inputs.read_bytes(path)), trusted)
    lines = [f"{path}: {reason}" for reason in verified.reasons]
    if verified:
        when = f" at {verified.created}" if verified.created else ""
        lines = [f"{path}: signed by {verified.signer}{when}."]
    output.show_answer(as_json, dataclasses.asdict(verified), lines)
    if verified and verified.reasons and not as_json:
        output.note(" ".join(verified.reasons))
    raise typer.Exit(int(not verified))


def _open_to_check(place: Place, repair: bool) -> Nexus:
    """Open the nexus as it is, without loading the bundled capsules."""
    if place.is_url:
        return place.to_read()
    place.require()
    folder = Path(place.where)
    try:
        try:
            return Nexus.open(folder, genesis=False)
        except DamagedManifestError as fault:
            clear_frames(fault)
            if not repair_manifest(folder):
                raise
            output.note(f"The file nexus.json of {folder} was damaged, and was written again.")
            return Nexus.open(folder, genesis=False)
    except DamagedGraphError:
        raise
    except StoreError:
        if repair:
            raise
        return Nexus.open(folder, read_only=True)


def _lines(place: Place, report: dict[str, Any]) -> Iterator[str]:
    faults = report["faults"]
    if report["concepts"] is None:
        yield f"{place}: {faults[0]}"
        return
    concepts = output.counted(report["concepts"], "concept")
    propositions = output.counted(report["propositions"], "proposition")
    verdict = output.counted(len(faults), "fault") if faults else "no faults"
    yield f"{place}: {concepts}, {propositions}; {verdict}. The text index is {report['index']}."
    total = report["concepts"] + report["propositions"]
    if report["vectors"]:
        yield f"{report['vectors']} of {total} elements have vectors."
    history = report["history"]
    if history and history["state"] != "sound":
        begins = "" if history["faults"] else f"; it begins at commit {history['earliest_seq']}"
        yield f"The history is {_HISTORY[history['state']]}{begins}."
        yield from (f"  {fault}" for fault in history["faults"])
    yield from (f"  {fault}" for fault in faults[:SHOWN_FAULTS])


_HISTORY = {"gap": "not complete", "wrong": "damaged"}


@app.command(cls=Writes, rich_help_panel=MAINTAIN)
def embed(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Compute and store the missing vectors for semantic search.

    You can interrupt it at any time: finished vectors are stored, and the next run
    continues. A semantic SEARCH also computes vectors, within its time limit.

    \b
    Examples:
      kiprdf embed
      kiprdf embed --nexus brain
    """
    with place_of(ctx).existing() as opened, output.progress_bar() as advance:

        def show(embedded: int, total: int) -> None:
            advance(0, f"{embedded} of {total} elements have vectors")

        total = opened.embed(show)
    if as_json:
        output.show_json({"vectors": total})
    else:
        output.note(f"{output.counted(total, 'element')} of {place_of(ctx)} have vectors.")


@app.command(cls=OfServer, rich_help_panel=MAINTAIN)
def optimize(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Rewrite the graph of a folder to free unused disk space.

    This takes seconds for 50 000 propositions. Run it after a large import.

    \b
    Examples:
      kiprdf optimize
      kiprdf optimize --nexus brain
    """
    with (
        output.errors_as_json(as_json),
        place_of(ctx).server() or place_of(ctx).existing() as opened,
        output.progress_bar() as advance,
    ):
        advance(0, f"optimizing {place_of(ctx)}")
        report = opened.optimize()
    if as_json:
        output.show_json(report)
    else:
        before, after = (f"{size / 1e6:.1f} MB" for size in report.values())
        output.note(f"{place_of(ctx)} takes {after}; it took {before}.")


@app.command(cls=OfServer, rich_help_panel=MAINTAIN)
def backup(
    ctx: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder for the copy; must not exist or be empty.")
    ],
) -> None:
    """Copy a nexus as of one commit, even while another program writes to it.

    The copy is a nexus: every command accepts it. Use snapshot to
    write the same knowledge as text, which every version of kiprdf can read.

    \b
    Examples:
      kiprdf backup brain-2026-11-22
      kiprdf backup /mnt/backups/brain --nexus brain
      kiprdf backup brain-copy --nexus http://127.0.0.1:8080/
    """
    place = place_of(ctx)
    with output.progress_bar() as advance:
        advance(0, f"copying {place}")
        for attempt in range(ATTEMPTS):
            try:
                with place.server() or place.to_read() as opened:
                    opened.backup(folder)
                break
            except ReplacedError:
                if attempt == ATTEMPTS - 1:
                    raise
    output.note(f"Copied {place} to {folder}.")
