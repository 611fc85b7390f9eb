"""How far domains divide over several endpoints: ``python -m tests.engines.sharding``.

A simulation. Domains have sizes by Zipf's law, and each is put, the largest first, on the endpoint
that holds least. Writers pick a domain by its size, and wait for the commits before theirs on its
endpoint.
"""

from __future__ import annotations

import heapq
import random

DOMAINS = 10_000
PROPOSITIONS = (10**6, 10**7, 10**8, 10**9)
ENDPOINTS = (1, 10, 100, 1_000)
COMMIT_S = 0.015
"""A commit on Virtuoso with a million propositions, without latency."""
WRITERS = 200
COMMITS = 20_000


def loads(endpoints: int) -> tuple[list[float], list[int]]:
    """The share of each endpoint, and the endpoint of each domain."""
    sizes = [1 / rank for rank in range(1, DOMAINS + 1)]
    whole = sum(sizes)
    heap = [(0.0, number) for number in range(endpoints)]
    shares, places = [0.0] * endpoints, []
    for size in sizes:
        share, number = heapq.heappop(heap)
        shares[number] = share + size / whole
        places.append(number)
        heapq.heappush(heap, (shares[number], number))
    return shares, places


def commits_per_second(places: list[int], endpoints: int) -> float:
    """What writers reach together, each waiting for its commit before its next one."""
    chance = random.Random(20261123)
    weights = [1 / rank for rank in range(1, DOMAINS + 1)]
    domains = iter(chance.choices(places, weights, k=COMMITS + WRITERS))
    free_at = [0.0] * endpoints
    ready = [(0.0, writer) for writer in range(WRITERS)]
    heapq.heapify(ready)
    end = 0.0
    for _ in range(COMMITS):
        now, writer = heapq.heappop(ready)
        place = next(domains)
        free_at[place] = end = max(now, free_at[place]) + COMMIT_S
        heapq.heappush(ready, (end, writer))
    return COMMITS / max(free_at)


def main() -> None:
    """Print the table."""
    print("| endpoints | largest share | commits a second |", end="")
    print(*(f" largest of {number:.0e} |" for number in PROPOSITIONS), sep="")
    for endpoints in ENDPOINTS:
        shares, places = loads(endpoints)
        rate = commits_per_second(places, endpoints)
        print(f"| {endpoints} | {max(shares):.1%} | {rate:.0f} |", end="")
        print(*(f" {max(shares) * number:.2g} |" for number in PROPOSITIONS), sep="")


if __name__ == "__main__":
    main()
