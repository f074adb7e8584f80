"""`door top`: the running board at a terminal, by Textual.

`watching.py` gathers what there is to see, beside the loop; `telling.py` puts it into rows and
sentences; `app.py` is the screen and its keys; `beside.py` the look over a caller's shoulder. It
acts by the same ways as the pages and the commands, and notes in the sysop's log who did it.
"""
