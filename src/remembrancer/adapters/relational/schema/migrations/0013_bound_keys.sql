-- What a key is bound to: its holder acts as these, and as no other. Keys of before are bound to none.
ALTER TABLE api_keys ADD COLUMN project TEXT;
ALTER TABLE api_keys ADD COLUMN crew TEXT;
ALTER TABLE api_keys ADD COLUMN agent TEXT;
ALTER TABLE api_keys ADD COLUMN session TEXT;
ALTER TABLE api_keys ADD COLUMN role TEXT;
