"""Ports: listening, the gate, and the header of a front end."""
