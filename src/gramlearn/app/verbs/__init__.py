"""What the command can do, one file a verb: its arguments, which cost nothing to read, and the work."""
