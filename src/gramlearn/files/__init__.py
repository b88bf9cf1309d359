"""Files that people have, and files that they keep: points, judgments, models, exports."""
