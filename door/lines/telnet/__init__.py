"""Telnet, hardened against strangers."""
