"""SPARQL engines as child processes on loopback, and the tests that run on each of them."""
