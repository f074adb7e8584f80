"""`door top`: the running board at a terminal, by Textual.

`snapshot.py` reads servers and books in threads, and formats rows and sentences. `app.py` has the
screens and their keys, with the sysop's look at a caller's screen. Acts are carried out as by the
pages and the commands, and the sysop's log names who did them.
"""
