-- Turns that say another name of somebody get a tag. The program reads which ones do (turn_tags.py).
CREATE INDEX memories_alias ON memories (workspace, occurred_to) WHERE tags LIKE '%"alias"%';
