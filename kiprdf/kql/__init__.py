"""Compiles KQL to SPARQL, and turns its rows into KIP JSON. The input has been checked.

``find`` runs one FIND, of a store or of what ``beliefs`` leaves of it. In order: ``identities``
(exact identities exist, patterns are valid), ``translate`` (WHERE to algebra that says what is
meant), with ``scopes`` (the SPARQL variables of KQL variables), ``clauses``, ``comparisons``
(FILTERs) and ``holes`` (values that are filled in later); ``where`` applies the passes of
``optimize``, from algebra to algebra; ``plan`` has the ways to the rows, by index (``evaluate``)
and as a query; then ``cursor``, ``reader`` (values of nodes) and ``results`` (collapse, order,
group, shape). ``starts`` chooses the value to start from, ``cover`` is for other engines,
``valid_at`` and ``entailment`` rewrite, ``derivations`` are what rows come from, ``queries`` those
besides FIND. ``diagnosis`` explains an empty answer.
"""
