"""The library API: opens a nexus and runs requests; each method calls a function of a package."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import date, datetime
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from kiprdf.actors import Access, Actor, Kind, acting, acting_on
from kiprdf.arguments import check, check_opening, check_sync, mapping_of
from kiprdf.arguments import check as check_arguments
from kiprdf.budget import Budget
from kiprdf.errors import DamagedGraphError, KipError, StoreError, clear_frames
from kiprdf.execution import bootstrap
from kiprdf.execution.engine import Answer, CommandEngine
from kiprdf.execution.find_options import refuse_entail
from kiprdf.kql.beliefs import Beliefs, marked, refuse_marked
from kiprdf.kql.entailment import Entail
from kiprdf.language.parameters import refuse_misspelt_options
from kiprdf.loading import Lazy, load
from kiprdf.rows import Rows
from kiprdf.store import NexusStore, OxigraphStore, is_store
from kiprdf.store.folder import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence

    import rdflib
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from kiprdf import maintenance, options
    from kiprdf.arguments import MappingSources
    from kiprdf.execution import (
        forgetting,
        gating,
        histories,
        imports,
        loading,
        naming,
        proposals,
        receipts,
        rejecting,
        replacing,
        signed_capsules,
        summary,
        transaction,
    )
    from kiprdf.execution import history as recorded
    from kiprdf.execution import requests as answering
    from kiprdf.execution import undo as undoing
    from kiprdf.execution import validity as valid_times
    from kiprdf.execution.empty_answers import Diagnosis
    from kiprdf.execution.gate import OnViolation
    from kiprdf.execution.transaction import Transaction
    from kiprdf.execution.why import Explained
    from kiprdf.interchange import documents, files, formats, rdflib_store, snapshots
    from kiprdf.interchange.differences import patch_log
    from kiprdf.interchange.differences.difference import Difference
    from kiprdf.interchange.differences.patch import Patch
    from kiprdf.interchange.formats import graphs, profiles
    from kiprdf.interchange.formats.given_contexts import Contexts
    from kiprdf.interchange.formats.output import Advance
    from kiprdf.interchange.importing.names import Names
    from kiprdf.interchange.importing.plan import JsonMap
    from kiprdf.interchange.mapping.contexts import Loader
    from kiprdf.kml.draft import Clock
    from kiprdf.meta import export as exporting
    from kiprdf.meta.indexing import Indexer
    from kiprdf.pages import publish as publishing
    from kiprdf.pages import svg
    from kiprdf.pages.publish import Facts, Published
    from kiprdf.pages.svg import Drawing
    from kiprdf.search.embedders import Embedder
    from kiprdf.sharing import conflicts as noted_conflicts
    from kiprdf.sharing import following, merging, nanopublications, sides
    from kiprdf.sharing.merging import Merged
    from kiprdf.signing import documents as signed_documents
    from kiprdf.signing import keys
    from kiprdf.store import chain, connecting, rebuilding
    from kiprdf.store import erasures as erasure_lists
    from kiprdf.store import past as past_states
    from kiprdf.store.journal import Sync
    from kiprdf.store.past import PastStore
else:
    answering = Lazy("kiprdf.execution.requests")
    chain = Lazy("kiprdf.store.chain")
    connecting = Lazy("kiprdf.store.connecting")
    documents = Lazy("kiprdf.interchange.documents")
    erasure_lists = Lazy("kiprdf.store.erasures")
    exporting = Lazy("kiprdf.meta.export")
    files = Lazy("kiprdf.interchange.files")
    following = Lazy("kiprdf.sharing.following")
    forgetting = Lazy("kiprdf.execution.forgetting")
    gating = Lazy("kiprdf.execution.gating")
    graphs = Lazy("kiprdf.interchange.formats.graphs")
    histories = Lazy("kiprdf.execution.histories")
    imports = Lazy("kiprdf.execution.imports")
    keys = Lazy("kiprdf.signing.keys")
    loading = Lazy("kiprdf.execution.loading")
    maintenance = Lazy("kiprdf.maintenance")
    merging = Lazy("kiprdf.sharing.merging")
    naming = Lazy("kiprdf.execution.naming")
    nanopublications = Lazy("kiprdf.sharing.nanopublications")
    noted_conflicts = Lazy("kiprdf.sharing.conflicts")
    options = Lazy("kiprdf.options")
    past_states = Lazy("kiprdf.store.past")
    patch_log = Lazy("kiprdf.interchange.differences.patch_log")
    profiles = Lazy("kiprdf.interchange.formats.profiles")
    proposals = Lazy("kiprdf.execution.proposals")
    publishing = Lazy("kiprdf.pages.publish")
    rdflib_store = Lazy("kiprdf.interchange.rdflib_store")
    rebuilding = Lazy("kiprdf.store.rebuilding")
    receipts = Lazy("kiprdf.execution.receipts")
    recorded = Lazy("kiprdf.execution.history")
    rejecting = Lazy("kiprdf.execution.rejecting")
    replacing = Lazy("kiprdf.execution.replacing")
    sides = Lazy("kiprdf.sharing.sides")
    signed_capsules = Lazy("kiprdf.execution.signed_capsules")
    signed_documents = Lazy("kiprdf.signing.documents")
    snapshots = Lazy("kiprdf.interchange.snapshots")
    summary = Lazy("kiprdf.execution.summary")
    svg = Lazy("kiprdf.pages.svg")
    transaction = Lazy("kiprdf.execution.transaction")
    undoing = Lazy("kiprdf.execution.undo")
    valid_times = Lazy("kiprdf.execution.validity")

T = TypeVar("T")
P = ParamSpec("P")
_FIND = re.compile(r"(\s|//[^\n]*\n)*FIND\b", re.IGNORECASE)
_OF_NEXUS = ("genesis", "strict_schema", "entail", "clock", "embedder", "budget")
"""The arguments that every way of opening a nexus passes on to it."""


def timed(
    method: Callable[Concatenate[Nexus, P], T],
) -> Callable[Concatenate[Nexus, P], T]:
    """Let a method spend one budget from its first line on: its arguments may be large, too."""

    @functools.wraps(method)
    def run(self: Nexus, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.store.require_own_process()
        return self._engine.budgets.spend_as_work(lambda: method(self, *args, **kwargs))

    return run


def timed_write(
    method: Callable[Concatenate[Nexus, P], T],
) -> Callable[Concatenate[Nexus, P], T]:
    """The same for a method that writes: what it refuses is noted."""
    run_timed = timed(method)

    @functools.wraps(method)
    def run(self: Nexus, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return run_timed(self, *args, **kwargs)
        except KipError as error:
            if not kwargs.get("dry_run"):
                self._engine.note_refusal(error, error.source)
            raise

    return run


class Nexus:
    """A knowledge store that speaks KIP, in memory or in a folder.

    >>> nexus = Nexus.memory()
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', name="Aspirin")
    >>> nexus.find('FIND(?d.name) WHERE { ?d {type: "Drug"} }').column("?d.name")
    ['Aspirin']

    Methods raise ``KipError``; ``OSError``, such as ``FileNotFoundError``, for a file that cannot
    be read or written; and ``StoreError`` for the folder of a nexus or of pages. A ``mapping`` is
    the name of a bundled one (``"schema-org"``), a path, a JSON-LD context, a ``Mapping``, or a
    list of these.
    """

    def __init__(
        self,
        store: NexusStore,
        *,
        genesis: bool = True,
        strict_schema: bool | None = None,
        entail: Entail | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> None:
        if not is_store(store):
            raise TypeError("Call Nexus.open(folder), Nexus.connect(url) or Nexus.memory().")
        load("kiprdf.language.commands")  # so that no command has to
        self.store = store
        """The dataset; a write to its engine is no commit."""
        self.erased = 0
        """The number of elements that opening erased, since an erasure list named them."""
        self._engine = CommandEngine(
            store,
            strict_schema=strict_schema,
            entail=entail,
            clock=clock,
            embedder=embedder,
            budget=budget,
        )
        self._member: Nexus | None = None
        if genesis:
            bootstrap.apply_bundled(self._engine)

    # Opening and closing ----------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        base_iri: str | None = None,
        *,
        read_only: bool = False,
        history: bool = True,
        sync: Sync = "normal",
        erasures: files.Source | None = None,
        genesis: bool = True,
        strict_schema: bool | None = None,
        entail: Entail | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """Open the nexus in a folder; create it if the folder is absent or empty.

        ``base_iri`` is chosen once, when the nexus is created. ``read_only`` works beside a writer
        and shows the state at its opening. ``history`` keeps a journal of all changes in the
        folder; commits that the graph loses in a crash are restored from it. With ``sync="full"``
        each commit is on the disk before its call returns, and survives a power cut.
        ``erasures`` is an erasure list, applied before anything can be read; ``erased`` is then the
        number of elements that the folder, such as a backup, still had.
        ``genesis=False`` loads no capsules.
        ``strict_schema`` enforces instance schemas on write; it is stored in the nexus, and without
        it opening obeys what is stored (False in a new nexus). ``entail`` is stored likewise: what
        ``find`` does without this argument. ``clock`` returns the time for
        engine-maintained metadata. ``embedder`` turns texts into vectors, for SEARCH by meaning;
        it needs numpy. ``budget`` limits what each request may spend. Raises ``StoreError`` with
        one sentence.
        """
        check(history=history)
        check_sync(sync, history)
        check_opening(strict_schema, embedder, entail)
        given = locals()
        listed = None if erasures is None else erasure_lists.read(files.text(erasures))

        def opened() -> Nexus:
            store = OxigraphStore.open(folder, base_iri, read_only, history, sync)
            return cls._on(store, given, listed)

        try:
            return opened()
        except DamagedGraphError as fault:
            clear_frames(fault)
            if read_only or not rebuilding.rebuild(absolute(folder)):
                raise
            return opened()

    @classmethod
    def _on(
        cls, store: NexusStore, given: Mapping[str, Any], listed: frozenset[str] | None = None
    ) -> Nexus:
        """The nexus in a store, which is closed where that fails.

        ``given`` has the arguments of ``Nexus`` among others; an erasure list is applied.
        """
        try:
            nexus = cls(store, **{name: given[name] for name in _OF_NEXUS})
            if listed is not None:
                nexus.erased = nexus._forget_listed(listed, dry_run=False)["erased"]
            return nexus
        except BaseException:
            with suppress(StoreError):  # what is raised is why opening failed
                store.close()
            raise

    @classmethod
    def connect(
        cls,
        target: str | rdflib.Graph,
        update_url: str | None = None,
        *,
        default_graph: str | None = None,
        profile: connecting.Profile = "auto",
        auth: tuple[str, str] | str | None = None,
        headers: Mapping[str, str] | None = None,
        index: str | os.PathLike[str] | None = None,
        base_iri: str | None = None,
        read_only: bool = False,
        history: bool = False,
        genesis: bool = True,
        strict_schema: bool | None = None,
        entail: Entail | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """Connect the nexus in a store that speaks SPARQL 1.1; create it if the store is empty.

        ``target`` is the URL of its queries, ``update_url`` that of its updates; without it the
        nexus is read-only. Or it is a ``Graph`` or ``Dataset`` of rdflib, which each write changes,
        and in which others' changes are seen from the next command on. ``default_graph`` is the IRI
        of the graph of the nexus, ``profile`` how a new nexus keeps links: ``rdf12`` as reifiers,
        ``rdf11`` as ``rdf:Statement``, ``auto`` as the engine can. ``auth`` is a pair of user and
        password, or a bearer token. ``index`` is a folder for the text index, which is in memory
        without it. There is no ``history``: others may write to the store. The other arguments are
        those of ``open``. Raises ``StoreError`` with one sentence.

        >>> import rdflib
        >>> graph = rdflib.Graph()
        >>> nexus = Nexus.connect(graph)
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        >>> (rdflib.URIRef("urn:kip:nexus/$ConceptType/Drug"), None, None) in graph
        True
        """
        given = locals()
        check_opening(strict_schema, embedder, entail)
        connect = options.ConnectOptions.given(given)
        # HTTP and rdflib take longer to load than a nexus to open.
        if isinstance(target, str):
            return cls._on(connecting.connect(target, connect), given)
        return cls._on(rdflib_store.connect_graph(target, connect), given)

    @classmethod
    def memory(
        cls,
        base_iri: str | None = None,
        *,
        history: bool = False,
        genesis: bool = True,
        strict_schema: bool | None = None,
        entail: Entail | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        budget: Budget | None = None,
    ) -> Nexus:
        """A nexus that lives as long as the process; parameters as in ``open``."""
        check(strict_schema=strict_schema, entail=entail, history=history)
        given = locals()
        return cls._on(OxigraphStore.memory(base_iri, history), given)

    @staticmethod
    def rebuild(folder: str | os.PathLike[str]) -> None:
        """Write the graph of a closed folder again from its history, also if it is sound.

        The graph before is kept in the subfolder ``damaged``. Raises ``StoreError`` if the history
        lacks a commit, and if the folder is open.

        >>> Nexus.rebuild("nowhere")
        Traceback (most recent call last):
        kiprdf.errors.StoreError: There is no nexus in .../nowhere whose history has all of it.
        """
        path = absolute(folder)
        if not rebuilding.rebuild(path, even_if_sound=True):
            raise StoreError(f"There is no nexus in {path} whose history has all of it.")

    @staticmethod
    def verify_history(
        folder: str | os.PathLike[str],
        *,
        receipt: files.Source | None = None,
        trusted: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Whether the records of the history in a folder are those that were written.

        Each has the SHA-256 of the one before it, and the graph notes the last one. Returns
        ``commit``, the number of the first whose record was changed, dropped, moved or added
        afterwards, and ``fault``, what is wrong with it; both are None for a sound history.
        ``chained`` is the first commit whose record has a digest, None in a history without any;
        ``last`` and ``head`` are the number and the digest of the last record; ``warning`` says
        what could not be checked. It reads every record, also while another process writes, and
        changes nothing. Raises ``StoreError`` where there is no history.

        With a ``receipt`` (a text, a path or an open file) the key ``receipt`` has what it says,
        its ``signer``, and as ``fault`` why it does not hold: nobody ``trusted`` has signed it, or
        the history has another record of the commit, or none any more. ``rewritten`` says that
        compacting or forgetting has written the record again.

        >>> with Nexus.open("brain") as nexus:
        ...     _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> report = Nexus.verify_history("brain")
        >>> report["commit"], report["fault"], report["last"]
        (None, None, 2)
        """
        report = chain.verified(absolute(folder))._asdict()
        if receipt is not None:
            report["receipt"] = receipts.compared(absolute(folder), report, receipt, trusted)
        return report

    def close(self) -> None:
        """Close the nexus and release its folder. Closing twice is fine; other calls then fail."""
        self._engine.close()

    def __repr__(self) -> str:
        return summary.text(self._engine)

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        return summary.page(self._engine)

    def __enter__(self) -> Nexus:
        return self

    def __exit__(self, *failure: object) -> None:
        # A forked child that leaves the block has nothing to close.
        if not self.store.is_forked:
            self.close()

    @property
    def base_iri(self) -> str:
        """What the IRIs of this nexus begin with."""
        return self.store.iris.base

    @property
    def read_only(self) -> bool:
        """Whether the nexus was opened for reading only."""
        return self._engine.writer.store.read_only

    @property
    def written(self) -> Nexus:
        """The nexus that writes go to: this one, but for a view the member that it writes.

        >>> import kiprdf
        >>> team, ada = Nexus.memory(), Nexus.memory()
        >>> kiprdf.View([team, ada], write=ada).written is ada
        True
        """
        return self._member or self

    @property
    def strict_schema(self) -> bool:
        """Whether instance schemas are enforced on write, as it is stored in the nexus."""
        return self._engine.writer.strict_schema

    @property
    def entail(self) -> Entail:
        """What ``find`` does without its argument ``entail``, as it is stored in the nexus.

        For a view it is that of the member that matches most.
        """
        return self._engine.entail

    @property
    def search_modes(self) -> list[str]:
        """The modes of SEARCH that this nexus serves; another one degrades to ``keyword``."""
        return self._engine.indexer.modes

    @property
    def index(self) -> Indexer:
        """The index of SEARCH, which ranks all elements by words and by meaning."""
        return self._engine.indexer

    @property
    def beliefs(self) -> Beliefs:
        """What is not believed, and why."""
        return self._engine.beliefs

    def request(self, function: Callable[[], T]) -> T:
        """Call a function that reads ``store`` and ``index``, as one request with one budget.

        >>> nexus = Nexus.memory()
        >>> nexus.request(lambda: nexus.store.commit()) == nexus.info()["commit"]
        True
        """
        return self._engine.boundary.request(function)

    def limited(self, **changes: Any) -> AbstractContextManager[object]:
        """A ``with`` block in which each call spends another budget.

        The changes are fields of ``Budget``. Snapshots, imports and everything that is no command
        have no time limit outside of such a block.

        >>> nexus = Nexus.memory()
        >>> with nexus.limited(timeout_s=0.5, max_rows=10_000):
        ...     nexus.execute("DESCRIBE DOMAINS")
        ['Archived', 'CoreSchema', 'System', 'Unsorted']
        """
        return self._engine.budgets.limited(**changes)

    # Commands ---------------------------------------------------------------------------------

    def execute_kip(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a request of KIP 6.1, JSON in and JSON out. Never raises for a KIP error.

        >>> Nexus.memory(genesis=False).execute_kip({"command": "FIND(?x)"})["error"]["code"]
        'KIP_1001'
        """
        return self._respond(request, readonly=False)

    def execute_kip_readonly(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a request that only reads; KML is refused with KIP_1001."""
        return self._respond(request, readonly=True)

    def _respond(self, request: Mapping[str, Any], readonly: bool) -> dict[str, Any]:
        return self._engine.request(
            lambda: answering.respond(self._engine, request, readonly=readonly)
        )

    def answer(
        self,
        command: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        dry_run: bool = False,
        readonly: bool = False,
        entail: Entail | None = None,
    ) -> Answer:
        """Run one command as ``execute_kip`` does; return its result, cursor and warnings.

        >>> Nexus.memory().answer("DESCRIBE CONCEPT TYPES LIMIT 1").result
        ['$ConceptType']
        """
        return self._engine.answer(
            command, parameters or {}, dry_run=dry_run, readonly=readonly, entail=entail
        )

    def execute(
        self,
        command: str,
        /,
        *,
        dry_run: bool = False,
        readonly: bool = False,
        entail: Entail | None = None,
        **parameters: Any,
    ) -> Any:
        """Run one command and return its bare result.

        A dry run returns what the command would, and writes nothing; ``readonly`` refuses a
        command that writes; ``entail`` is that of ``find``. Send parameters of these names with
        ``answer``.

        >>> Nexus.memory().execute('FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }') > 0
        True
        """
        refuse_misspelt_options(command, parameters)
        return self._engine.answer(
            command, parameters, dry_run=dry_run, readonly=readonly, entail=entail, bare=True
        ).result

    def find(self, command: str, /, *, entail: Entail | None = None, **parameters: Any) -> Rows:
        """Run a FIND and return its rows, one column for each expression.

        With ``entail`` its patterns also match what follows from the definitions: subtypes,
        subproperties, the other direction of what is symmetric or has an inverse, and the steps of
        what is transitive. ``"same_as"`` besides takes concepts that ``same_as`` links for one.
        None is the default of the nexus. Only a FIND is asked so: KIP_1001 for another command.

        >>> nexus = Nexus.memory()
        >>> rule = 'UPSERT { CONCEPT { {type: "$PropositionType", name: "subclass_of"} } }'
        >>> _ = nexus.execute(rule)
        >>> _ = nexus.execute('''UPSERT {
        ...   CONCEPT ?place { {type: "$ConceptType", name: "Place"} }
        ...   CONCEPT ?city { {type: "$ConceptType", name: "City"} }
        ...   PROPOSITION { (?city, "subclass_of", ?place) }
        ... }''')
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "City", name: "Turin"} } }')
        >>> nexus.find('FIND(?p.name) WHERE { ?p {type: "Place"} }', entail=True).tuples()
        (('Turin',),)
        """
        return self._engine.find(command, parameters, entail=entail)

    def believed(
        self,
        command: str,
        /,
        at: str | date | None = None,
        *,
        entail: Entail | None = None,
        **parameters: Any,
    ) -> Rows:
        """``find`` in what is believed ``at`` a time, else now; see ``kiprdf.believed``.

        >>> nexus = Nexus.memory()
        >>> write = 'UPSERT { CONCEPT { {type: "Person", name: "Bo"} } WITH METADATA :metadata }'
        >>> _ = nexus.execute(write, metadata={"status": "retracted"})
        >>> nexus.believed('FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.name == "Bo") }')
        ?p.name
        0 rows
        Warning: 1:21 It is there, but not believed: 1 retracted. ...
        """
        refuse_marked(command)
        return self._engine.find(marked(command, at), parameters, entail=entail)

    @timed_write
    def transaction(self, function: Callable[[Transaction], T], *, dry_run: bool = False) -> T:
        """Call a function that reads and writes, commit once what it writes, return its result.

        The function gets a transaction: ``find`` reads, ``execute`` runs statements that write,
        ``write`` takes elements as dicts. All of them see the nexus as it was before, and no other
        writer comes in between. What is written is checked like one statement, and nothing is if
        the function raises, if a check fails, or in a dry run. The function may be called again
        where other processes write to the store, so it changes nothing else; another write to this
        nexus in it is KIP_1001.

        What the function raises is passed on. Raises ``KipError`` as ``execute`` does: KIP_1001 in
        a nexus that is open read-only, where a dry run may only read.

        >>> nexus = Nexus.memory()
        >>> ada = {"type": "Person", "name": "Ada"}
        >>> def count(tx):
        ...     visits = tx.find('FIND(?p.attributes.visits) WHERE { ?p {name: "Ada"} }').tuples()
        ...     number = visits[0][0] + 1 if visits else 1
        ...     tx.write([{**ada, "attributes": {"visits": number}}])
        ...     return number
        >>> nexus.transaction(count), nexus.transaction(count, dry_run=True)
        (1, 2)
        """
        return transaction.transact(self._engine, function, dry_run)

    @timed_write
    def load(
        self,
        concepts: Any = (),
        propositions: Any = (),
        *,
        metadata: JsonMap | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Write many concepts and propositions, as UPSERT does; return how many were changed.

        Each is an iterable of rows, or a data frame: of pandas, Polars, PyArrow, or with the
        interchange protocol. A row of ``concepts`` is a mapping with ``type``, ``name``,
        ``attributes`` and ``metadata``, or a tuple of these, of which the last two may be missing.
        A row of ``propositions`` has ``subject``, ``predicate``, ``object``, ``attributes`` and
        ``metadata``; an end is ``(type, name)``, a mapping of both, an id, or a proposition as
        ``(subject, predicate, object)``. In a data frame, columns with these names are their parts,
        with ``subject_type`` and ``object_type`` unless an end is an id, ``metadata.KEY`` is
        metadata, any other column an attribute; empty cells are left out. ``metadata`` is
        written to all elements.

        Propositions may name concepts and propositions of the same call, in any order. Up to
        20,000 rows are one commit, written as a whole or not at all; of more, each 20,000. An error
        names the row, counted from 1, and the commits before it. The same call again changes
        nothing, so that it can be repeated after an error. What the erasure list names is
        left out. The report counts what was, or with ``dry_run`` would be, created, updated or left
        unchanged, and has the numbers of the ``commits``.

        >>> nexus = Nexus.memory()
        >>> people = [("Person", "Ada", {"born": 1815}), ("Person", "Charles")]
        >>> report = nexus.load(people, metadata={"source": "encyclopedia"})
        >>> report["concepts"], report["propositions"]["created"]
        ({'created': 2, 'updated': 0, 'unchanged': 0}, 0)
        """
        check(metadata=metadata, dry_run=dry_run)
        return loading.load(self._engine, concepts, propositions, metadata, dry_run=dry_run)

    def why(
        self,
        command: str,
        /,
        *,
        row: int | None = None,
        entail: Entail | None = None,
        **parameters: Any,
    ) -> Explained:
        """The answer to a FIND, and what each row of it, or one row, comes from.

        ``result`` is that of ``execute``. ``rows`` have the derivations: the propositions, concepts
        and values that a solution of WHERE has matched and read, and a shortest path for each range
        of hops. ``entail`` is that of ``find``. ``evidence()`` says who stated them,
        ``to_turtle()`` writes the proof in PROV-O.

        >>> nexus = Nexus.memory()
        >>> _ = nexus.execute('''UPSERT {
        ...   CONCEPT { {type: "Insight", name: "Be brief"} }
        ... }''')
        >>> explained = nexus.why('FIND(?i.name) WHERE { ?i {type: "Insight"} }')
        >>> explained.result, explained.rows[0].derivations[0].concepts
        (['Be brief'], ('C:Insight/Be brief',))
        """
        return self._engine.why(command, parameters, row, entail)

    def draw(
        self, id_or_command: str, /, *, entail: Entail | None = None, **parameters: Any
    ) -> Drawing:
        """The neighbours of an element, by its id, or the links that the rows of a FIND come from.

        A notebook shows the drawing; ``svg`` is its text, ``write(path)`` writes it to a file. What
        it has no place for is counted in its caption, and what is not believed is marked.
        ``entail`` is that of ``find``, and the links of a row are those of ``why``: of at most 100
        rows, three derivations each.

        Raises ``KipError``: KIP_3002 for an element that does not exist, KIP_1001 for a text that
        is neither an id nor a FIND.

        >>> nexus = Nexus.memory()
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> nexus.draw("C:Person/Ada")
        <Drawing: The neighbours of Ada: 1 element, 0 links>
        """
        node = self.store.iris.from_id(id_or_command)
        if node is not None:
            return self._engine.boundary.request(
                lambda: self.store.read(
                    lambda: svg.neighbours(self.store, node, self.beliefs.view().reasons)
                )
            )
        if not _FIND.match(id_or_command):
            message = "What is drawn is an element or the answer to a FIND."
            raise KipError("KIP_1001", message, "Give an id that FIND shows, or a FIND.")
        explained = self._engine.why(id_or_command, parameters, None, entail)
        ids, left_out = explained.cited()
        return self._engine.boundary.request(
            lambda: self.store.read(
                lambda: svg.links(self.store, ids, left_out, self.beliefs.view().reasons)
            )
        )

    def diagnose(
        self, command: str, /, *, entail: Entail | None = None, **parameters: Any
    ) -> Diagnosis:
        """What each clause of a WHERE leaves, without running the command.

        >>> Nexus.memory().diagnose('FIND(?d) WHERE { ?d {type: "Domain", name: "System"} }')
        1 solution after 1:18 ?d {type: "Domain", name: "System"}
        """
        return self._engine.diagnose(command, parameters, entail)

    def explain(self, command: str, /, *, entail: Entail | None = None, **parameters: Any) -> str:
        """The SPARQL that a FIND becomes.

        Where it begins at a named element and finds little, the same is looked up by index
        (docs/decisions/041).
        """
        return self._engine.explain(command, parameters, entail)

    def sparql(self, query: str) -> Rows | bool | list[Any]:
        """Run a read-only SPARQL 1.2 query on the dataset.

        Returns ``Rows`` of pyoxigraph terms for SELECT, a boolean for ASK, a list of triples for
        CONSTRUCT and DESCRIBE. Updates, SERVICE and oversized queries are refused.
        """
        return self._engine.sparql(query)

    @timed_write
    def apply_capsule(
        self, capsule: str | os.PathLike[str], *, trusted: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Apply a knowledge capsule: a file, or a text of UPSERT blocks, of any size.

        One transaction; returns the receipt of the UPSERT. With ``trusted`` it is a signed one, of
        ``kiprdf.sign_capsule``, and KIP_3004 where none of these signers (``did:key:z6Mk…``) has
        signed it. KIP_1001 for a signed one without ``trusted``.
        """
        text = files.capsule_text(capsule)
        if trusted is not None or text.lstrip().startswith("{"):
            text = signed_capsules.capsule_in(text, trusted)
        return self._engine.boundary.run(lambda: self._engine.writer.apply_capsule(text), text)

    @timed_write
    def apply_patch(
        self, patch: str | os.PathLike[str], *, dry_run: bool = False
    ) -> dict[str, Any]:
        """Apply an RDF Patch that ``kiprdf diff --as patch`` wrote: a file, or a text.

        One transaction, exact to the triple, times and versions included; those are the engine's
        for others than people with the access ``admin``. It is checked like a statement: KIP_3004
        for what is protected, and so on. Returns how many triples were, or would be, ``deleted``
        and ``added``. Raises KIP_2002 for a patch of another state.
        """
        self._engine.writer.require_one_nexus("A patch")
        text = files.capsule_text(patch)
        apply = functools.partial(replacing.apply_patch, self._engine.writer, text, dry_run)
        return self._engine.boundary.run(apply, text)

    @timed
    def export(self, command: str | None = None, /, **parameters: Any) -> str:
        """A selection as a knowledge capsule, which ``apply_capsule`` or any KIP engine reads.

        ``command`` is an EXPORT of the whole selection; ``answer`` gives pages. Without it
        everything is exported, the schema first. Ids, the engine's own metadata and what is
        protected are left out.

        >>> text = Nexus.memory().export('EXPORT ?d WHERE { ?d {type: "Domain"} }')
        >>> Nexus.memory().apply_capsule(text)["blocks"]
        1
        """
        refuse_entail(command, parameters)
        return self._engine.export(command, parameters)

    # RDF out ----------------------------------------------------------------------------------

    @timed
    def snapshot(
        self,
        target: files.Target | None = None,
        profile: formats.Profile = "rdf11",
        *,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        domain: str | None = None,
        select: str | None = None,
        only: str | None = None,
        engine_metadata: bool = True,
        history: str | os.PathLike[str] | None = None,
    ) -> str:
        """The dataset as deterministic text; also written to a path or an open file.

        The format is ``format``, or that of the path's suffix, or Turtle. ``rdf11`` loads
        everywhere, ``rdf12`` writes reifiers as ``~ <link>``. ``domain``, or a FIND or EXPORT as
        ``select``, takes a part, with the elements that it refers to. ``engine_metadata=False``
        leaves ``_version`` and the like out, for snapshots kept in git. ``mapping="original"``
        writes what was imported under the IRIs it had; with ``only="imported"`` nothing else, as
        RDF for others, which ``import_rdf`` reads and ``restore`` does not. ``history`` is a path
        for the history, as a log of RDF Patches.

        >>> import kiprdf
        >>> kiprdf.Nexus.memory(genesis=False).snapshot()
        '# kiprdf 1 base <urn:kip:nexus/>\\n'
        """
        check(target=target, format=format, log=history)
        chosen = options.SnapshotOptions.given(locals())
        write = functools.partial(
            snapshots.text, self.store, target, chosen, self._engine.select_nodes
        )
        if history is None:
            return self._run_on_files(write, select)
        is_whole = chosen.is_whole
        return self._run_on_files(
            lambda: patch_log.write_with(self.store, history, write, is_whole=is_whole)
        )

    @timed
    def write_snapshot(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        profile: formats.Profile = "rdf11",
        *,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        domain: str | None = None,
        select: str | None = None,
        only: str | None = None,
        engine_metadata: bool = True,
        advance: Advance | None = None,
    ) -> int:
        """Write the dataset, or a part of it, piece by piece; return the number of triples.

        Arguments as in ``snapshot``; ``advance`` is called with the number of triples written
        since its last call.
        """
        check(binary=target, format=format)
        chosen = options.SnapshotOptions.given(locals())
        write = functools.partial(
            snapshots.write, self.store, target, chosen, self._engine.select_nodes
        )
        return self._run_on_files(write, select)

    @timed
    def sign(
        self, key: str | os.PathLike[str] | Ed25519PrivateKey, *, selection: str | None = None
    ) -> str:
        """A signed document of the dataset, as JSON-LD, which ``kiprdf.verify`` reads.

        Its proof is a W3C Data Integrity proof, which other libraries verify, too. ``key`` is a
        file of ``kiprdf key new``, or an ``Ed25519PrivateKey``; ``selection`` is the WHERE of an
        EXPORT, and takes a part, with the elements that it refers to. The document has what
        ``snapshot`` writes in its profile ``rdf11``. Raises KIP_1001 for another key, and for what
        cannot be signed, ``OSError`` for a file that cannot be read, ``StoreError`` without the
        extra ``sign``.
        """
        check(selection=selection)
        private = keys.key_of(key).private  # before a large dataset is read
        export = None if selection is None else exporting.export_of(selection)
        chosen = options.SnapshotOptions(select=export)
        select = self._engine.select_nodes
        lines = self._run_on_files(
            lambda: snapshots.read_part(self.store, chosen, select, profiles.to_lines), export
        )
        return signed_documents.sign_lines(lines, private)

    @timed
    def publish(
        self,
        folder: str | os.PathLike[str],
        *,
        mapping: MappingSources = None,
        title: str | None = None,
        description: str | None = None,
        publisher: str | None = None,
        license: str | None = None,
        address: str | None = None,
        facts: Facts | None = None,
        advance: Advance | None = None,
    ) -> Published:
        """Write static pages and files into a folder, replacing what was published there.

        ``title`` is the name of the nexus on the pages; with ``description``, ``publisher`` (a name
        or an IRI) and ``license`` (an IRI) it describes the dataset. ``address`` is the IRI at
        which the folder will be served, if that is not the base. ``facts`` are on ``"pages"`` of
        their own or ``"inline"``, on those of concepts, the default above 1 000 facts.
        ``advance(1)`` is called for each element. Raises ``StoreError`` for a folder with other
        things in it, the home folder, and the folder of the nexus.
        """
        check(folder=folder)
        chosen = options.PublishOptions.given(locals())
        # The folder is the caller's: a fault in it is no failure of the nexus.
        target = publishing.checked_folder(folder, self.store.folder)
        return self._run_on_files(lambda: publishing.publish(self.store, target, chosen))

    @timed
    def schema(self, target: files.Target | None = None, *, mapping: MappingSources = None) -> str:
        """The types and predicates as RDFS and OWL, in Turtle."""
        check(target=target)
        vocabulary = mapping_of(mapping)
        return self._written(target, lambda: documents.schema(self.store, vocabulary))

    @timed
    def shapes(self, target: files.Target | None = None, profile: formats.Profile = "rdf11") -> str:
        """The instance schemas as SHACL, in Turtle, for snapshots in a profile."""
        check(target=target, profile=profile)
        return self._written(target, lambda: documents.shapes(self.store, profile))

    @timed
    def provenance(self, target: files.Target | None = None, *, intervals: bool = False) -> str:
        """The metadata in PROV-O and Dublin Core, and the domains in SKOS, in Turtle.

        The snapshot does not contain it, but the metadata themselves. ``intervals`` adds the facts
        that are valid in intervals, each with a reifier for each interval.
        """
        check(target=target, intervals=intervals)
        return self._written(target, lambda: documents.provenance(self.store, intervals))

    @timed
    def context(self) -> dict[str, Any]:
        """The IRIs that types, predicates and keys came with: a JSON-LD context, for ``mapping``.

        Imports note them in the definitions, as ``iri`` and in the rules of keys; so can you.
        """
        return self._engine.boundary.run(lambda: documents.context(self.store))

    def wikibase(self, target: files.Target | None = None) -> str:
        """What was imported with the mapping "wikidata", in the RDF of Wikibase again, in Turtle.

        The triples as they were imported, but for what changed since (docs/how-to/import.md).
        """
        check(target=target)
        return self._written(target, lambda: documents.wikibase(self.store))

    @timed
    def to_rdflib(self, mapping: MappingSources = None) -> rdflib.Graph:
        """The rdf11 profile of the dataset as a graph of rdflib."""
        vocabulary = mapping_of(mapping)
        return self._engine.boundary.run(lambda: snapshots.to_rdflib(self.store, vocabulary))

    # RDF in -----------------------------------------------------------------------------------

    @timed_write
    def restore(
        self,
        source: files.Source,
        *,
        base_iri: str | None = None,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        history: files.Source | None = None,
        check: bool = False,
    ) -> replacing.Restored:
        """Load a snapshot, a file or a text, into an empty nexus, in one commit.

        Empty means: nothing but what opening put there. The dataset is then that of the
        snapshot, ids and metadata included, under this nexus's base. ``base_iri`` is needed for a
        file that does not name its base, ``format`` when no suffix shows it and it is not Turtle,
        ``mapping`` for a snapshot that was written with it. ``history`` is the log that was written
        with it: its commits become those of this nexus, and numbers continue. Returns the number
        of elements; its attribute ``erased`` is that of the elements that were left out, since the
        erasure list of the nexus names them. ``check`` refuses a snapshot that violates the shapes
        of the nexus, with KIP_2002. KIP_3004 without the access ``admin``: it does not
        check who wrote, reviewed, retracted or rejected what, but takes it as it is in the
        snapshot, with authors, versions and times.
        """
        check_arguments(base_iri=base_iri, format=format, check=check)
        self._engine.writer.require_one_nexus("Restoring a snapshot")
        self._engine.writer.require_writable(access="admin")
        read = functools.partial(snapshots.read, source, format=format, source_base=base_iri)
        return self._run_on_files(
            lambda: replacing.restore(
                self._engine.writer,
                lambda: read(self.base_iri, mapping=mapping_of(mapping)),
                None if history is None else functools.partial(patch_log.read, history),
                checks=check,
            )
        )

    @classmethod
    def from_rdflib(
        cls, graph: rdflib.Graph, base_iri: str | None = None, *, mapping: MappingSources = None
    ) -> Nexus:
        """A nexus in memory with the dataset of a graph in the rdf11 profile, and nothing else.

        ``base_iri`` is the base of the graph's IRIs, ``mapping`` the one it was created with.
        Use ``import_rdf`` for other graphs.
        """
        check(base_iri=base_iri)
        nexus = cls.memory(base_iri, genesis=False)
        vocabulary = mapping_of(mapping)
        read = functools.partial(graphs.from_rdflib, graph, nexus.base_iri, vocabulary)
        engine = nexus._engine
        engine.boundary.run(lambda: replacing.restore(engine.writer, read))
        return nexus

    @timed_write
    def import_rdf(
        self,
        document: files.Source | list[files.Source] | rdflib.Graph,
        /,
        *,
        source: str | None = None,
        replace: bool = False,
        ontology: bool = False,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        define: bool = False,
        default_type: str | None = None,
        language: str | None = None,
        names: Names | None = None,
        base_iri: str | None = None,
        metadata: JsonMap | None = None,
        context: Contexts | None = None,
        loader: Loader | None = None,
        also: Sequence[files.Source] = (),
        update: bool = True,
        lenient: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Import external RDF as concepts and propositions, in one transaction.

        ``document`` is a path, an open file, a text or bytes, compressed or not, or a graph or
        dataset of rdflib; ``format`` is needed where no suffix names it. ``source`` is the name of
        where it comes from, else that of the file. With ``replace``, what an earlier import under
        the same source stated and this one does not is superseded or removed
        (docs/decisions/231). ``ontology`` takes the definitions in it, too, as ``import_ontology``
        does, in a transaction before. ``define`` creates missing types and predicates, which
        are KIP_2001 otherwise; ``default_type`` is the type of resources without one,
        ``language`` the preferred one of names (``en,de``), ``base_iri`` the base of relative IRIs,
        ``names`` what names are made of: "label" or "local" (the local name of the IRI); by default
        labels of resources, and of terms the local name. An opaque one never is, where a label is.
        ``metadata`` what every element gets besides its source and time. ``context`` is the
        context of JSON-LD that names one or has none: an object, a file, several, or files by
        URL. Nothing is fetched but such contexts, by a given ``loader``. ``update=False`` writes
        only what is new: the links to what other files described. ``also`` are further documents
        that are imported, too: classes and properties that share a local name share a definition,
        in any order of the documents. With ``lenient`` bad lines of N-Triples and N-Quads, and
        triples with bad IRIs, are skipped with their lines, and are no errors. Returns a report:
        what was, or with ``dry_run`` would be, created, updated or left unchanged, and what was
        skipped and why.

        A list of sources is imported one by one, each in one transaction, and again for
        links to what later ones describe. The report has those of all, as ``documents``.

        Other writers go on while the import is planned (docs/decisions/045).
        """
        chosen = options.ImportOptions.given(locals())
        return imports.import_rdf(self._engine, document, chosen)

    @timed
    def nanopublication(self, id: str, *, mapping: MappingSources = None, key: Any = None) -> str:
        """A proposition with what is known of it, as a nanopublication in TriG.

        The assertion has the fact, its attributes, and the types and names of its ends; the
        provenance its metadata, also in PROV; the publication info who made it, when, and with
        which license. Its IRI ends in a digest of its content. With a ``key``, a file of
        ``kiprdf key new``, an ``Ed25519PrivateKey`` or ``RSAPrivateKey``, it is signed. KIP_3002
        where there is no such proposition.

        >>> nexus = Nexus.memory()
        >>> id = nexus.id_of("($ConceptType:Person, belongs_to_domain, Domain:CoreSchema)")
        >>> "np:hasAssertion sub:assertion" in nexus.nanopublication(id)
        True
        """
        vocabulary = mapping_of(mapping)
        return nanopublications.nanopublication(self._engine, id, vocabulary, key)

    @timed_write
    def import_nanopublications(
        self,
        source: files.Source | list[files.Source] | rdflib.Graph,
        *,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        define: bool = True,
        default_type: str | None = "Thing",
        trusted: Sequence[str] | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Import the assertions of nanopublications, all or none, in one commit.

        ``source`` is what ``import_rdf`` takes, in TriG where nothing says otherwise. Raises
        KIP_2002 for the first nanopublication that is not well-formed, whose content is not that
        of its trusty URI, whose signature does not hold, or, with ``trusted``, that none of these
        keys has signed. A new fact has as ``source`` the IRI of its nanopublication, and its
        author, time, license and evidence; one of another nexus has its own metadata, and the IRI
        as ``via``. What exists is updated as by ``import_rdf``. The report is that of
        ``import_rdf``, and lists the ``nanopublications``: ``iri``, ``propositions``, ``signers``,
        and what each ``retracts`` or ``supersedes``, which is not done.
        """
        chosen = options.NanopublicationOptions.given(locals())
        return nanopublications.import_nanopublications(self._engine, source, chosen)

    @timed_write
    def import_ontology(
        self,
        document: files.Source | list[files.Source],
        /,
        *,
        format: formats.Format | None = None,
        mapping: MappingSources = None,
        inherit: bool = False,
        names: Names | None = None,
        also: Sequence[files.Source] = (),
        base_iri: str | None = None,
        metadata: JsonMap | None = None,
        context: Contexts | None = None,
        loader: Loader | None = None,
        update: bool = True,
        lenient: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Import an ontology in RDFS, OWL or SHACL as definitions of types and predicates.

        Classes above classes become propositions ``subclass_of``, properties above properties
        ``subproperty_of``. ``inherit`` writes what classes inherit into the schemas of those
        below. ``also`` are further ontologies that are imported, too: terms that share a name
        are named as if all were one file, in any order of files. The other arguments and the
        report are those of ``import_rdf``.
        """
        chosen = options.OntologyOptions.given(locals())
        return imports.import_ontology(self._engine, document, chosen)

    @timed
    def patch_to(self, other: Nexus) -> Patch:
        """The RDF Patch that leads from this nexus to another one with the same base.

        Its ``removed`` and ``added`` are triples, its ``text`` is what ``apply_patch`` reads. Times
        and versions are included. Raises ``StoreError`` for another base.

        >>> nexus = Nexus.memory()
        >>> nexus.patch_to(nexus)
        Patch(removed=frozenset(), added=frozenset())
        """
        load("kiprdf.interchange.differences.patch", "kiprdf.interchange.formats.reading")
        from kiprdf.interchange.differences import patch
        from kiprdf.interchange.formats import reading

        if self.base_iri != other.base_iri:
            bases = f"<{self.base_iri}> and <{other.base_iri}>"
            raise StoreError(f"A patch requires two datasets with the same base IRI, not {bases}.")
        before, after = (
            reading.read(nexus.snapshot(format="ntriples"), "ntriples", nexus.base_iri)
            for nexus in (self, other)
        )
        return patch.between(before, after)

    @timed
    def diff(
        self,
        other: Nexus | files.Source,
        *,
        engine_metadata: bool = False,
        link_ids: bool = False,
    ) -> Difference:
        """The differences between this nexus and another one, or a snapshot.

        They lead from this nexus to the other. ``engine_metadata`` compares versions and times
        too, ``link_ids`` the ids of propositions that state the same.
        """
        check(engine_metadata=engine_metadata, link_ids=link_ids)
        to = other.store if isinstance(other, Nexus) else other
        compare = functools.partial(snapshots.compare, self.store, to)
        return self._run_on_files(
            lambda: compare(engine_metadata=engine_metadata, link_ids=link_ids)
        )

    # Sharing ----------------------------------------------------------------------------------

    @timed_write
    def merge(
        self,
        theirs: Nexus | int | files.Source,
        *,
        base: Nexus | int | files.Source | None = None,
        token: str | None = None,
        prefer: merging.Prefer = None,
        strict: bool = False,
        dry_run: bool = False,
    ) -> Merged:
        """Merge what another nexus, or a branch, has changed since ``base``, by one commit.

        A side is a nexus, a folder, a snapshot, a commit of the own history, or the address of a
        server, with its ``token``. Without a base it is the last state that both histories have in
        them, and an empty one where there is none: then nothing is deleted.

        Each key that changed on one side is as on this side. One that changed differently on both
        is a conflict: ours stays, and theirs is noted in the metadata ``conflict`` of the element.
        ``prefer`` decides conflicts: ``"ours"``, ``"theirs"``, ``"newest"``, ``"most_trusted"``, or
        a function of a conflict that returns ``"ours"``, ``"theirs"`` or None. ``strict`` refuses
        a merge with conflicts: KIP_2002. Raises KIP_3004 as any write does.

        >>> nexus, other = Nexus.memory(), Nexus.memory()
        >>> _ = other.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> nexus.merge(other).counts()["concepts"]
        {'added': 1, 'removed': 0, 'changed': 0}
        """
        check(dry_run=dry_run, strict=strict)
        run = functools.partial(
            merging.merge,
            self._engine,
            theirs.store if isinstance(theirs, Nexus) else theirs,
            base.store if isinstance(base, Nexus) else base,
            token=token,
            prefer=prefer,
            strict=strict,
            dry_run=dry_run,
        )
        return self._run_on_files(run)

    @timed_write
    def follow(
        self,
        source: str | os.PathLike[str],
        *,
        token: str | None = None,
        selection: str | None = None,
    ) -> dict[str, Any]:
        """Take over what another nexus knows, from the place where this ended last.

        ``source`` is the folder of a nexus, the address of a server or of a scope in it, for which
        there may be a ``token``, or a file that ``snapshot(…, history=FILE)`` wrote. ``selection``
        is the WHERE of an EXPORT: only what it selects there is followed.

        What is followed keeps its author, times and ``_actor``, and has the sources in its metadata
        as ``via``. What this nexus says itself stays, and ``conflicts()`` has what others say
        instead. What was erased or rejected here does not return.

        Returns how many ``commits`` were read, how many elements were ``created``, ``changed`` and
        ``deleted``, how many were left out as ``erased`` or ``rejected``, how many were ``skipped``
        since they were known, the ``conflicts`` that there are, and the ``place``, the last commit
        of the source that was followed. Raises ``KipError``: KIP_1001 for what is no log, KIP_2002
        for one that no nexus writes, KIP_3002 for a source that has lost commits, KIP_3004 for who
        lacks the access ``admin``, KIP_4002 for a log beyond all limits, KIP_4003 for a source that
        cannot be reached: what came whole is kept then.
        """
        return self._engine.boundary.run(
            lambda: following.follow(self._engine.writer, source, token, selection)
        )

    def branch(self, folder: str | os.PathLike[str]) -> int:
        """Copy the nexus into a folder, absent or empty, to try something out and merge it.

        The copy has the history, and notes the commit at which it begins, which is returned:
        ``merge`` finds it. Raises KIP_1001 for a nexus without a history, and ``StoreError``.
        """
        self._engine.writer.require_one_nexus("A branch")
        return sides.branch(self._engine.writer, folder)

    @timed
    def conflicts(self) -> list[dict[str, Any]]:
        """Where others, whose knowledge was merged or followed, say something else.

        Each has ``id`` and ``key``, such as ``attributes.age``, or ``exists`` where one side has
        deleted the element, and ``ours`` and ``theirs``: ``value``, absent where a side has none,
        ``by`` and ``at``. Those whose values are equal by now are left out.

        >>> Nexus.memory().conflicts()
        []
        """
        return self._engine.boundary.run(lambda: noted_conflicts.conflicts(self.store))

    # Time -------------------------------------------------------------------------------------

    def at(self, when: int | str | datetime) -> Nexus:
        """The nexus as of a commit, or of the last one at or before a time, to read; close it.

        ``when`` is the number of a commit, an ISO 8601 time with an offset, or a ``datetime``.
        KIP_3002 for what the history does not reach.

        >>> nexus = Nexus.memory(history=True)
        >>> before = nexus.info()["commit"]
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> with nexus.at(before) as past:
        ...     past.execute('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name')
        ['$self', '$system']
        """
        return self._as_of(lambda: past_states.open_past(self.store, when))

    def _nearest(
        self, number: int, kept: Iterable[Nexus], size: Callable[[int, int], int]
    ) -> Nexus:
        """As ``at``, from what is nearest; see ``open_nearest``."""
        store = cast(OxigraphStore, self.store)
        pasts = [cast("PastStore", past.store) for past in kept]
        return self._as_of(lambda: past_states.open_nearest(store, number, pasts, size))

    def _as_of(self, open: Callable[[], OxigraphStore]) -> Nexus:
        engine = self._engine
        store = engine.boundary.run(open)
        budget = engine.budgets.budget
        own = (False, None, None, engine.clock, engine.embedder, budget)
        past = self._on(store, dict(zip(_OF_NEXUS, own, strict=True)))
        past._engine.inherited_entail = self.entail
        return past

    def acting(
        self,
        *,
        author: str | None = None,
        session: str | None = None,
        kind: Kind | None = None,
        access: Access | None = None,
    ) -> AbstractContextManager[None]:
        """A ``with`` block whose commits are those of an author in a session.

        ``kind`` is ``human``, ``model`` or ``job``; an author without a kind is a model. ``access``
        limits what the block may do: ``read``, ``propose``, ``write`` or ``admin``. Code outside of
        such a block is the owner: human, with the access ``admin``. What an author writes has
        ``metadata._actor``. It holds for the thread and the asyncio task that runs the block.

        >>> nexus = Nexus.memory(history=True)
        >>> with nexus.acting(author="agent-7"):
        ...     _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> nexus.history("C:Person/Ada")["entries"][0]["author"]
        'agent-7'
        >>> nexus.execute('FIND(?p.metadata._actor) WHERE { ?p {name: "Ada"} }')
        ['model/agent-7']
        """
        check(author=author, session=session, kind=kind, access=access)
        return acting(self._engine.writer, author, session, kind, access)

    @property
    def actor(self) -> Actor:
        """Who acts in the innermost block of ``acting``, or the owner.

        >>> nexus = Nexus.memory()
        >>> with nexus.acting(author="agent-7", access="propose"):
        ...     nexus.actor.label, nexus.actor.may("write")
        ('model/agent-7', False)
        """
        return acting_on(self._engine.writer)

    @timed
    def history(
        self, id: str, *, key: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> dict[str, Any]:
        """The changes of an element, the newest first, with their commits; it may be deleted.

        ``key`` selects the changes of one key, such as ``attributes.risk``. Returns the ``id``,
        ``entries``, ``next_cursor`` and ``earliest_seq``. The entries of a view are those of its
        members in the order of time, each with its ``scope``, and ``earliest_seq`` is None.
        """
        read = functools.partial(histories.history, self.store, id, key, limit, cursor)
        return self._engine.boundary.run(read)

    def id_of(self, element: str) -> str:
        """The id of an element as people write it: by its name, its type and name, or its id.

        A proposition is written ``(Drug:Aspirin, treats, Symptom:Headache)``. Raises KIP_3002 for
        a name that no element has, and KIP_3003 for one that several have.

        >>> Nexus.memory().id_of("Domain:System")
        'C:Domain/System'
        """
        return naming.id_of(element, functools.partial(self.find, entail=False), self.store)

    @timed
    def changes(
        self,
        since: int | str | datetime | None = None,
        until: int | str | datetime | None = None,
        *,
        type: str | None = None,
        author: str | None = None,
        session: str | None = None,
        source: Any = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """The commits after one, or after a time, each with what it added, removed and changed.

        Without ``since``, all that the history has; ``until`` is the last one. ``author`` and
        ``session`` select commits; ``type`` (or a predicate) and ``source`` select elements.
        Returns ``commits``, ``next_cursor`` and ``earliest_seq``. Those of a view are its members',
        as in ``history``, and are selected by times.
        """
        check(author=author, session=session)
        selection = {"type": type, "author": author, "session": session, "source": source}
        read = functools.partial(
            histories.changes, self.store, since, until, limit=limit, cursor=cursor
        )
        return self._engine.boundary.run(lambda: read(**selection))

    @timed
    def receipt(self, seq: int, key: object) -> str:
        """A signed document of what a commit was: its kind, when, by whom, and how much it changed.

        It has no content: no names, no values, no text. ``head`` is the digest of the commit's
        record, by which ``verify_history`` compares the receipt with the folder. A FORGET has the
        number of ``forgotten`` elements, and of the commits that were rewritten. ``key`` is a file
        of ``kiprdf key new``, or an ``Ed25519PrivateKey``. Raises KIP_3002 for a commit that has no
        record of itself, KIP_1001 without a history.
        """
        facts = self._engine.boundary.run(lambda: receipts.content(self.store, seq))
        return receipts.signed(facts, key)

    @timed_write
    def undo(
        self,
        *,
        seq: int | None = None,
        seqs: Iterable[int] | None = None,
        session: str | None = None,
        source: Any = None,
        conflicts: str = "refuse",
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Take back what a commit, several, a session or a source wrote, by another commit.

        Only values that nobody else wrote later are taken back. Others are ``conflicts``: KIP_2002,
        and nothing is written, unless ``conflicts="skip"``. Returns ``seqs``, ``reverted``,
        ``conflicts``, and ``seq`` of the new commit; a dry run returns the plan. ``actors`` are
        those who wrote the commits, but for the owner.

        >>> nexus = Nexus.memory(history=True)
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> nexus.undo(seq=nexus.info()["commit"])["reverted"]
        [{'id': 'C:Person/Ada', 'change': 'deleted', 'keys': []}]
        """
        self._engine.writer.require_one_nexus("Undo")
        chosen = {"seq": seq, "seqs": seqs, "session": session, "source": source}
        run = functools.partial(undoing.undo, self._engine.writer, conflicts, dry_run, **chosen)
        return self._engine.boundary.run(run)

    @timed_write
    def reject(self, what: str | Sequence[Any], *, reason: str) -> str:
        """Reject a value for good, and return the name of the rejection.

        ``what`` is the id of a proposition; ``(subject, predicate, object)`` with ids of elements,
        which need not exist; or ``(id, "attributes.KEY", value)``. The fact becomes retracted, the
        value leaves its element, and each later write of it is KIP_3004, however it is spelled. The
        rejection has a digest of the value, and the ``reason`` as it is given: do not repeat in it
        what is rejected. Only a person rejects.

        >>> nexus = Nexus.memory()
        >>> ada = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {home: :h} } }'
        >>> _ = nexus.reject(("C:Person/Ada", "attributes.home", "The Moon"), reason="A joke.")
        >>> nexus.execute(ada, h="THE  MOON")
        Traceback (most recent call last):
        kiprdf.errors.KipError: KIP_3004 1:20 attributes.home of C:Person/Ada was rejected by ...
        """
        return self._engine.boundary.run(
            lambda: rejecting.reject(self._engine.writer, what, reason)
        )

    @timed_write
    def lift(self, name: str) -> None:
        """Lift a rejection: its value may be written again; a fact that is retracted stays so.

        Only a person lifts it. Raises KIP_3002 for a name that no rejection has.
        """
        self._engine.boundary.run(lambda: rejecting.lift(self._engine.writer, name))

    def rejections(self) -> list[dict[str, Any]]:
        """All rejections, the oldest first: ``name``, ``by``, ``at`` and ``reason`` of each.

        >>> nexus = Nexus.memory()
        >>> name = nexus.reject(("C:Person/Ada", "knows", "C:Person/Bo"), reason="They never met.")
        >>> [(each["name"] == name, each["by"]) for each in nexus.rejections()]
        [(True, 'human/owner')]
        """
        return self._engine.boundary.run(lambda: rejecting.rejections(self.store))

    def refusals(
        self, *, author: str | None = None, session: str | None = None, limit: int = 100
    ) -> list[dict[str, Any]]:
        """The writes that were refused, the newest first, without their texts.

        Each has its ``time``, the ``principal`` and its ``session``, the ``code`` of the error, and
        as ``digest`` the SHA-256 of the text; None where there is none, as for an import. A folder
        keeps them in ``audit.jsonl``; a nexus in memory, and one that is open read-only, has the
        last thousand.

        >>> nexus = Nexus.memory()
        >>> with nexus.acting(author="agent-7", access="read"):
        ...     nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        Traceback (most recent call last):
        kiprdf.errors.KipError: KIP_3004 agent-7 has the access 'read' only. ...
        >>> [(each["principal"], each["code"]) for each in nexus.refusals()]
        [('model/agent-7', 'KIP_3004')]
        """
        check(author=author, session=session)
        return self._engine.boundary.run(
            lambda: self._engine.refusals.listed(author, session, limit)
        )

    def validity(self, id: str) -> list[dict[str, str | None]]:
        """The intervals in which a fact is valid: its Periods and its metadata, united.

        Each is ``{"from", "until"}``, to before ``until``; None is an open end. Without any
        interval nothing is known to limit the fact: the list is empty.

        >>> nexus = Nexus.memory()
        >>> [id] = nexus.execute('''UPSERT {
        ...   CONCEPT ?ada { {type: "Person", name: "Ada"} }
        ...   CONCEPT ?bo { {type: "Person", name: "Bo"} }
        ...   PROPOSITION ?fact { (?ada, "knows", ?bo) }
        ...   PROPOSITION { (?fact, "valid_during", {type: "Period", name: "2019/.."}) }
        ... }''')["upsert_proposition_links"][:1]
        >>> nexus.validity(id)
        [{'from': '2019-01-01', 'until': None}]
        """
        return self._engine.boundary.run(lambda: valid_times.validity(self.store, id))

    @timed_write
    def forget(
        self,
        command: str | Sequence[str],
        /,
        *,
        derived: bool = False,
        dry_run: bool = False,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Erase the elements that a FIND shows, and the propositions about them, for good.

        In place of a FIND, a list has their ids, also of elements that are gone from the graph.
        They leave the graph, the history, the search index and every file of the folder; for
        copies of it there is the list of ``erasures``. ``derived`` erases besides what has no
        other evidence: the facts that only they stated, the entities that only they mentioned, and
        what is derived from them alone. Returns ``elements`` and ``links``, the ids; ``commits``,
        the numbers of those that mentioned them; ``mentions``, the ids of others whose values have
        a name of them, now or earlier; ``seq``, the commit that forgot them; the ids of what was
        ``derived``, or what is ``unsupported`` from now on. A dry run returns the same, and writes
        nothing.

        >>> nexus = Nexus.memory(history=True)
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
        >>> nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: :n} }', n="Jane")["elements"]
        ['C:Person/Jane']
        """
        check(dry_run=dry_run, derived=derived)
        refuse_entail(command, parameters)
        self._engine.writer.require_one_nexus("Forgetting")
        source = command if isinstance(command, str) else None
        select = functools.partial(self._engine.select_nodes, command, parameters)
        return self._engine.boundary.run(
            lambda: forgetting.forget(self._engine.writer, select, derived, dry_run), source
        )

    def erasures(self, target: files.Target | None = None) -> str:
        """The erasure list: a digest of the id of each element that was forgotten, without names.

        ``apply_erasures`` reads the text, and so does ``open`` of a backup. It is also written to
        a path or an open file.

        >>> nexus = Nexus.memory()
        >>> _ = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
        >>> _ = nexus.forget(["C:Person/Jane"])
        >>> print(nexus.erasures(), end="")
        kiprdf erasures 1
        b436f4c24655cfaf3fee085edb1b39f4eb85deac37ed1ed50912bbe7a62d90ff
        """
        check(target=target)
        return self._written(target, lambda: erasure_lists.as_text(self._engine.writer.erasures))

    @timed_write
    def apply_erasures(self, source: files.Source, *, dry_run: bool = False) -> dict[str, Any]:
        """Forget what the erasure list of another nexus names, and add it to that of this one.

        ``source`` is a text of ``erasures``, a path or an open file. Definitions of types and
        predicates stay. Returns the numbers of elements that were ``erased``, of ``commits`` whose
        records were rewritten, and of digests that were new, ``listed``; and ``seq``, the commit,
        None if there was nothing to do.
        """
        check(dry_run=dry_run)
        self._engine.writer.require_one_nexus("An erasure list")
        return self._forget_listed(erasure_lists.read(files.text(source)), dry_run)

    def _forget_listed(self, listed: frozenset[str], dry_run: bool) -> dict[str, Any]:
        forget = functools.partial(forgetting.apply_erasures, self._engine.writer, listed, dry_run)
        return self._engine.boundary.run(forget)

    @timed_write
    def compact_history(self, before: int | str | date) -> dict[str, int]:
        """Replace the history up to a commit, or a time, by the state as of it.

        That state becomes the earliest one: what is before it is KIP_3002 from now on. Returns
        its number as ``earliest_seq``, and how many ``commits`` left the history.
        """
        self._engine.writer.require_one_nexus("Compacting a history")
        return self._engine.boundary.run(
            lambda: recorded.compact_history(self._engine.writer, before)
        )

    # Review -----------------------------------------------------------------------------------

    @timed
    def proposals(self, *, all: bool = False) -> list[dict[str, Any]]:
        """The proposals that wait for a person, the oldest first.

        In a block with the access ``propose`` each statement that writes becomes a proposal:
        ``execute`` returns its id as ``proposed``, and as ``would`` the receipt that it would have.
        A proposal has the ``text`` and its ``parameters``, ``by`` whom and ``at`` what time it was
        made, the ``commit`` that it saw and the versions that it ``reads``, and what it would do:
        ``diff`` is for people, ``changes`` for programs. ``all`` adds those that were decided.

        >>> nexus = Nexus.memory()
        >>> with nexus.acting(author="agent-7", access="propose"):
        ...     answer = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> answer["proposed"], nexus.execute('FIND(COUNT(?p)) WHERE { ?p {name: "Ada"} }')
        ('prop-1', 0)
        >>> print(nexus.proposals()[0]["diff"])
        Concepts
        + Person:Ada
        ...
        """
        return self._engine.boundary.run(lambda: proposals.proposals(self._engine, all=all))

    @timed
    def proposal(self, id: str) -> dict[str, Any]:
        """One proposal, which may be decided; KIP_3002 if there is none."""
        return self._engine.boundary.run(lambda: proposals.proposal(self._engine, id))

    @timed_write
    def approve(self, id: str) -> dict[str, Any]:
        """Run a proposal as it was frozen, under the name of the person who approves; its receipt.

        KIP_3005 if something that it read has changed since it was made: it is stale, and waits
        until it is declined. KIP_3004 for models and jobs, and for who proposed it.

        >>> nexus = Nexus.memory()
        >>> with nexus.acting(author="agent-7", access="propose"):
        ...     answer = nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        >>> nexus.approve("prop-1")["upsert_concept_nodes"]
        ['C:Person/Ada']
        """
        return self._engine.boundary.run(lambda: proposals.approve(self._engine, id))

    @timed_write
    def decline(self, id: str, reason: str, reject: bool = False) -> dict[str, Any]:
        """Close a proposal without running it, and return it; only people do.

        ``reject`` also rejects the facts between concepts and the values of their attributes that
        it would have stated, as ``Nexus.reject`` does; their names are ``rejected``.
        """
        decide = functools.partial(proposals.decline, self._engine, id, reason, rejects=reject)
        return self._engine.boundary.run(decide)

    # The gate ---------------------------------------------------------------------------------

    @timed_write
    def set_shapes(
        self,
        shapes: files.Source | None,
        *,
        mapping: MappingSources = None,
        on_violation: OnViolation = "refuse",
    ) -> gating.ShapesReport:
        """Set the SHACL shapes that every write must satisfy from now on; None removes them.

        ``shapes`` is Turtle, as a text, a path or an open file, in the IRIs of this nexus or of a
        ``mapping``. A write that violates them is KIP_2002, and nothing is written; with
        ``on_violation="propose"`` a statement becomes a proposal instead, with the violation as its
        ``reason``. Returns the report of ``check_shapes``: what the nexus violates by now may stay,
        until it is written. The shapes are in the history and in backups, and not in snapshots.
        Only a person with the access ``admin`` sets them. Raises ``StoreError`` where the extra
        ``shapes`` is not installed.

        >>> nexus = Nexus.memory()
        >>> nexus.set_shapes(None).conforms, nexus.shapes_set()
        (True, None)
        """
        check(on_violation=on_violation)
        writer, vocabulary = self._engine.writer, mapping_of(mapping)
        text = None if shapes is None else files.text(shapes)
        set_them = functools.partial(gating.set_shapes, writer, text, vocabulary, on_violation)
        return self._engine.boundary.run(set_them, text)

    def shapes_set(self) -> str | None:
        """The shapes that every write must satisfy, as they were set; None where there are none."""
        writer = self._engine.writer
        return self._engine.boundary.run(lambda: writer.store.read(writer.gate.text))

    @timed
    def check_shapes(self) -> gating.ShapesReport:
        """Where the nexus does not satisfy its shapes.

        ``violations`` have the ``message``, the ``path``, the ``value``, the ``element`` and its
        ``shape`` each, ``counts`` their numbers by shape; ``conforms`` says that there are none,
        but for those of the severities Warning and Info. ``warnings`` are what the shapes name and
        the nexus lacks.
        """
        return self._engine.boundary.run(lambda: gating.check_shapes(self._engine.writer))

    # Maintenance ------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """Base, counts and commit of the nexus, for people.

        ``vectors`` is the number of elements of the search index that have vectors.
        """
        return self._engine.info()

    def names(self) -> dict[str, list[str]]:
        """The names that commands can mention: types, predicates, attribute and metadata keys.

        Keys are read from at most 100 elements of each type and predicate.

        >>> Nexus.memory().names()["predicates"][:2]
        ['belongs_to_domain', 'caused_by']
        """
        return self._engine.names()

    @timed
    def build_index(
        self,
        advance: Callable[[int], object] = lambda missing: None,
        *,
        propositions: bool = True,
        only_after_much: bool = False,
    ) -> None:
        """Complete the text index of SEARCH, which a SEARCH does within its time.

        Without ``propositions``, these are in it only if a SEARCH has asked for them before.
        ``advance`` is called with the number of elements that are still missing. What is done is
        kept in the folder after an interrupt, too; a nexus that was opened read-only writes it
        there if no other program has the folder open for writing. ``only_after_much`` does nothing
        unless this nexus has written more than ``close`` adds to the index.

        >>> Nexus.memory().build_index()
        """
        self._engine.boundary.run(
            lambda: self._engine.indexer.complete(
                advance, propositions=propositions, only_after_much=only_after_much
            )
        )

    @timed
    def embed(self, advance: Callable[[int, int], None] = lambda embedded, total: None) -> int:
        """Compute the vectors that semantic search misses; return the number of elements.

        ``advance`` is called with the number of elements that have vectors, and of all. Vectors are
        stored batch by batch; after an interrupt the next call, or the next SEARCH, continues. A
        nexus that was opened read-only keeps them in memory. Raises ``StoreError`` without an
        embedder, or if it fails.

        >>> nexus = Nexus.memory(embedder=lambda texts: [[1.0, len(text)] for text in texts])
        >>> nexus.embed() == nexus.info()["vectors"] > 0
        True
        """
        return self._engine.indexer.embed(advance)

    def backup(self, folder: str | os.PathLike[str], *, history: bool = True) -> None:
        """Copy the nexus into a folder, which is absent or empty, while it is in use.

        The copy holds one commit, ids and all, and unless ``history`` is false its history;
        ``open`` opens it. Raises ``StoreError``.
        """
        check(history=history)
        self.store.backup(folder, history)

    @timed
    def check(self, *, repair: bool = False) -> dict[str, Any]:
        """Whether the nexus is sound, as counts, ``faults`` and the state of the ``index``.

        Every triple is checked. ``repair`` rebuilds a text index that differs from the graph.

        >>> report = Nexus.memory().check()
        >>> report["faults"], report["index"]
        ([], 'sound')
        """
        return self._engine.boundary.run(lambda: maintenance.check(self._engine, repair))

    def problems(self) -> list[str]:
        """What is wrong while the nexus is in use, as sentences; empty if all is well.

        The folder cannot be written, its disk is nearly full, files are damaged, or the graph has
        lost commits. ``check`` finds more, and takes longer.

        >>> Nexus.memory().problems()
        []
        """
        return self._engine.boundary.run(lambda: maintenance.problems(self._engine))

    @timed_write
    def optimize(self) -> dict[str, int]:
        """Write the graph of a folder afresh, without what RocksDB keeps of earlier writes.

        A folder after many writes takes up to three times what it needs. Writers wait, readers do
        not; a crash leaves the graph before or after it. Returns the bytes of the folder ``before``
        and ``after``, which are 0 in memory. Raises KIP_1001 for a store behind an endpoint.

        >>> Nexus.memory().optimize()
        {'before': 0, 'after': 0}
        """
        self._engine.writer.require_one_nexus("Optimizing")
        return self._engine.boundary.run(lambda: maintenance.optimize(self._engine))

    def _written(self, target: files.Target | None, function: Callable[[], str]) -> str:
        """The text that a function makes, which is also written to a path or an open file."""
        return files.write_text(target, self._engine.boundary.run(function))

    def _run_on_files(self, function: Callable[[], T], source: str | None = None) -> T:
        """Run a function in the error boundary; an ``OSError`` concerns a file of the caller."""
        return self._engine.boundary.run(function, source, passes_os_errors=True)
