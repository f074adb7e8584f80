"""Parameters of tests that only a long run tries."""

from __future__ import annotations

from typing import Any

import pytest


def long(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.long)
