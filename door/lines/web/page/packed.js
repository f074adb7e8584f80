// A hand out of the digits behind the # of a short link: docs/fairness.md says how they are made.
// Like fairness.js it touches no page.

import { GAMES } from "./rules.js";

const [OF_1_0, WITH_ROUND, LINK_VERSION] = [1, 2, 3]; // the second is of release 1.0 too
const MOST_DIGITS = 4000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz -',.\n";
export const UNITS = ["second", "usd-cent", "frf-cent"];

// The names of a list have a number each, by which links name them whatever else is in the list.
const NAMES = 1021;
export const numberOf = (name) => [...name].reduce((number, letter) => (number * 31 + letter.charCodeAt(0)) % NAMES, 0);

// Links of release 1.0 count places in these lists, which never change. A rule that they leave out
// has the usual value of that release.
const UNITS_OF_1_0 = ["second", "usd-cent", "frf-cent"];
const MOVES_OF_1_0 = ["insurance", "no-insurance", "double", "split", "hit", "stay", "card", "no-card", "bank-card", "bank-no-card", "raise"];
const halves = (usual) => ({ usual, step: 0.5 });
const whole = (usual) => ({ usual, step: 1 });
const choice = (...values) => ({ usual: values[0], values });
export const RULES_OF_1_0 = {
    "black-jack-for-time": {
        decks: whole(1),
        shuffle: choice("hand", "shoe"),
        penetration: whole(75),
        ties: choice("dealer", "push"),
        insurance_rounding: choice("exact", "down"),
        insurance_pays: whole(2),
        insurance_on_natural: choice(true, false),
        peek_under_ace: choice(true, false),
        hit_on_21: choice(false, true),
        natural_paid: choice("at once", "after dealer"),
        charlie_paid: choice("at once", "after dealer"),
        twenty_one_paid: choice("after dealer", "at once"),
        twenty_one_beats: choice("lower totals", "all totals"),
        five_card_21: choice("twenty-one", "charlie"),
        win_pays: halves(2),
        natural_pays: halves(3),
        twenty_one_pays: halves(3),
        charlie_pays: halves(3),
        doubled_21_pays: halves(2),
        dealer_over: choice("pays", "push"),
        insurance_unit: whole(1),
    },
    vegas: {
        decks: whole(6),
        penetration: whole(75),
        dealer: choice("stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"),
        double: choice("always", "10-11"),
        double_after_split: choice(true, false),
        split_cards: choice("as played", "both first"),
        split_aces: choice("play on", "one card"),
        split_21: choice("twenty-one", "natural"),
        insurance_on_natural: choice(true, false),
        natural_pays: halves(2.5),
        insurance_unit: whole(1),
    },
    "unix-bj": {
        double_after_split: choice(true, false),
        split_aces: choice("one card", "play on"),
        insurance_unit: whole(1),
    },
    baccarat: {
        bank_option_3v9: choice("draw", "stand", "toss"),
        bank_option_5v4: choice("draw", "stand", "toss"),
        decks: whole(4),
    },
    "red-dog": {
        decks: whole(1),
        shuffle: choice("hand", "shoe"),
        penetration: whole(75),
    },
};

// Takes a number apart that was put together digit by digit, each of a base of its own.
class Reader {
    constructor(digits) {
        this.left = BigInt(digits);
    }

    take(base) {
        const digit = this.left % BigInt(base);
        this.left /= BigInt(base);
        return Number(digit);
    }

    // Of one hexadecimal digit for every 4 bits.
    hex(digits) {
        const base = 16n ** BigInt(digits);
        const digit = this.left % base;
        this.left /= base;
        return digit.toString(16).padStart(digits, "0");
    }

    // A whole number of any size: 5 bits at a time, the lowest first, and whether more follow.
    whole() {
        let [number, scale] = [0, 1];
        for (;;) {
            const part = this.take(64);
            number += (part % 32) * scale;
            scale *= 32;
            if (part < 32) {
                return number;
            }
            if (scale > Number.MAX_SAFE_INTEGER) {
                throw new RangeError("a number is too large");
            }
        }
    }

