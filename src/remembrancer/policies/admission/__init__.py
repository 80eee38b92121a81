"""Admission: the choice of events that become memories, and the fields of a new memory."""
