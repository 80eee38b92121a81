"""Background jobs: when engine functions run. Each sweep derives its work list from the stored state."""
