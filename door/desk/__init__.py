"""The sysop's side: the books as pages in a browser, and the running board on a terminal."""
