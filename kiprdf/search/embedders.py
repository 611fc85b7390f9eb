"""Embedders turn texts into vectors, so that similar meanings have a large cosine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from kiprdf.errors import StoreError
from kiprdf.loading import Lazy, load

if TYPE_CHECKING:
    import logging

    from numpy.typing import NDArray
else:
    logging = Lazy("logging")

INSTALL = "pip install 'kiprdf[semantic]'"
_MODEL = "wordllama"
# Characters of the texts embedded at once. A model pads them all to the longest, and a Chinese
# character may be three tokens of a kilobyte each.
_BATCH_CHARACTERS = 16_000
_KEPT_WORDS = 4096
"""Words of queries whose vectors are kept, in a kilobyte each."""


class Embedder(Protocol):
    """Any callable from a list of texts to as many vectors, all of one length.

    The vectors are lists of numbers or a numpy array. Only their directions matter. The same text
    must always get the same vector. A nexus calls the embedder from one thread at a time.
    """

    def __call__(self, texts: list[str], /) -> Sequence[Sequence[float]] | NDArray[Any]:
        """Return the vectors of the texts, in their order."""
        ...


@runtime_checkable
class AdditiveEmbedder(Embedder, Protocol):
    """An embedder for which the vector of a text has the direction of the sum of its words'.

    It must be quick and local: it is called while a search waits, in the thread of the caller. A
    query is then the sum of its words weighted by their rarity in the index.
    """

    def embed_words(self, words: list[str], /) -> Sequence[Any] | NDArray[Any]:
        """Return the vectors of single words, which have lengths, in their order."""
        ...


class EmbeddingError(Exception):
    """An embedder failed, or did not return one finite vector for each text."""


def require_numpy() -> None:
    """Raise `StoreError` if numpy is not installed; does not load it."""
    if find_spec("numpy") is None:
        raise StoreError(f"An embedder needs numpy, which is not installed: {INSTALL}.")


def is_installed() -> bool:
    """Whether `wordllama` is installed; loads nothing."""
    return find_spec("numpy") is not None and find_spec(_MODEL) is not None


def wordllama() -> Embedder:
    """Return the embedder of the extra `semantic`: small, for English, and offline.

    Its weights are part of the installed package, 256 numbers for each token; the first call loads
    them. Raises `StoreError` if the extra is not installed.
    """
    if not is_installed():
        raise StoreError(f"The embedder wordllama is not installed: {INSTALL}.")
    return _WordLlama()


class _WordLlama:
    """The mean of the vectors of a text's tokens."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None
        self._words: dict[str, NDArray[Any]] = {}

    def __call__(self, texts: list[str], /) -> NDArray[Any]:
        with self._lock:
            at_once = max(1, _BATCH_CHARACTERS // max(map(len, texts), default=1))
            vectors: NDArray[Any] = self._loaded().embed(texts, batch_size=at_once)
            return vectors

    def embed_words(self, words: list[str], /) -> list[Any]:
        """Return the sums of the vectors of the words' tokens."""
        with self._lock:
            model = self._loaded()
            if len(self._words) > _KEPT_WORDS:
                self._words.clear()
            for word in words:
                if word not in self._words:
                    # One by one: for a batch the tokenizer starts threads.
                    tokens = model.tokenizer.encode(word, add_special_tokens=False)
                    self._words[word] = model.embedding[tokens.ids].sum(axis=0)
            return [self._words[word] for word in words]

    def knows(self, word: str) -> bool:
        """Whether the model has more of an English word than pieces of two letters or less."""
        with self._lock:
            pieces = len(self._loaded().tokenizer.encode(word, add_special_tokens=False).ids)
        return pieces == 1 or len(word) > 2 * pieces or not word.isascii()

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load()
        return self._model


def _load() -> Any:
    with _unchanged_logging():
        load(_MODEL)
    package = sys.modules[_MODEL]
    assert package.__file__ is not None
    # Its wheel contains the tokenizer, but the package looks for it in a cache folder only.
    folder = Path(package.__file__).parent
    return package.WordLlama.load(cache_dir=folder, disable_download=True)


@contextmanager
def _unchanged_logging() -> Iterator[None]:
    """Undo what an import changes at the root logger, which belongs to the application."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
