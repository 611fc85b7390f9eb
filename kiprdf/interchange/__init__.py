"""Exports and imports RDF.

``dataset`` (checks the dataset of a nexus), ``files`` (reads and writes texts, paths and open
files), ``selection`` (a part of a nexus), and the packages ``formats``, ``mapping``,
``importing``, ``vocabularies``, ``differences``.
"""
