"""What tables share: bets, figures and menu words, and the evening at a table for one caller."""
