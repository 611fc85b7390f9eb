"""RDF in and out: ``turtle`` (snapshots in both profiles, written and read),
``dataset`` (what a dataset must be to be a nexus), ``files`` (texts as paths and open files)."""