    list(what) {
        const length = this.whole();
        if (length > MOST_DIGITS) {
            throw new RangeError("a list is too long");
        }
        return Array.from({ length }, what);
    }

    text() {
        if (this.take(2) === 0) {
            return this.list(() => LETTERS[this.take(32)]).join("");
        }
        const bytes = Uint8Array.from(this.list(() => this.take(256)));
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    }

    of(list) {
        return list[this.take(list.length)];
    }

    // The one of a list of names that has the number which is next.
    named(list) {
        const number = this.take(NAMES);
        const found = list.find((name) => numberOf(String(name)) === number);
        if (found === undefined) {
            throw new RangeError("it names what is not known");
        }
        return found;
    }
}

function moveIn(reader, game) {
    const { moves } = GAMES[game];
    const move = reader.named([...moves, ...moves.map((each) => `${each}:`)]);
    return move.endsWith(":") ? `${move}${reader.whole()}` : move;
}

function moveOf10In(reader) {
    const move = reader.take(MOVES_OF_1_0.length + 1);
    return move < MOVES_OF_1_0.length ? MOVES_OF_1_0[move] : `insurance:${reader.whole()}`;
}

function ruleIn(reader, game) {
    const { rules } = GAMES[game];
    const key = reader.named(Object.keys(rules));
    const { values, step } = rules[key];
    return [key, values === undefined ? reader.whole() * step : reader.named(values)];
}

function ruleOf10In(reader, game) {
    const [key, { values, step }] = reader.of(Object.entries(RULES_OF_1_0[game]));
    return [key, values === undefined ? reader.whole() * step : reader.of(values)];
}

const usualOf10 = (game) => Object.entries(RULES_OF_1_0[game]).map(([key, { usual }]) => [key, usual]);

export function isPacked(text) {
    return /^[1-9]\d+$/.test(text) && text.length <= MOST_DIGITS;
}

// The hand that digits stand for; RangeError for digits that stand for none.
export function unpacked(digits) {
    const reader = new Reader(digits);
    const version = reader.take(8);
    if (![OF_1_0, WITH_ROUND, LINK_VERSION].includes(version)) {
        throw new RangeError("of another version");
    }
    const isOf10 = version !== LINK_VERSION;
    const game = isOf10 ? reader.of(Object.keys(RULES_OF_1_0)) : reader.named(Object.keys(GAMES));
    const unit = isOf10 ? reader.of(UNITS_OF_1_0) : reader.named(UNITS);
    const hand = { game, unit, coin: reader.whole(), seed: reader.hex(64) };
    hand.begins = reader.hex(4);
    hand.decks = isOf10 ? reader.take(8) + 1 : reader.whole();
    hand.undealt = GAMES[game].undealt;
    hand.position = reader.whole();
    const link = reader.whole();
    const text = reader.text();
    hand.cut = link > 0 ? { text, link } : text;
    if (version === WITH_ROUND) {
        reader.whole(); // its number
        hand.beacon = { signature: reader.hex(96) };
    }
    hand.stakes = reader.list(() => reader.whole());
    hand.seat = (isOf10 ? reader.take(7) : reader.whole()) + 1;
    hand.actions = reader.list(() => (isOf10 ? moveOf10In : moveIn)(reader, game));
    const rules = reader.list(() => (isOf10 ? ruleOf10In : ruleIn)(reader, game));
    hand.rules = Object.fromEntries([...(isOf10 ? usualOf10(game) : []), ...rules]);
    const net = reader.whole();
    hand.paid = { net: net % 2 === 0 ? net / 2 : -(net + 1) / 2 };
    if (reader.left !== 1n) {
        throw new RangeError("digits are left over");
    }
    return hand;
}
