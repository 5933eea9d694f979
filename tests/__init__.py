"""End to end: the commands as a person calls them, on real files, good and bad."""
