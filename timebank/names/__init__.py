"""What a caller may be called, and whose name looks like another. Uses no other room."""
