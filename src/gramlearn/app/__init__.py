"""The command `gramlearn`, and its demo."""
