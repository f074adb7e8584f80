"""The sysop's side: pages in a browser, metrics for Prometheus, the board on a terminal."""
