// A hand out of the digits behind the # of a short link: docs/fairness.md says how they are made.
// Like fairness.js it touches no page.

import { RULES, GAMES } from "./payments.js";

const [LINK_VERSION, WITH_ROUND] = [1, 2]; // the second is of release 1.0
const MOST_DIGITS = 4000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz -',.\n";
const MOVES = ["insurance", "no-insurance", "double", "split", "hit", "stay", "card", "no-card", "bank-card", "bank-no-card", "raise"];
const UNITS = ["second", "usd-cent", "frf-cent"];
// Cards at the end of each shuffle that are never dealt.
const UNDEALT = { "unix-bj": 1 };
export const undealtBy = (game) => UNDEALT[game] ?? 0;

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
}

function rulesIn(reader, game) {
    const known = Object.entries(RULES[game]);
    const changed = reader.list(() => {
        const [key, rule] = reader.of(known);
        if (rule.values !== undefined) {
            return [key, reader.of(rule.values)];
        }
        const number = reader.whole();
        return [key, rule.isHalves ? number / 2 : number];
    });
    return Object.fromEntries(changed);
}

function movesIn(reader) {
    return reader.list(() => {
        const move = reader.take(MOVES.length + 1);
        return move < MOVES.length ? MOVES[move] : `insurance:${reader.whole()}`;
    });
}

export function isPacked(text) {
    return /^[1-9]\d+$/.test(text) && text.length <= MOST_DIGITS;
}

// The hand that digits stand for; RangeError for digits that stand for none.
export function unpacked(digits) {
    const reader = new Reader(digits);
    const version = reader.take(8);
    if (version !== LINK_VERSION && version !== WITH_ROUND) {
        throw new RangeError("of another version");
    }
    const game = reader.of(GAMES);
    const hand = { game, unit: reader.of(UNITS), coin: reader.whole(), seed: reader.hex(64) };
    hand.begins = reader.hex(4);
    hand.decks = reader.take(8) + 1;
    hand.undealt = undealtBy(game);
    hand.position = reader.whole();
    const link = reader.whole();
    const text = reader.text();
    hand.cut = link > 0 ? { text, link } : text;
    if (version === WITH_ROUND) {
        reader.whole(); // its number
        hand.beacon = { signature: reader.hex(96) };
    }
    hand.stakes = reader.list(() => reader.whole());
    hand.seat = reader.take(7) + 1;
    hand.actions = movesIn(reader);
    hand.rules = rulesIn(reader, game);
    const net = reader.whole();
    hand.paid = { net: net % 2 === 0 ? net / 2 : -(net + 1) / 2 };
    if (reader.left !== 1n) {
        throw new RangeError("digits are left over");
    }
    return hand;
}
