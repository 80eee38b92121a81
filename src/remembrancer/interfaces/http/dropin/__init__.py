"""Routes of other systems, in exactly their shapes, over the same memory."""
