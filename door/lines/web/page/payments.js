// What a hand pays, worked out from its cards, moves, stakes and rules. Written from docs/rules.md,
// and not from the program that deals: whoever doubts the one has the other. Of the program there is
// only which keys and values the rules of a game have. Like fairness.js it touches no page.

import { GAMES } from "./rules.js";

const CHARLIE_CARDS = 5;

// A hand that cannot be worked out; `word` names the sentence for it, `values` stand in it.
export class Unplayable extends Error {
    constructor(word, ...values) {
        super(`${word} ${values.join(" ")}`.trim());
        this.word = word;
        this.values = values;
    }
}

export const isWhole = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most;

// Whether a rule of a game may have a value.
function holds({ values, least, most, step }, value) {
    return values === undefined ? isWhole(value / step, least / step, most / step) : values.includes(value);
}

// What no house can change at these tables.
const AS_ONE_CARD_AFTER_ANOTHER = {
    ties: "push",
    insurance_rounding: "exact",
    insurance_pays: 2,
    insurance_on_natural: true,
    peek_under_ace: true,
    hit_on_21: false,
    natural_paid: "at once",
    twenty_one_paid: "after dealer",
    twenty_one_beats: "lower totals",
    win_pays: 2,
    twenty_one_pays: 2,
    doubled_21_pays: 2,
    natural_pays: 2.5,
    dealer_over: "pays",
    splits: true,
    charlies: false,
};
const OWN = {
    "black-jack-for-time": { splits: false, charlies: true, double: "always", dealer: "stand 17" },
    vegas: { ...AS_ONE_CARD_AFTER_ANOTHER, natural_paid: "after dealer", namesInsurance: true },
    "unix-bj": {
        ...AS_ONE_CARD_AFTER_ANOTHER,
        hit_on_21: true,
        double: "10-11",
        split_cards: "as played",
        dealer: "stand 17",
        dealsDealerFirst: true,
    },
};

// Rules with every key of their game; Unplayable for a key or a value that it does not know.
export function wholeRules(game, rules) {
    const known = GAMES[game].rules;
    for (const [key, value] of Object.entries(rules)) {
        if (!Object.hasOwn(known, key) || !holds(known[key], value)) {
            throw new Unplayable("noRule", key, JSON.stringify(value));
        }
    }
    const usual = Object.entries(known).map(([key, rule]) => [key, rule.usual]);
    return { ...Object.fromEntries(usual), ...rules };
}

// How the hands of each game are paid. The page does not check payments of a game that is not here.
const asBlackJack = (game) => (rules, table, stakes, seat) =>
    blackJack({ ...OWN[game], ...rules }, table, stakes, seat);
const PAYMENTS = {
    ...Object.fromEntries(Object.keys(OWN).map((game) => [game, asBlackJack(game)])),
    baccarat: (rules, table, [stake]) => baccarat(rules, table, stake),
    "red-dog": (rules, table, [stake]) => redDog(table, stake),
};

// What a seat of a hand has won and lost. `hand` has game, rules, stakes (of every seat, in the
// smallest unit), seat (from 1) and actions, as door replay takes them; `cards` are the shoe from
// the hand's first card on, those to come included. What comes back: staked, lost, returned, won;
// outcome, laid (the cards, by their names in the journal), used (how many cards), bets (a line for
// each hand of the seat), and tosses (before which card of the hand, from 0, for a card or not).
export function settle(hand, cards) {
    if (!Object.hasOwn(PAYMENTS, hand.game)) {
        throw new Unplayable("noGame", hand.game);
    }
    const rules = wholeRules(hand.game, hand.rules);
    const table = new Table(cards, hand.actions);
    const { stakes, seat } = hand;
    const isGood = stakes.length >= 1 && stakes.length <= GAMES[hand.game].seats;
    if (!isGood || !isWhole(seat, 1, stakes.length) || !stakes.every((stake) => isWhole(stake, 1, 1e12))) {
        throw new Unplayable("noStakes");
    }
    const found = PAYMENTS[hand.game](rules, table, stakes, seat);
    table.end();
    const total = (name) => found.bets.reduce((sum, bet) => sum + bet[name], 0);
    const [lost, returned, won] = [total("lost"), total("returned"), total("won")];
    return { ...found, staked: lost + returned, lost, returned, won, used: table.used, tosses: table.tosses };
}

// The cards that are still to come, and the moves.
class Table {
    constructor(cards, actions) {
        this.cards = cards;
        this.moves = actions.map((action) => {
            const [, seat, word, amount] = /^(?:([1-9]\d*):)?([a-z-]+)(?::(\d+))?$/.exec(action) ?? [];
            return { action, word, seat: Number(seat ?? 0), amount: amount === undefined ? null : Number(amount) };
        });
        this.made = 0;
        this.used = 0;
        this.tosses = [];
    }

