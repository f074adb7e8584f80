"""Time left that a host gives as an instant, in whole seconds."""

from datetime import UTC, datetime, timedelta

import pytest

from door.dropfiles.dropfile import Limit, TimeLeft

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ahead", "seconds"), [(60.0, 60), (59.999, 59), (0.5, 0), (0.0, 0), (-1.0, 0), (-0.5, 0)]
)
def test_it_is_rounded_down_and_never_below_nothing(ahead: float, seconds: int) -> None:
    deadline = NOW + timedelta(seconds=ahead)
    left = TimeLeft.until(deadline, NOW, "line 6")
    assert (left.limit, left.seconds, left.deadline) == (Limit.LEFT, seconds, deadline)
