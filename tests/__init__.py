"""Tests of the whole house, in the same rooms as the program."""

from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the project
