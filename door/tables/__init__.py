"""Each game as a caller meets it."""
