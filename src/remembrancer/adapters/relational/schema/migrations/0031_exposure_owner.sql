-- Whose session used a memory: sessions of the same name in other projects, crews or of other agents are others. What was
-- used before this counts as used in a session of the workspace itself.
ALTER TABLE exposures ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE exposures ADD COLUMN crew TEXT NOT NULL DEFAULT '';
ALTER TABLE exposures ADD COLUMN agent TEXT NOT NULL DEFAULT '';
