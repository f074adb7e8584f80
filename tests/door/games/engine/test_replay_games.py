"""`door replay` of the other games: Baccarat, UNIX bj, and a Vegas table with its seats."""

from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.engine import shuffle
from door.games.engine.cards import deck, parse_cards
from door.games.engine.errors import ReplayError
from door.games.engine.game import Act
from door.games.engine.replay import replay_round
from door.games.json_replay import replay
from door.games.registry import GAMES
from tests.door.games.blackjack.chances import unhurried


def played(game: str, shoe: str, *actions: str, **fields: object) -> dict[str, object]:
    bets = {} if "seats" in fields else {"stake": 10}
    result = replay({"game": game, **bets, "shoe": shoe, "actions": list(actions), **fields})
    assert isinstance(result, dict)
    return result


def refusal(game: str, shoe: str, *actions: str, **fields: object) -> str:
    with pytest.raises(ReplayError) as refused:
        played(game, shoe, *actions, **fields)
    return str(refused.value)


class TestBaccarat:
    @pytest.mark.parametrize(
        ("shoe", "actions", "outcome", "net", "points"),
        [
            ("9S 2H KD 3C", [], "player", 10, [9, 5]),
            ("TS 8H 7D KC", [], "bank", -10, [7, 8]),
            ("6S 6H KD KC", [], "stand-off", 0, [6, 6]),
            ("5S 7H TD JC 4D", ["card"], "player", 10, [9, 7]),
            ("5S 7H TD JC 4D", ["no-card"], "bank", -10, [5, 7]),
        ],
    )
    def test_a_replay_of_baccarat_gives_the_winner_and_the_points(
        self, shoe, actions, outcome, net, points
    ):
        result = played("baccarat", shoe, *actions)
        assert (result["outcome"], result["net"], result["points"]) == (outcome, net, points)

    def test_gives_the_cards_of_player_and_bank(self):
        assert played("baccarat", "5S 7H TD JC 4D", "card") == {
            "outcome": "player",
            "net": 10,
            "player": ["5S", "TD", "4D"],
            "bank": ["7H", "JC"],
            "points": [9, 7],
            "cards_used": 5,
        }

    @pytest.mark.parametrize(("toss", "outcome"), [("bank-card", "bank"), ("bank-no-card", "bank")])
    def test_a_toss_for_the_banks_option_is_an_action(self, toss, outcome):
        rules = {"bank_option_3v9": "toss", "language": "french", "coin_minutes": 2}
        shoe = "2S 3H KD TC 9H 5D"  # the player draws a 9 to a 2, the bank has 3
        assert played("baccarat", shoe, toss, rules=rules)["outcome"] == outcome
        drawn = played("baccarat", shoe, toss, rules=rules)["cards_used"]
        assert drawn == (6 if toss == "bank-card" else 5)

    def test_no_toss_is_answered_where_the_house_has_decided(self):
        sentence = refusal("baccarat", "2S 3H KD TC 9H 5D", "bank-card")
        assert sentence == "The hand: the hand was over before action 1; left over: bank-card."

    def test_a_toss_that_contradicts_a_known_seed_is_refused(self):
        rules, shoe = {"bank_option_3v9": "toss"}, parse_cards("2S 3H KD TC 9H 5D")
        known = partial(GAMES["baccarat"].kind.by_chance, seed=bytes(32), cut="", position=0)
        draws = shuffle.draws(bytes(32), "toss 5", "")(2) == 1
        right, wrong = Act("bank-card"), Act("bank-no-card")
        if not draws:
            right, wrong = wrong, right
        assert replay_round(GAMES["baccarat"].kind, rules, shoe, [10], [right], known).over
        with pytest.raises(ReplayError, match=f"must be {right} by the seed of the shoe"):
            replay_round(GAMES["baccarat"].kind, rules, shoe, [10], [wrong], known)

    def test_the_players_five_must_be_answered(self):
        sentence = refusal("baccarat", "5S 7H TD JC 4D")
        assert sentence == "The hand: the hand is not finished: card or no-card must follow."

    def test_a_card_of_four_decks_comes_four_times_at_most(self):
        sentence = refusal("baccarat", "5S 5S 5S 5S 5S")
        assert sentence == "The hand: shoe: 5S is in it 5 times, 4 decks hold it 4."


