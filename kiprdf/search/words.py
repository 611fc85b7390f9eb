"""The words of a term, and which words of a text match them."""

from kiprdf.search.segment import segment, segment_term


def asked_tokens(term: str) -> frozenset[str]:
    """The tokens by which a row may match a term.

    >>> sorted(asked_tokens("SideEffect"))
    ['effect', 'side', 'sideeffect']
    """
    return frozenset(segment_term(term))


def matches(word: str, tokens: frozenset[str]) -> bool:
    """Whether a word of a text has one of the tokens of a term.

    >>> matches("Crème,", asked_tokens("creme brulee"))
    True
    """
    return not tokens.isdisjoint(segment(word))
