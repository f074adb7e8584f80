"""Several servers of one board: their notifications, their agreement on settings."""
