"""Signed documents: JSON-LD with a W3C Data Integrity proof, and keys to sign and to verify.

``documents`` signs and verifies with ``keys``; ``layout`` writes a document and reads it back,
``foreign`` reads those of others, ``canonical`` has the canonical form of what is signed.
"""
