"""The sysop's side: pages in a browser, the board on a terminal."""
