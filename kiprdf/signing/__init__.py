"""Signed documents: JSON-LD with a W3C Data Integrity proof, and keys to sign and to verify."""
