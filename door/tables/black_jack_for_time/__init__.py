"""The table of Black Jack For Time."""
