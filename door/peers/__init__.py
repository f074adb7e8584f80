"""Several servers of one board: their rows, their notifications, their agreement on settings."""
