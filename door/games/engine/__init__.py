"""What every game shares: cards, shuffle, journals, replays, settings, the descriptor."""