    card() {
        if (this.used >= this.cards.length) {
            throw new Unplayable("noCard");
        }
        this.used += 1;
        return this.cards[this.used - 1];
    }

    // The next move, which must be one of `open`; `most` is what an amount may be, 0 for none.
    move(open, seat = 1, most = 0) {
        const move = this.moves[this.made];
        if (move === undefined) {
            throw new Unplayable("noMove", this.made + 1, open.join(", "));
        }
        this.made += 1;
        const hasAmount = move.amount === null || (move.word === "insurance" && isWhole(move.amount, 1, most));
        if (!open.includes(move.word) || !hasAmount || ![0, seat].includes(move.seat)) {
            throw new Unplayable("wrongMove", this.made, move.action);
        }
        return move;
    }

    end() {
        if (this.made < this.moves.length) {
            throw new Unplayable("leftMove", this.made + 1, this.moves[this.made].action);
        }
    }
}

// A stake that comes back `back` times, itself included; 0 is a stake that is lost.
function paid(stake, back) {
    const won = stake * (back - 1);
    if (back > 0 && !Number.isSafeInteger(won)) {
        throw new Unplayable("noStakes");
    }
    return back > 0 ? { lost: 0, returned: stake, won } : { lost: stake, returned: 0, won: 0 };
}

// Black jack.

const valueOf = (card) => (card[0] === "A" ? 1 : "TJQK".includes(card[0]) ? 10 : Number(card[0]));

// [total, whether an ace counts eleven in it]
export function count(cards) {
    const hard = cards.reduce((sum, card) => sum + valueOf(card), 0);
    const isSoft = hard <= 11 && cards.some((card) => card[0] === "A");
    return [isSoft ? hard + 10 : hard, isSoft];
}

const totalOf = (cards) => count(cards)[0];
const isTwentyOneInTwo = (cards) => cards.length === 2 && totalOf(cards) === 21;

