"""Text, keys, colours and pictures for a caller's terminal; no network, no database."""
