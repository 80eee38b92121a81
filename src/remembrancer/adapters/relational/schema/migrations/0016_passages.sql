-- Where a passage of a long turn begins in the event's text, in characters. NULL: the cue is no passage.
ALTER TABLE cues ADD COLUMN start INTEGER;