function blackJack(rules, table, stakes, seat) {
    const dealer = [];
    const newHand = (stake, cards, fromSplit) => ({ stake, cards, fromSplit, doubled: false, waits: false, outcome: "" });
    const seats = stakes.map((bet) => ({ bet, insured: 0, insurance: null, hands: [newHand(bet, [], false)] }));
    const hands = () => seats.flatMap((each) => each.hands);
    const waiting = () => hands().filter((hand) => hand.waits && hand.outcome === "");
    const isOpen = (hand) => !hand.waits && hand.outcome === "";

    const isDealt21 = (hand) => !hand.fromSplit && isTwentyOneInTwo(hand.cards);
    const isNatural = (hand) => isDealt21(hand) || (rules.split_21 === "natural" && isTwentyOneInTwo(hand.cards));
    const isFull = (cards) => rules.charlies && cards.length === CHARLIE_CARDS;
    const isCharlie = (cards) => {
        const most = rules.five_card_21 === "charlie" ? 21 : 20;
        return isFull(cards) && totalOf(cards) <= most;
    };

    function deal() {
        if (rules.dealsDealerFirst) {
            dealer.push(table.card(), table.card());
            hands().forEach((hand) => hand.cards.push(table.card(), table.card()));
        } else {
            for (let round = 0; round < 2; round += 1) {
                hands().forEach((hand) => hand.cards.push(table.card()));
                dealer.push(table.card());
            }
        }
    }

    function askInsurance() {
        for (const [place, each] of seats.entries()) {
            const unit = rules.insurance_rounding === "down" ? rules.insurance_unit : 1;
            const most = Math.floor(each.bet / (2 * unit)) * unit;
            if (most === 0 || (isDealt21(each.hands[0]) && !rules.insurance_on_natural)) {
                continue;
            }
            const move = table.move(["insurance", "no-insurance"], place + 1, rules.namesInsurance ? most : 0);
            each.insured = move.word === "insurance" ? (move.amount ?? most) : 0;
        }
    }

    function settleInsurance(dealerHasNatural) {
        for (const each of seats.filter(({ insured, insurance }) => insured > 0 && insurance === null)) {
            each.insurance = paid(each.insured, dealerHasNatural ? rules.insurance_pays + 1 : 0);
        }
    }

    // The dealer looks at the hole card, where that is done; naturals are paid, or wait.
    function look() {
        const showsAce = dealer[0][0] === "A";
        const looks = showsAce ? rules.peek_under_ace : valueOf(dealer[0]) === 10;
        if (looks && isTwentyOneInTwo(dealer)) {
            hands().forEach((hand) => (hand.waits = true));
            return;
        }
        if (looks) {
            settleInsurance(false);
        }
        const knows = looks || !showsAce;
        for (const hand of hands().filter(isDealt21)) {
            endOrWait(hand, "natural", knows && rules.natural_paid === "at once");
        }
    }

    function endOrWait(hand, outcome, isPaidNow) {
        if (isPaidNow) {
            hand.outcome = outcome;
        } else {
            hand.waits = true;
        }
    }

    // Takes a card, and sees whether the hand goes on.
    function hit(hand) {
        hand.cards.push(table.card());
        const total = totalOf(hand.cards);
        const isLoneAce = hand.fromSplit && hand.cards[0][0] === "A" && rules.split_aces === "one card";
        const isComplete = hand.doubled || isLoneAce;
        if (total > 21) {
            hand.outcome = "bust";
        } else if (isCharlie(hand.cards)) {
            endOrWait(hand, "charlie", rules.charlie_paid === "at once");
        } else if (isNatural(hand)) {
            const knows = dealer[0][0] !== "A" || rules.peek_under_ace;
            endOrWait(hand, "natural", knows && rules.natural_paid === "at once");
        } else if (total === 21) {
            const isPaidNow = rules.twenty_one_paid === "at once" && !hand.doubled;
            if (isPaidNow || isComplete || isFull(hand.cards) || !rules.hit_on_21) {
                endOrWait(hand, "twenty-one", isPaidNow);
            }
        } else if (isComplete) {
            hand.waits = true;
        }
    }

    function openTo(hand) {
        const open = ["hit", "stay"];
        if (hand.cards.length === 2) {
            const total = totalOf(hand.cards);
            const isAllowed = rules.double_after_split || !hand.fromSplit;
            if (isAllowed && (rules.double === "always" ? total < 21 : total === 10 || total === 11)) {
                open.push("double");
            }
            if (rules.splits && !hand.fromSplit && valueOf(hand.cards[0]) === valueOf(hand.cards[1])) {
                open.push("split");
            }
        }
        return open;
    }

    function playSeat(each, number) {
        // A split puts a hand more into the list while it is gone through.
        for (let at = 0; at < each.hands.length; at += 1) {
            const hand = each.hands[at];
            if (isOpen(hand) && hand.cards.length === 1) {
                hit(hand);
            }
            while (isOpen(hand)) {
                const { word } = table.move(openTo(hand), number);
                if (word === "stay") {
                    hand.waits = true;
                } else if (word === "split") {
                    const other = newHand(hand.stake, [hand.cards.pop()], true);
                    hand.fromSplit = true;
                    each.hands.splice(at + 1, 0, other);
                    hit(hand);
                    if (rules.split_cards === "both first") {
                        hit(other);
                    }
                } else {
                    hand.doubled = word === "double";
                    hand.stake *= hand.doubled ? 2 : 1;
                    hit(hand);
                }
            }
        }
    }

    function dealerDraws() {
        const [total, isSoft] = count(dealer);
        if (isFull(dealer) || total > 17) {
            return false;
        }
        const onSeventeen = {
            "stand 17": false,
            "hit soft 17": isSoft,
            "hit 17 with an ace": dealer.some((card) => card[0] === "A"),
            "hit 17": true,
        };
        return total < 17 || onSeventeen[rules.dealer];
    }

    function playDealer() {
        const hasNatural = isTwentyOneInTwo(dealer);
        settleInsurance(hasNatural);
        if (!hasNatural) {
            if (rules.natural_paid === "at once") {
                waiting().filter(isNatural).forEach((hand) => (hand.outcome = "natural"));
            }
            if (waiting().some((hand) => rules.charlies || !isNatural(hand))) {
                while (dealerDraws()) {
                    dealer.push(table.card());
                }
            }
        }
        waiting().forEach((hand) => (hand.outcome = compared(hand, hasNatural)));
    }

    function compared(hand, dealerHasNatural) {
        const [mine, theirs] = [totalOf(hand.cards), totalOf(dealer)];
        if (dealerHasNatural) {
            return isNatural(hand) ? "push" : "dealer-natural";
        }
        if (isCharlie(dealer)) {
            return "dealer-charlie";
        }
        if (isNatural(hand)) {
            return "natural";
        }
        if (isCharlie(hand.cards)) {
            return "charlie";
        }
        if (mine === 21 && (theirs !== 21 || rules.twenty_one_beats === "all totals")) {
            return "twenty-one";
        }
        if (theirs > 21) {
            return rules.dealer_over === "push" ? "push" : "win";
        }
        if (mine === theirs) {
            return rules.ties === "push" ? "push" : "lose";
        }
        return mine > theirs ? "win" : "lose";
    }

    function backOf(hand) {
        const back = {
            natural: rules.natural_pays,
            charlie: rules.charlie_pays,
            "twenty-one": hand.doubled ? rules.doubled_21_pays : rules.twenty_one_pays,
            win: rules.win_pays,
            push: 1,
        };
        return back[hand.outcome] ?? 0;
    }

    if (rules.hit_on_21 && rules.twenty_one_paid === "at once") {
        throw new Unplayable("noRule", "hit_on_21", "true");
    }
    deal();
    if (dealer[0][0] === "A") {
        askInsurance();
    }
    look();
    seats.forEach((each, place) => playSeat(each, place + 1));
    if (waiting().length > 0 || seats.some(({ insured, insurance }) => insured > 0 && insurance === null)) {
        playDealer();
    }
    const mine = seats[seat - 1];
    const bets = mine.hands.map((hand) => ({
        ...paid(hand.stake, backOf(hand)),
        outcome: hand.outcome,
        cards: hand.cards,
        against: dealer,
        counts: [totalOf(hand.cards), totalOf(dealer)],
    }));
    if (mine.insurance !== null) {
        bets.push({ ...mine.insurance, outcome: "insurance" });
    }
    return {
        outcome: mine.hands.map((hand) => hand.outcome).join(" "),
        laid: { player: mine.hands.map((hand) => hand.cards), dealer },
        bets,
    };
}

