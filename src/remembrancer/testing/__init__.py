"""For authors of adapters and tests of agents: conformance suites, test doubles and fault injection.

The suites need pytest and hypothesis, which nothing else in the package needs.
"""
