"""Learnings: drawn from sessions, kept as files, promoted to wider scopes."""
