"""A real board, killed with -9 again and again while robots play. See verify/README.md."""
