-- So far the embedder in use answered, which is not noted: the model with the most vectors, the latest of several.
INSERT INTO vector_spaces (workspace, model, role, since)
SELECT workspace, model, CASE WHEN place = 1 THEN 'answers' ELSE 'kept' END, since FROM (
  SELECT c.workspace, v.model, coalesce(max(v.indexed_at), 0) AS since,
    row_number() OVER (PARTITION BY c.workspace ORDER BY count(*) DESC, max(v.n) DESC) AS place
  FROM embeddings v JOIN cues c ON c.n = v.cue GROUP BY c.workspace, v.model
) AS counted;
