"""The rules that the three black jacks share, each with its own variations."""
