"""Baccarat as the house knows it."""

from door.games.baccarat import settings
from door.games.engine.descriptor import Game

GAME = Game(
    name="baccarat",
    letter="C",
    code="BACCARAT",
    title="Baccarat",
    read_settings=settings.read,
    kind_at="door.games.baccarat.kind:BACCARAT_KIND",
    table_at="door.games.baccarat.table:sit_down",
    words_at="door.games.baccarat.table:menu_words",
    samples_at="door.games.baccarat.samples:SAMPLES",
)
