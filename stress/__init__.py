"""Random problems, odd calls and faults that try to break the library, a judge, and a report of what broke."""
