"""KQL to SPARQL and its rows to KIP JSON. Input is checked: every variable is in scope.

In order: ``probe`` (exact identities exist, patterns are valid), ``translate`` (one function a
clause), with ``scopes`` (how a KQL variable stands in SPARQL), ``joins`` (which clause comes
first), ``paths`` (hops) and ``expressions`` (FILTER); then ``cursor``, ``reader`` (values of
nodes) and ``results`` (collapse, order, group, shape).
"""
