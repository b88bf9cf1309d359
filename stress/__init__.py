"""Random problems and odd calls, an independent judge, and a report of what broke."""
