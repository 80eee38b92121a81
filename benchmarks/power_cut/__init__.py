"""Power cuts: record the file operations of a store, make the images that a cut may leave on the disk, check them."""
