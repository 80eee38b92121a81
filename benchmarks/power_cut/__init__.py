"""What a power cut leaves of a store: a recorder of file operations, the disk images that a cut may leave, and checks."""
