"""Each game as a caller meets it, a folder a game, and what tables share."""
