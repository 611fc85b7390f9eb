"""The activation of the chunks of a graph (Chunks and Rules: Mimicking Human Memory).

A boost raises the activation of a chunk, which then decays like a leaky capacitor. A boost soon
after another one is smaller (spacing effect). It spreads to the chunks that are referred to: a
fixed amount is divided among them, each takes a part and passes the rest on, until too little is
left. Activation has nothing to do with the confidence of KIP.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

DECAY = 0.5
"""The part that is lost per unit of time, as a rate: after one unit e^-0.5 of a boost is left."""
SPACING = 1.0
"""The time after which a repeated boost has 63 % of its full size."""
PASSED_ON = 0.5
THRESHOLD = 0.01
_REMEMBERED = 32


class Activation:
    """The boosts of the chunks of one graph, by identifier.

    >>> activation = Activation()
    >>> activation.boost("dog1", now=0.0)
    >>> activation.level("dog1", now=0.0), round(activation.level("dog1", now=2.0), 3)
    (1.0, 0.368)
    """

    def __init__(self) -> None:
        self._boosts: dict[str, list[tuple[float, float]]] = {}

    def level(self, id: str, now: float, decay: float = DECAY) -> float:
        """What is left of all boosts; 0.0 without any. Only the latest 32 boosts count."""
        return sum(
            amount * math.exp(-decay * max(0.0, now - time))
            for time, amount in self._boosts.get(id, ())
        )

    def boost(self, id: str, now: float, amount: float = 1.0) -> None:
        """Boost one chunk, less if the last boost was a short time ago."""
        boosts = self._boosts.setdefault(id, [])
        if boosts:
            amount *= 1 - math.exp(-max(0.0, now - boosts[-1][0]) / SPACING)
        boosts.append((now, amount))
        del boosts[:-_REMEMBERED]

    def spread(self, id: str, now: float, related: Callable[[str], Iterable[str]]) -> None:
        """Boost a chunk, then in waves the chunks that it is related to, each at most once."""
        reached, wave = {id}, [(id, 1.0)]
        while wave:
            following: list[tuple[str, float]] = []
            for source, energy in wave:
                self.boost(source, now, energy)
                targets = [target for target in related(source) if target not in reached]
                share = energy * PASSED_ON / max(1, len(targets))
                if share >= THRESHOLD:
                    reached.update(targets)
                    following += [(target, share) for target in targets]
            wave = following

    def forget(self, id: str) -> None:
        """Remove the boosts of a chunk."""
        self._boosts.pop(id, None)
