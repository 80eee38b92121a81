"""For authors of adapters, and for tests of agents: conformance suites, test doubles and fault injection.

The suites need pytest and hypothesis. The rest of the package needs neither.
"""
