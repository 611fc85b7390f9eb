"""What follows from definitions, and what shapes demand, in words (docs/decisions/208)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.kql.entailment import Rules

INTRODUCTION = 'With "entail": true, a FIND also matches what follows: '
"""What a list of consequences begins with."""
Demands: TypeAlias = Mapping[str, tuple[str, ...]]
"""The messages of shapes by the names of the types that they are for."""
MOST_NAMED = 8
"""The subtypes, or subproperties, of one definition that are named."""


def consequences(rules: Rules | None, counts: Mapping[NamedNode, int]) -> list[str]:
    """What follows from the rules of types and predicates that are in use, the most used first.

    ``counts`` are the numbers of their elements.

    >>> consequences(None, {})
    []
    """
    if rules is None:
        return []
    used: list[tuple[int, str]] = []
    for node in _ruled(rules):
        matched = {node, *_below(rules, node), *(one for one, _ in rules.steps((node, True)))}
        number = sum(counts.get(one, 0) for one in matched)
        if number and (text := _about(rules, node)):
            used.append((-number, text))
    return [text for _, text in sorted(used)]


def consequences_of(node: NamedNode, rules: Rules | None) -> str | None:
    """What follows for a definition: from its own rules, and from those of what includes it."""
    if rules is None:
        return None
    above = [one for one in _ruled(rules) if node in _below(rules, one)]
    own = _about(rules, node)
    parts = [own] if own else []
    if above:
        parts.append(f"{_listed(rules, [node])} is in {_listed(rules, above)}")
    return f"{INTRODUCTION}{'; '.join(parts)}." if parts else None


def gate_line(
    names: Iterable[str], demands: Demands, shown: Callable[[str], str] = lambda text: text
) -> str:
    """What a write of concepts of some types must satisfy; ``shown`` makes a name or a text fit.

    >>> gate_line(["Drug"], {"Drug": ("Give the dose in mg.",)})
    'Each write must satisfy the shapes of Drug: Give the dose in mg.'
    """
    parts = (": ".join(map(shown, filter(None, (name, " ".join(demands[name]))))) for name in names)
    return f"Each write must satisfy the shapes of {'; of '.join(parts)}"


def _ruled(rules: Rules) -> list[NamedNode]:
    """The definitions that more than themselves may match."""
    predicates = {*rules.subproperties, *rules.symmetric, *rules.transitive, *rules.inverses}
    return sorted({*rules.subtypes, *predicates}, key=str)


def _below(rules: Rules, node: NamedNode) -> list[NamedNode]:
    """The other definitions whose elements, or facts, a definition matches as they are stated."""
    if node.value.startswith(rules.iris.concept_types):
        return list(rules.types(node)[1:])
    return [one for one, forward in rules.steps((node, True)) if forward and one != node]


def _about(rules: Rules, node: NamedNode) -> str:
    """What a definition matches besides what is stated with it; empty for nothing."""
    parts, below = [], _below(rules, node)
    if not node.value.startswith(rules.iris.concept_types):
        steps, path = rules.steps((node, True)), rules.path(node)
        ways = ["in both directions"] if (node, False) in steps else []
        ways += ["along chains"] if path is not None and path.closures else []
        parts += [f"holds {' and '.join(ways)}"] if ways else []
        reversed = [one for one, forward in steps if not forward and (one, True) not in steps]
        parts += [f"is {_listed(rules, reversed)} reversed"] if reversed else []
    parts += [f"includes {_listed(rules, below)}"] if below else []
    return f"{_listed(rules, [node])} {' and '.join(parts)}" if parts else ""


def _listed(rules: Rules, nodes: Iterable[NamedNode]) -> str:
    names = sorted(f'"{rules.iris.concept_name(node.value)}"' for node in nodes)
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
