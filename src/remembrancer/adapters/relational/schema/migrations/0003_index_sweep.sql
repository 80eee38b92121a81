-- How long the vectors of a model are in each workspace: the first one binds the others. Asking the vectors themselves
-- would read past those of every other model.
CREATE TABLE vector_models (
  workspace TEXT NOT NULL, model TEXT NOT NULL, dim INTEGER NOT NULL,
  PRIMARY KEY (workspace, model)
) WITHOUT ROWID;
INSERT INTO vector_models
  SELECT c.workspace, v.model, max(v.dim) FROM embeddings v JOIN cues c ON c.n = v.cue GROUP BY c.workspace, v.model;
-- By workspace in the order of their numbers: the index sweep goes on from where it was.
DROP INDEX cues_by_workspace;
CREATE INDEX cues_by_workspace ON cues (workspace);
