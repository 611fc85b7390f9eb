"""RDF out and in.

``dataset`` (what a set of triples must be to be a nexus), ``files`` (documents as texts, paths and
open files), ``selection`` (a part of a nexus), and the packages ``formats``, ``mapping``,
``importing``, ``vocabularies``, ``publishing``, ``differences``.
"""