class TestUnixBj:
    def test_a_split_gives_a_list_of_outcomes(self):
        result = played("unix-bj", "8H 9C 8S 8D TC 3H", "split", "stay", "stay", stake=2)
        assert result["player"] == [["8S", "TC"], ["8D", "3H"]]
        assert result["outcome"] == ["win", "lose"]
        assert result["net"] == 0

    def test_keys_of_its_table_in_sysop_toml_change_nothing(self):
        rules = {"stakes": "minutes", "prompts": "1971", "open": False}
        assert played("unix-bj", "8H 9C AD KC", rules=rules)["net"] == 15

    @pytest.mark.parametrize(
        ("key", "value", "wanted"),
        [
            ("stakes", 3, '"play money" or "minutes"'),
            ("open", "yes", "true or false"),
            ("turns_per_day", -1, "a whole number from 0 to 9999"),
            ("turns_per_day", True, "a whole number from 0 to 9999"),
        ],
    )
    def test_optional_keys_accept_only_their_types(self, key, value, wanted):
        sentence = refusal("unix-bj", "8H 9C AD KC", rules={key: value})
        assert sentence.startswith(f"The hand: rules: {key}: must be {wanted}, is ")


class TestVegas:
    def test_one_seat_is_played_as_in_the_other_games(self):
        result = played("vegas", "TH 7C 9H TS", "stay")
        assert result["player"] == [["TH", "9H"]]
        assert (result["outcome"], result["net"]) == (["win"], 10)

    def test_seats_have_stakes_of_their_own(self):
        seats = [{"stake": 10}, {"stake": Decimal("2.5")}]
        shoe = "TH 8C 7D 9H 8S TS"
        result = played("vegas", shoe, "1:stay", "2:stay", seats=seats)
        assert result["player"] == [["TH", "9H"], ["8C", "8S"]]
        assert (result["outcome"], result["net"]) == (["win", "lose"], Decimal("7.5"))

    def test_an_action_of_another_seat_than_the_one_at_turn_is_refused(self):
        seats = [{"stake": 10}, {"stake": 10}]
        sentence = refusal("vegas", "TH 8C 7D 9H 8S TS", "2:stay", seats=seats)
        assert sentence == "The hand: action 1: it is seat 1 that decides now, not 2."

    def test_insurance_is_any_amount_up_to_half(self):
        shoe = "TH AC 9H TS"
        assert played("vegas", shoe, "insurance")["net"] == 0
        assert played("vegas", shoe, "insurance:2.5")["net"] == -5
        assert played("vegas", shoe, "no-insurance")["net"] == -10
        sentence = refusal("vegas", shoe, "insurance:6")
        assert sentence == "The hand: action 1: insurance is at most half of the bet here."

    def test_each_hand_of_a_split_has_its_outcome(self):
        result = played("vegas", "8H 7C 8D TS 3S TC KD", "split", "double", "stay")
        assert result["player"] == [["8H", "3S", "TC"], ["8D", "KD"]]
        assert (result["outcome"], result["net"]) == (["twenty-one", "win"], 30)

    def test_more_than_seven_seats_are_refused(self):
        sentence = refusal("vegas", "TH", seats=[{"stake": 1}] * 8)
        assert sentence == "The hand: seats must be a list of 1 to 7 tables, is a list of 8."

    @pytest.mark.parametrize("seat", [{}, {"stake": 1, "cut": ""}, 3])
    def test_a_seat_is_a_stake_and_nothing_else(self, seat):
        assert "seat 1 must be a table of its stake" in refusal("vegas", "TH", seats=[seat])

    def test_stake_and_seats_together_are_refused(self):
        sentence = refusal("vegas", "TH", stake=1, seats=[{"stake": 1}])
        assert "stake and seats are both there" in sentence

    @pytest.mark.parametrize("game", ["black-jack-for-time", "baccarat", "unix-bj"])
    def test_the_other_games_have_one_seat(self, game):
        assert "has one; its bet is the key stake" in refusal(game, "TH", seats=[{"stake": 1}])

    @pytest.mark.parametrize(
        "action", ["hit:", ":hit", "2::hit", "insurance:x", "insurance:-1", ""]
    )
    def test_an_action_that_is_none_is_refused(self, action):
        assert "action 1" in refusal("vegas", "TH 7C 9H TS", action)


@unhurried
@given(
    st.sampled_from(sorted(GAMES)),
    st.permutations(deck(1)),
    st.lists(st.integers(0, 5), min_size=60, max_size=60),
)
def test_a_round_of_any_game_that_is_left_alone_ends(game: str, shoe, choices) -> None:
    """After any decisions, the actions for an absent caller end the round."""
    kind = GAMES[game].kind
    acts: list[Act] = []
    again = replay_round(kind, {}, shoe, [200], acts)
    while choices.pop() and not again.over:
        words = kind.open_words(again)
        acts.append(Act(words[choices.pop() % len(words)]))
        again = replay_round(kind, {}, shoe, [200], acts)
    while not again.over:
        again, _ = kind.act(again, kind.absent(again))
    totals = kind.totals(again, 0)
    assert totals.lost + totals.returned == totals.staked
    assert kind.outcome(again, 0)
