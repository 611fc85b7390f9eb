"""Properties that hold for every graph and every query.

``strategies`` draws both; ``test_engine_equals_oracle`` compares the engine with the evaluator in
``tests.oracle``. ``mapped_datasets`` draws datasets and mappings for ``test_mappings``.
"""
