-- What each vector was computed from, so that an equal text of the workspace takes it over and no model is asked again.
-- Vectors of before stay as they are, and are taken over by none.
ALTER TABLE embeddings ADD COLUMN digest BLOB;
CREATE INDEX embeddings_by_digest ON embeddings (digest) WHERE digest IS NOT NULL;
