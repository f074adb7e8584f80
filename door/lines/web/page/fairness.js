// The arithmetic of docs/fairness.md, for every page that checks a seal: WebCrypto and nothing else.
// It touches no page, and imports nothing, so that a page of a single file can hold it too.

const VERSION = "blackjack-for-time/1/";
const SECOND_VERSION = "blackjack-for-time/2/";
const THIRD_VERSION = "blackjack-for-time/3/";
const SEED_BYTES = 32;
const SPAN = 2 ** 32;
const CARDS_IN_DECK = 52;
const AT_ONCE = 64; // blocks that are worked out together
const SUITS = "HSDC";
const RANKS = "A23456789TJQK";
const UTF8 = new TextEncoder();

// Browsers give WebCrypto to pages that came by https, from this machine, or out of a file.
export function canCheck() {
    return globalThis.crypto?.subtle !== undefined;
}

// The 32 bytes of a seed of 64 hexadecimal digits; RangeError for anything else.
export function seedBytes(text) {
    const digits = text.trim();
    if (!/^[0-9a-fA-F]{64}$/.test(digits)) {
        throw new RangeError("A seed is 64 hexadecimal digits.");
    }
    return Uint8Array.from({ length: SEED_BYTES }, (_, at) => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}

async function digestOf(bytes) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The seal of a seed: its SHA-256 in lower-case hexadecimal.
export async function sealOf(seed) {
    return digestOf(seedBytes(seed));
}

// What a round of drand is worth, which release 1.0 could mix in: the SHA-256 of the bytes of its signature.
export async function randomnessOf(signature) {
    return digestOf(Uint8Array.from(signature.match(/../g), (pair) => Number.parseInt(pair, 16)));
}

// A cut as it is mixed in: in NFC, without spaces (U+0020) at its ends. RangeError for what is no
// text: half of a character.
export function normalCut(text) {
    const cut = text.normalize("NFC").replace(/^ +| +$/g, "");
    if (/[\uD800-\uDFFF]/u.test(cut)) {
        throw new RangeError("The cut holds a character that is not text.");
    }
    return cut;
}

// The deck before the shuffle, `decks` times.
export function deck(decks) {
    const one = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
    return Array.from({ length: decks }, () => one).flat();
}

// What stands before the counter in every block. A cut is a text where the shoe is of version 1. Of
// version 2 it has `text`, a phrase a line, and `link`, the number of the seed in its chain; of
// version 3, which release 1.0 dealt, also `beacon`, what a round of drand is worth.
function said(label, cut) {
    if (typeof cut === "string") {
        return `${VERSION}${label}\0${normalCut(cut)}\0`;
    }
    const phrases = cut.text.split("\n").map(normalCut).join("\n");
    const start = `${label}\0${cut.link}\0${phrases}\0`;
    return cut.beacon ? `${THIRD_VERSION}${start}${cut.beacon}\0` : `${SECOND_VERSION}${start}`;
}

// The anchor of the chain that a seed is number `link` of, from 1.
export async function anchorOf(seed, link) {
    let digits = seed;
    for (let left = link; left > 0; left -= 1) {
        digits = await sealOf(digits);
    }
    return digits;
}

// A function that gives at each call the next whole number from 0 to below its argument.
async function draws(seed, label, cut) {
    const hash = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", seedBytes(seed), hash, false, ["sign"]);
    const start = UTF8.encode(said(label, cut));
    const numbers = [];
    let counter = 0;

    async function block(count) {
        const message = new Uint8Array(start.length + 8);
        message.set(start);
        new DataView(message.buffer).setBigUint64(start.length, BigInt(count));
        return new DataView(await crypto.subtle.sign("HMAC", key, message)).getUint32(0);
    }

    return async (bound) => {
        // Numbers past the last whole multiple would favour the low results: draw again.
        const limit = SPAN - (SPAN % bound);
        for (;;) {
            if (counter === numbers.length) {
                const next = Array.from({ length: AT_ONCE }, (_, more) => block(counter + more));
                numbers.push(...(await Promise.all(next)));
            }
            const number = numbers[counter];
            counter += 1;
            if (number < limit) {
                return number % bound;
            }
        }
    };
}

// The cards of a shoe from the top; `number`, from 1, is for a shoe that is shuffled again.
export async function shuffle(seed, cut, decks, number = 1) {
    const cards = deck(decks);
    const below = await draws(seed, number === 1 ? "shuffle" : `shuffle ${number}`, cut);
    for (let last = cards.length - 1; last > 0; last -= 1) {
        const other = await below(last + 1);
        [cards[last], cards[other]] = [cards[other], cards[last]];
    }
    return cards;
}

// `count` cards from number `position` (from 0) of a shoe that runs on through further shuffles, of
// which the last `undealt` cards of each are never dealt: 0 at Vegas, 1 at UNIX bj.
export async function cardsFrom(seed, cut, decks, position, count, undealt = 0) {
    const size = decks * CARDS_IN_DECK - undealt;
    const gone = position % size;
    const cards = [];
    for (let number = Math.floor(position / size) + 1; cards.length - gone < count; number += 1) {
        cards.push(...(await shuffle(seed, cut, decks, number)).slice(0, size));
    }
    return cards.slice(gone, gone + count);
}

// Whether the toss before card number `position` of the shoe, from 0, is for a card.
export async function toss(seed, cut, position) {
    const below = await draws(seed, `toss ${position}`, cut);
    return (await below(2)) === 1;
}

// Checks a hand: whether its seed fits its seal, and whether it gives the hand's cards. `hand` has
// seal, seed, cut, decks, undealt, position (of its first card, from 0), and cards, from the first
// that was dealt. What comes back has the seal and the cards that the seed gives, and how many cards
// agree from the first on.
export async function check(hand) {
    const seal = await sealOf(hand.seed);
    const cards = await cardsFrom(
        hand.seed,
        hand.cut,
        hand.decks,
        hand.position,
        hand.cards.length,
        hand.undealt,
    );
    const differs = cards.findIndex((card, at) => card !== hand.cards[at]);
    return {
        seal,
        cards,
        fitsSeal: seal === hand.seal.trim().toLowerCase(),
        alike: differs < 0 ? cards.length : differs,
        fitsCards: differs < 0,
    };
}