// Baccarat.

const pointOf = (cards) => cards.reduce((sum, card) => sum + valueOf(card), 0) % 10;

// What the bank does on 3 to 6 when the player took a card: the counts of that card on which it
// draws, and the one on which it may choose.
const BANK_DRAWS = {
    3: [[0, 1, 2, 3, 4, 5, 6, 7], 9],
    4: [[2, 3, 4, 5, 6, 7], null],
    5: [[5, 6, 7], 4],
    6: [[6, 7], null],
};

function baccarat(rules, table, stake) {
    const [player, bank] = [[], []];
    for (let round = 0; round < 2; round += 1) {
        player.push(table.card());
        bank.push(table.card());
    }
    if (pointOf(player) < 8 && pointOf(bank) < 8) {
        const mine = pointOf(player);
        if (mine < 5 || (mine === 5 && table.move(["card", "no-card"]).word === "card")) {
            player.push(table.card());
        }
        if (bankDraws(rules, table, pointOf(bank), player)) {
            bank.push(table.card());
        }
    }
    const points = [pointOf(player), pointOf(bank)];
    const [mine, theirs] = points;
    const outcome = mine > theirs ? "player" : mine < theirs ? "bank" : "stand-off";
    const back = { player: 2, bank: 0, "stand-off": 1 }[outcome];
    const bet = { ...paid(stake, back), outcome, cards: player, against: bank, counts: points };
    return { outcome, laid: { player, bank, points }, bets: [bet] };
}

function bankDraws(rules, table, point, player) {
    if (point <= 2 || point === 7) {
        return point <= 2;
    }
    if (player.length === 2) {
        return point < 6;
    }
    const third = pointOf(player.slice(2));
    const [draws, chooses] = BANK_DRAWS[point];
    if (third !== chooses) {
        return draws.includes(third);
    }
    const option = point === 3 ? rules.bank_option_3v9 : rules.bank_option_5v4;
    if (option !== "toss") {
        return option === "draw";
    }
    const at = table.used;
    const isForCard = table.move(["bank-card", "bank-no-card"]).word === "bank-card";
    table.tosses.push([at, isForCard]);
    return isForCard;
}

// Red Dog.

const rankOf = (card) => "23456789TJQKA".indexOf(card[0]);

function redDog(table, stake) {
    const cards = [table.card(), table.card()];
    const [low, high] = cards.map(rankOf).sort((one, other) => one - other);
    const spread = high - low - 1;
    let staked = stake;
    let outcome = "push";
    let odds = 0;
    if (spread < 0) {
        cards.push(table.card());
        if (rankOf(cards[2]) === low) {
            [outcome, odds] = ["three-of-a-kind", 11];
        }
    } else if (spread > 0) {
        staked *= table.move(["raise", "stay"]).word === "raise" ? 2 : 1;
        cards.push(table.card());
        const third = rankOf(cards[2]);
        outcome = third > low && third < high ? "win" : "lose";
        odds = outcome === "win" ? ({ 1: 5, 2: 4, 3: 2 }[spread] ?? 1) : -1;
    }
    const bet = { ...paid(staked, odds + 1), outcome, cards, against: null, counts: null };
    return { outcome, laid: { cards, spread }, bets: [bet] };
}
