"""The process beside the server: it learns, chooses what to ask next, and says how well it does."""
