"""UNIX bj as the house knows it."""

from door.games.engine.descriptor import Game
from door.games.unix_bj import settings

GAME = Game(
    name="unix-bj",
    letter="U",
    code="UNIXBJ",
    title="UNIX bj",
    read_settings=settings.read,
    kind_at="door.games.unix_bj.kind:UNIX_BJ_KIND",
    table_at="door.games.unix_bj.table:sit_down",
    words_at="door.games.unix_bj.table:menu_words",
    samples_at="door.games.unix_bj.samples:SAMPLES",
)
