"""UNIX bj as its players knew it: a teletype, a minute a hand."""
