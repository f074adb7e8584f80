"""What a caller's terminal understands; no network, no database."""
