"""Where numbers are read from: files that are opened, and columns of them that are read chunk by chunk."""
