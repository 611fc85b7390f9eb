"""What the pages of one nexus are made from, and the links that need its elements."""

from __future__ import annotations

from dataclasses import replace

from kiprdf.actors import Actor
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.kql.reader import read_catalog
from kiprdf.meta.describe import survey_of
from kiprdf.meta.primer import Survey
from kiprdf.nexus import Nexus
from kiprdf.pages.page import Paths, View
from kiprdf.rdf.elements import Proposition, read_element
from kiprdf.serve.explorer import time_pages
from kiprdf.serve.explorer.forms import Forms
from kiprdf.serve.explorer.page import ExplorerPage, ExplorerSite
from kiprdf.serve.explorer.time_pages import Moment
from kiprdf.store import Store

_DEEPEST = 3
"""The maximum depth of facts about facts in a sentence."""


@dataclass(frozen=True)
class Explorer:
    """A nexus, and who looks at it; ``root`` is the path of the application."""

    nexus: Nexus
    store: Store
    title: str
    actor: Actor
    root: str = ""
    moment: Moment | None = None
    forms: Forms | None = None
    """Makes the keys of forms; None for who may not write, and on pages of the past."""
    acts: Forms | None = None
    """The same for acts on elements, which who may only propose has, too."""
    waiting: int | None = None
    """How many proposals wait; None for who does not see them."""

    def page(
        self, path: str, knowledge: Knowledge | None = None, **query: str | list[str] | None
    ) -> ExplorerPage:
        """A page whose address has a query; a field of it is None where it is absent."""
        knowledge = knowledge or Knowledge(self.store.iris)
        site = ExplorerSite(knowledge, Paths(), self.title, Mapping.none())
        given = {key: value for key, value in query.items() if value}
        page = ExplorerPage(site, path, self.root, self.moment, query=given)
        return replace(page, waiting=self.waiting)

    def page_of_all_commits(self, path: str) -> ExplorerPage:
        """A page whose links lead to what there is now."""
        return replace(self.page(path), moment=None)

    def survey(self) -> Survey:
        """What the nexus has, whole."""
        nexus, store = self.nexus, self.store
        clock, beliefs = nexus._engine.clock, nexus.beliefs

        def read() -> Survey:
            return survey_of(store, read_catalog(store), clock, beliefs)

        return nexus.request(lambda: store.read(read))

    def link(self, page: ExplorerPage, identity: str) -> View:
        """A link to an element: the name of a concept, the words of a proposition."""
        node = self.store.iris.from_id(identity)
        if node is None:
            return {"iri": identity}
        shown = read_element(self.store.iris, node, self.store.describe(node))
        if not isinstance(shown, Proposition):
            return page.node_link(node)
        href = page.href(page.site.path(node))
        return {"href": href, "words": self._words(shown, _DEEPEST)}

    def _words(self, fact: Proposition, depth: int) -> View:
        """The words of a fact, and of the facts that it is about down to a depth."""
        iris = self.store.iris
        words = time_pages.words_of(iris, fact)
        for place, end in (("subject", fact.subject), ("object", fact.object)):
            if depth > 1 and end.value.startswith(iris.propositions):
                inner = read_element(iris, end, self.store.describe(end))
                if isinstance(inner, Proposition):
                    words[place] = self._words(inner, depth - 1)
        return words
