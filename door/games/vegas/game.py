"""Vegas as the house knows it."""

from door.games.engine.descriptor import Game
from door.games.vegas import settings

GAME = Game(
    name="vegas",
    letter="V",
    code="VEGAS",
    title="Vegas",
    read_settings=settings.read,
    kind_at="door.games.vegas.kind:VEGAS_KIND",
    table_at="door.games.vegas.company:sit_down",
    words_at="door.games.vegas.table:menu_words",
    samples_at="door.games.vegas.samples:SAMPLES",
    shares={
        "tutor": "door.games.blackjack.tutor.thinking:for_board",
        "vegas": "door.games.vegas.table:VegasTable",
    },
    visitors_at="door.games.vegas.visitors:answer_door",
)
