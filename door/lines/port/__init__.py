"""Ports: listening, the gate, and front ends' headers."""
