"""What every game shares: cards, shuffle, journals, replays, and how a table plays a hand."""
