"""Tests of callers by SSH."""
