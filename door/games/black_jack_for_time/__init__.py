"""Black Jack For Time, by the help file of 1991."""
