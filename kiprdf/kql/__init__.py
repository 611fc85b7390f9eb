"""KQL to SPARQL and its rows to KIP JSON. Input is checked: every variable is in scope.

``find`` runs one FIND. In order: ``probe`` (exact identities exist, patterns are valid),
``translate`` (one function a clause), with ``scopes`` (how a KQL variable stands in SPARQL),
``anchors`` (conditions that a clause can say), ``segments`` (clauses as units), ``joins`` (which
unit comes first), ``paths`` (hops), ``fetches`` (values for FILTERs) and ``expressions`` (FILTERs);
then ``cursor``, ``reader`` (values of nodes) and ``results`` (collapse, order, group, shape).
"""
