"""How fast kiprdf is, as ratios to the bare store: ``python -m tests.benchmarks``."""
