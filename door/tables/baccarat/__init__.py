"""The baccarat table, for time or for play money, in English or in French."""
