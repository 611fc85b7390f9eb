"""The routes: each module has a list of its paths, methods and handlers, called ``ROUTES``.

A handler is a function of the server's state and the request. ``kip``, ``sparql``, ``linked`` (RDF
documents), ``feed`` (the commits), ``openapi``, ``admin`` (state, metrics, maintenance); for people
``pages``, ``review`` and ``acting``; ``scopes`` are those of a server of several nexuses; ``mib``
is a memory for a benchmark.
"""
