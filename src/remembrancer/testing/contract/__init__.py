"""The store's contract, one module for each side of it. `testing.store_contract` puts them together."""
