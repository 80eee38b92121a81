-- Few texts are longer than the embedder reads: they are counted without reading the row of every vector.
CREATE INDEX embeddings_truncated ON embeddings (cue, model) WHERE truncated <> 0;
