-- The keys that clients chose were kept as they were, and may name a person; from here on they are hashed.
DELETE FROM claims;
