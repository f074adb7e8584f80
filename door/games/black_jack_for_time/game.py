"""Black Jack For Time as the house knows it."""

from door.games.black_jack_for_time import settings
from door.games.engine.descriptor import Game

GAME = Game(
    name="black-jack-for-time",
    letter="B",
    code="BJFT",
    title="Black Jack For Time",
    read_settings=settings.read,
    kind_at="door.games.black_jack_for_time.kind:BLACK_JACK_FOR_TIME_KIND",
    table_at="door.games.black_jack_for_time.table:sit_down",
    words_at="door.games.black_jack_for_time.table:menu_words",
    samples_at="door.games.black_jack_for_time.samples:SAMPLES",
    shares={"tutor": "door.games.blackjack.tutor.thinking:for_board"},
)
