"""For those who write an adapter or test an agent: the store's conformance suite, doubles and fault injection.

The suite needs pytest and hypothesis; nothing else in the package does.
"""
