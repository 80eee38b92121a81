"""Learnings: extracted from sessions, stored in files, promoted to wider scopes."""
