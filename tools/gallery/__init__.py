"""Every screen of the board as a caller sees it (docs/screens/README.md)."""
