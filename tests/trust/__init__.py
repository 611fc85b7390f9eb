"""Tests that try to break a nexus: long histories, sudden death, full disks, many threads.

Small in a test run; ``python -m tests.trust`` runs them for as long as is asked for.
"""
