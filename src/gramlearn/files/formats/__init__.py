"""One file for each format: what is on the disk becomes a table, whose rows are known by file and line."""
