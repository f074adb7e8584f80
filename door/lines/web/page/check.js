// Checks a hand that was pasted, or that stands in the page's own address behind the #. Nothing is
// sent anywhere: the page makes no request. docs/fairness.md says how a hand is written.

import { anchorOf, canCheck, cardsFrom, randomnessOf, sealOf, toss } from "./fairness.js";
import { UNITS, isPacked, unpacked } from "./packed.js";
import { Unplayable, isWhole, settle } from "./payments.js";
import { GAMES } from "./rules.js";

const MOST_DECKS = 100;
const MOST_CARDS = 1000;
const MOST_MOVES = 1000;
const MOST_PHRASES = 8; // one for each seat, and what is left of those who got up
const LONGEST_CUT = 1000;
const MOST_LINKS = 20000;
const USUALLY_ENOUGH = 40; // cards of the shoe for a hand
const ALWAYS_ENOUGH = 400;
const WORDS = {
    en: {
        title: "Check a hand",
        about: "This page works out seal, cards and payment of a hand from its seed, its cut and its moves, in your browser. It asks no server, and sends nothing.",
        label: "The hand, as door hand N --proof prints it",
        check: "Check",
        link: "A link to this hand",
        noCrypto: "This browser checks nothing on a page that came without https. Save the page and open the file.",
        noHand: "This is not a hand. Paste all that door hand N --proof prints.",
        noLink: "This link is damaged, or not of this page’s version. Open all of it again.",
        wrongField: (name) => `This is not a hand: ${name} is missing or wrong.`,
        noSeed: "The seed is not shown before the shoe is done. Keep this seal, and check again then.",
        allRight: "The hand is as it was sealed.",
        notRight: "Something does not fit.",
        sealFits: "The seed has the seal.",
        sealDiffers: (seal) => `The seed has another seal: ${seal}`,
        cardsFit: (count) => `The seed and the cut give all ${count} cards.`,
        cardDiffers: (at, said, found) => `Card ${at} of the hand is said to be ${said}. The seed and the cut give ${found}.`,
        cardsGiven: (cards) => `The seed and the cut give these cards: ${cards}`,
        usedDiffers: (said, found) => `The hand is said to have taken ${said} cards. With these moves it takes ${found}.`,
        anchorFits: (link) => `The seed is number ${link} of the chain with this anchor.`,
        anchorDiffers: (anchor) => `The seed is of a chain with another anchor: ${anchor}`,
        tossFits: (at) => `The toss before card ${at} is right.`,
        tossDiffers: (at) => `The toss before card ${at} is not what the seed gives.`,
        tossesOther: (count) => `Other tosses are said. By its moves the hand has ${count}.`,
        shown: "Compare with what you were shown before the bet, and the cut with your own. This page cannot know them.",
        roundUnchecked: "A round of drand is mixed into the shoe, as release 1.0 could have it. This page takes its signature as it stands, and does not check the round.",
        seal: "Seal",
        anchor: "Anchor",
        cut: "Cut",
        rules: "Rules that are not the usual ones",
        noPayment: "Nothing is said of moves and payments.",
        notPaid: "Nothing was paid: the hand was never played to its end.",
        bet: (stake, had, result) => `You bet ${stake}, had ${had}: ${result}.`,
        insured: (stake, result) => `Insurance for ${stake}: ${result}.`,
        against: (mine, count, theirs, against) => `${mine} (${count}) against ${theirs} (${against})`,
        paysThat: (net) => `In all ${net}. So it was booked: that agrees.`,
        paysOther: (net, said) => `By cards, moves, stakes and rules it pays ${net}. Booked is ${said}.`,
        paysUnsaid: (net) => `Nothing is said of a payment, but the hand is over: by its moves it pays ${net}.`,
        netOther: (net, won, lost) => `Booked is ${net} in all. ${won} won less ${lost} lost is not that.`,
        stakesOther: (staked, said) => `By moves and stakes ${staked} was bet. Booked is ${said}.`,
        endsOther: (found, said) => `It ends as ${found}. It is said to have ended as ${said}.`,
        liesOther: "The hands lie in another way than is said.",
        noGame: (game) => `This page does not know the game ${game}.`,
        noRule: (key, value) => `These rules cannot be: ${key} = ${value}.`,
        noStakes: "These stakes cannot be paid by these rules.",
        noCard: "The shoe has not enough cards for these moves.",
        noMove: (number, open) => `Move ${number} is missing: ${open}.`,
        wrongMove: (number, move) => `Move ${number} is not open there: ${move}.`,
        leftMove: (number, move) => `The hand is over before move ${number}: ${move}.`,
        coins: (number, text) => `${text} ${number === 1 ? "coin" : "coins"}`,
        "usd-cent": (text) => `$${text}`,
        "frf-cent": (text) => `FR ${text}`,
        ends: {
            natural: "blackjack",
            "twenty-one": "21 wins",
            charlie: "Five-Card Charlie",
            win: "win",
            push: "push",
            lose: "lose",
            bust: "bust",
            "dealer-natural": "dealer has blackjack",
            "dealer-charlie": "dealer has a Five-Card Charlie",
            player: "player wins",
            bank: "bank wins",
            "stand-off": "stand-off",
            "three-of-a-kind": "three of a kind",
        },
    },
    fr: {
        title: "Vérifier une main",
        about: "Cette page recalcule le sceau, les cartes et le paiement d’une main à partir de sa graine, de sa coupe et de ses coups, dans votre navigateur. Elle n’interroge aucun serveur et n’envoie rien.",
        label: "La main, telle que l’affiche door hand N --proof",
        check: "Vérifier",
        link: "Un lien vers cette main",
        noCrypto: "Ce navigateur ne vérifie rien sur une page venue sans https. Enregistrez la page et ouvrez le fichier.",
        noHand: "Ce n’est pas une main. Collez tout ce qu’affiche door hand N --proof.",
        noLink: "Ce lien est abîmé ou n’est pas de la version de cette page. Rouvrez-le en entier.",
        wrongField: (name) => `Ce n’est pas une main : ${name} manque ou est faux.`,
        noSeed: "La graine n’est pas montrée avant la fin du sabot. Gardez ce sceau et revenez alors.",
        allRight: "La main est telle qu’elle a été scellée.",
        notRight: "Quelque chose ne correspond pas.",
        sealFits: "La graine a bien ce sceau.",
        sealDiffers: (seal) => `La graine a un autre sceau : ${seal}`,
        cardsFit: (count) => `La graine et la coupe donnent les ${count} cartes.`,
        cardDiffers: (at, said, found) => `La carte ${at} de la main serait ${said}. La graine et la coupe donnent ${found}.`,
        cardsGiven: (cards) => `La graine et la coupe donnent ces cartes : ${cards}`,
        usedDiffers: (said, found) => `La main aurait pris ${said} cartes. Avec ces coups, elle en prend ${found}.`,
        anchorFits: (link) => `La graine est le numéro ${link} de la chaîne qui a cette ancre.`,
        anchorDiffers: (anchor) => `La graine est d’une chaîne qui a une autre ancre : ${anchor}`,
        tossFits: (at) => `Le tirage avant la carte ${at} est juste.`,
        tossDiffers: (at) => `Le tirage avant la carte ${at} n’est pas celui de la graine.`,
        tossesOther: (count) => `D’autres tirages sont indiqués. D’après ses coups, la main en a ${count}.`,
        shown: "Comparez avec ce qui vous a été montré avant la mise, et la coupe avec la vôtre. Cette page ne peut pas les connaître.",
        roundUnchecked: "Un tour de drand est mêlé au sabot, comme la version 1.0 le permettait. Cette page prend sa signature telle quelle et ne vérifie pas le tour.",
        seal: "Sceau",
        anchor: "Ancre",
        cut: "Coupe",
        rules: "Règles qui ne sont pas les habituelles",
        noPayment: "Rien n’est dit des coups et des paiements.",
        notPaid: "Rien n’a été payé : la main n’a pas été jouée jusqu’au bout.",
        bet: (stake, had, result) => `Vous avez misé ${stake}, avec ${had} : ${result}.`,
        insured: (stake, result) => `Assurance de ${stake} : ${result}.`,
        against: (mine, count, theirs, against) => `${mine} (${count}) contre ${theirs} (${against})`,
        paysThat: (net) => `En tout ${net}. C’est ce qui est dans les livres : cela concorde.`,
        paysOther: (net, said) => `D’après les cartes, les coups, les mises et les règles, elle paie ${net}. Les livres ont ${said}.`,
        paysUnsaid: (net) => `Aucun paiement n’est indiqué, mais la main est finie : d’après ses coups, elle paie ${net}.`,
        netOther: (net, won, lost) => `Les livres ont ${net} en tout. ${won} gagnés moins ${lost} perdus ne font pas cela.`,
        stakesOther: (staked, said) => `D’après les coups et les mises, ${staked} ont été misés. Les livres ont ${said}.`,
        endsOther: (found, said) => `Elle finit ainsi : ${found}. Elle aurait fini ainsi : ${said}.`,
        liesOther: "Les mains ne sont pas étalées comme il est dit.",
        noGame: (game) => `Cette page ne connaît pas le jeu ${game}.`,
        noRule: (key, value) => `Ces règles sont impossibles : ${key} = ${value}.`,
        noStakes: "Ces mises ne peuvent pas être payées d’après ces règles.",
        noCard: "Le sabot n’a pas assez de cartes pour ces coups.",
        noMove: (number, open) => `Le coup ${number} manque : ${open}.`,
        wrongMove: (number, move) => `Le coup ${number} n’est pas permis là : ${move}.`,
        leftMove: (number, move) => `La main est finie avant le coup ${number} : ${move}.`,
        coins: (number, text) => `${text} ${number < 2 ? "jeton" : "jetons"}`,
        "usd-cent": (text) => `${text} $`,
        "frf-cent": (text) => `${text} F`,
        ends: {
            natural: "blackjack",
            "twenty-one": "21 gagne",
            charlie: "Charlie en 5 cartes",
            win: "gagné",
            push: "égalité",
            lose: "perdu",
            bust: "sauté",
            "dealer-natural": "blackjack du croupier",
            "dealer-charlie": "Charlie du croupier",
            player: "le joueur gagne",
            bank: "la banque gagne",
            "stand-off": "égalité",
            "three-of-a-kind": "brelan",
        },
    },
};
// A language says in English what it lacks.
const language =
    navigator.languages.map((each) => each.slice(0, 2)).find((each) => Object.hasOwn(WORDS, each)) ?? "en";
const words = { ...WORDS.en, ...WORDS[language], ends: { ...WORDS.en.ends, ...WORDS[language].ends } };
const part = (id) => document.getElementById(id);

const isLike = (pattern, value) => typeof value === "string" && pattern.test(value);
const isSeal = (value) => isLike(/^[0-9a-f]{64}$/i, value);
const isToss = (value) => Array.isArray(value) && isWhole(value[0], 0, 1e9) && typeof value[1] === "boolean";
const isFew = (value) => Array.isArray(value) && value.length <= MOST_CARDS;
// A text, or phrases and the number of the seed in its chain.
function isCut(value) {
    if (typeof value === "string") {
        return value.length <= LONGEST_CUT;
    }
    const isText = typeof value?.text === "string" && value.text.length <= MOST_PHRASES * LONGEST_CUT;
    return isText && isWhole(value.link, 1, MOST_LINKS);
}

// What a proof of release 1.0 has of a round of drand; without a signature none is mixed in.
const isBeacon = (value) => isLike(/^([0-9a-f]{96})?$/, value?.signature);

const FIELDS = {
    seal: isSeal,
    beacon: (value) => value === undefined || isBeacon(value),
    cut: isCut,
    anchor: (value, { cut }) => value === undefined || value === "" || (isSeal(value) && linkOf(cut) !== undefined),
    decks: (value) => isWhole(value, 1, MOST_DECKS),
    position: (value) => isWhole(value, 0, 1e9),
    undealt: (value, { game }) => (game === undefined ? isWhole(value, 0, 51) : value === GAMES[game]?.undealt),
};
const OPEN_FIELDS = {
    seed: isSeal,
    cards: (value) => isFew(value) && value.length > 0 && value.every((card) => isLike(/^[A2-9TJQK][HSDC]$/, card)),
    tosses: (value) => isFew(value) && value.every(isToss),
};
const isAmount = (value) => isWhole(value, 0, 1e15);
// Of a hand whose payment can be checked.
const PLAYED_FIELDS = {
    game: (value) => Object.hasOwn(GAMES, value),
    rules: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    unit: (value) => UNITS.includes(value),
    coin: (value) => isWhole(value, 1, 1e9),
    stakes: (value) => isFew(value) && value.length > 0 && value.every((stake) => isWhole(stake, 1, 1e12)),
    seat: (value) => isWhole(value, 1, 7),
    actions: (value) => Array.isArray(value) && value.length <= MOST_MOVES && value.every((move) => typeof move === "string"),
    paid: (value) => value === undefined || isPayment(value),
};

function isPayment(value) {
    const amounts = [value?.lost, value?.returned, value?.won];
    return amounts.every(isAmount) && isWhole(value.net, -1e15, 1e15) && typeof value.outcome === "string" && typeof value.laid === "object";
}

// A hand out of a text; an Error whose message is for the person who pasted it.
function read(text) {
    let hand = null;
    try {
        hand = JSON.parse(text);
    } catch {
        // said below
    }
    if (typeof hand !== "object" || hand === null || Array.isArray(hand)) {
        throw new Error(words.noHand);
    }
    if (hand.beacon?.signature && typeof hand.cut === "string") {
        throw new Error(words.wrongField("cut"));
    }
    const isPlayed = hand.seed !== undefined && Object.keys(PLAYED_FIELDS).some((name) => hand[name] !== undefined);
    const open = hand.seed === undefined ? {} : OPEN_FIELDS;
    const fields = { ...FIELDS, ...open, ...(isPlayed ? PLAYED_FIELDS : {}) };
    for (const [name, isRight] of Object.entries(fields)) {
        if (!isRight(hand[name], hand)) {
            throw new Error(words.wrongField(name));
        }
    }
    return hand;
}

const textOf = (cut) => (typeof cut === "string" ? cut : cut.text);
const linkOf = (cut) => (typeof cut === "string" ? undefined : cut.link);

// What was found is a list of [whether it is right, sentence], where null is neither.

async function sealFound(hand, seal) {
    const fits = hand.seal === undefined ? seal.startsWith(hand.begins) : seal === hand.seal.toLowerCase();
    const found = [[fits, fits ? words.sealFits : words.sealDiffers(seal)]];
    const link = linkOf(hand.cut);
    if (hand.anchor && link !== undefined) {
        const anchor = await anchorOf(hand.seed, link);
        const isSame = anchor === hand.anchor.toLowerCase();
        found.push([isSame, isSame ? words.anchorFits(link) : words.anchorDiffers(anchor)]);
    }
    return found;
}

function cardsFound(hand, dealt) {
    if (hand.cards === undefined) {
        return [];
    }
    const at = hand.cards.findIndex((card, place) => card !== dealt[place]);
    return at < 0
        ? [[true, words.cardsFit(hand.cards.length)]]
        : [[false, words.cardDiffers(at + 1, hand.cards[at], dealt[at])]];
}

async function tossesFound(hand, tosses) {
    const found = tosses.map(async ([before, isCard]) => {
        const fits = (await toss(hand.seed, hand.cut, before)) === isCard;
        return [fits, (fits ? words.tossFits : words.tossDiffers)(before + 1)];
    });
    return Promise.all(found);
}

const suits = { H: "♥", S: "♠", D: "♦", C: "♣" };
const named = (cards) => cards.map((card) => card[0].replace("T", "10") + suits[card[1]]).join(" ");

// An amount in the unit of the hand's stakes, as people say it: a result has its sign.
function amount(hand, value, isResult = false) {
    const number = Math.abs(value) / (hand.unit === "second" ? hand.coin : 100);
    const text = new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(number);
    const said = hand.unit === "second" ? words.coins(number, text) : words[hand.unit](text);
    const sign = value < 0 ? "-" : isResult && value > 0 ? "+" : "";
    return `${sign}${said}`;
}

const endNamed = (outcome) => outcome.split(" ").map((each) => words.ends[each] ?? each).join(", ");

function betTold(hand, bet) {
    const [stake, result] = [amount(hand, bet.lost + bet.returned), amount(hand, bet.won - bet.lost, true)];
    if (bet.outcome === "insurance") {
        return words.insured(stake, result);
    }
    const { cards, against, counts } = bet;
    const had = counts === null ? named(cards) : words.against(named(cards), counts[0], named(against), counts[1]);
    return words.bet(stake, had, `${words.ends[bet.outcome]}, ${result}`);
}

// What the hand pays by its moves. The cards are those that the seed gives, whatever is said.
async function settled(hand, dealt) {
    try {
        return { ...settle(hand, dealt), dealt };
    } catch (error) {
        if (!(error instanceof Unplayable) || error.word !== "noCard") {
            throw error;
        }
    }
    const more = await cardsOf(hand, ALWAYS_ENOUGH);
    return { ...settle(hand, more), dealt: more };
}

const cardsOf = (hand, most) => cardsFrom(hand.seed, hand.cut, hand.decks, hand.position, most, hand.undealt);

// A hand that was void is not over by its moves.
async function unpaidFound(hand, dealt) {
    try {
        const { won, lost } = await settled(hand, dealt);
        return [false, words.paysUnsaid(amount(hand, won - lost, true))];
    } catch (error) {
        if (!(error instanceof Unplayable) || error.word !== "noMove") {
            throw error;
        }
        return [null, words.notPaid];
    }
}

async function paymentFound(hand, dealt) {
    if (hand.game === undefined) {
        return [[null, words.noPayment]];
    }
    if (hand.paid === undefined) {
        return [await unpaidFound(hand, dealt)];
    }
    const now = await settled(hand, dealt);
    const said = hand.paid;
    const tosses = now.tosses.map(([at, isCard]) => [hand.position + at, isCard]);
    const found = hand.tosses === undefined ? await tossesFound(hand, tosses) : [];
    if (hand.tosses !== undefined && !isSame(hand.tosses, tosses)) {
        found.push([false, words.tossesOther(tosses.length)]);
    }
    if (hand.cards === undefined) {
        found.push([null, words.cardsGiven(named(now.dealt.slice(0, now.used)))]);
    } else if (hand.cards.length !== now.used) {
        found.push([false, words.usedDiffers(hand.cards.length, now.used)]);
    }
    found.push(...now.bets.map((bet) => [null, betTold(hand, bet)]));
    return [...found, ...comparedWithBooks(hand, said, now)];
}

// What is said of the end, against what comes of the moves. A short link says the net alone.
function comparedWithBooks(hand, said, now) {
    const found = [];
    const net = now.won - now.lost;
    const result = (value) => amount(hand, value, true);
    if (said.outcome !== undefined && said.outcome !== now.outcome) {
        found.push([false, words.endsOther(endNamed(now.outcome), endNamed(said.outcome))]);
    }
    if (said.laid !== undefined && !isSame(Object.entries(said.laid).sort(), Object.entries(now.laid).sort())) {
        found.push([false, words.liesOther]);
    }
    if (said.lost !== undefined && said.lost + said.returned !== now.staked) {
        found.push([false, words.stakesOther(amount(hand, now.staked), amount(hand, said.lost + said.returned))]);
    }
    if (said.lost !== undefined && said.won - said.lost !== said.net) {
        found.push([false, words.netOther(result(said.net), amount(hand, said.won), amount(hand, said.lost))]);
    }
    const fits = said.net === net && (said.won ?? now.won) === now.won;
    found.push([fits, fits ? words.paysThat(result(net)) : words.paysOther(result(net), result(said.net))]);
    return found;
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// All that can be found about a hand whose seed is open.
export async function findings(given) {
    let hand = given;
    if (given.beacon?.signature) {
        hand = { ...given, cut: { ...given.cut, beacon: await randomnessOf(given.beacon.signature) } };
    }
    const dealt = await cardsOf(hand, Math.max(USUALLY_ENOUGH, hand.cards?.length ?? 0));
    const found = [...(await sealFound(hand, await sealOf(hand.seed))), ...cardsFound(hand, dealt)];
    if (hand.beacon?.signature) {
        found.push([null, words.roundUnchecked]);
    }
    found.push(...(await tossesFound(hand, hand.tosses ?? [])));
    try {
        found.push(...(await paymentFound(hand, dealt)));
    } catch (error) {
        if (!(error instanceof Unplayable)) {
            throw error;
        }
        found.push([error.word === "noGame" ? null : false, words[error.word](...error.values)]);
    }
    return found;
}

// What a person has to compare, and the house's own rules.
async function particulars(hand) {
    const seal = hand.seal ?? (await sealOf(hand.seed));
    const link = linkOf(hand.cut);
    const told = [[words.seal, seal], [words.cut, textOf(hand.cut).replaceAll("\n", " / ")]];
    if (hand.anchor) {
        told.push([words.anchor, hand.anchor]);
    } else if (hand.seed !== undefined && link !== undefined && canCheck()) {
        told.push([words.anchor, await anchorOf(hand.seed, link)]);
    }
    if (hand.game !== undefined) {
        const own = Object.entries(hand.rules).filter(([key, value]) => GAMES[hand.game].rules[key]?.usual !== value);
        told.push([words.rules, own.map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(", ")]);
    }
    return told.filter(([, value]) => value !== "").map(([name, value]) => `${name}: ${value}`);
}

function line(text, name, className) {
    const element = document.createElement(name);
    element.className = className;
    element.textContent = text;
    return element;
}

async function show(verdict, isRight, found = [], hand = null) {
    const told = hand === null ? [] : [words.shown, ...(await particulars(hand))];
    part("findings").replaceChildren(
        ...found.map(([fits, sentence]) => line(sentence, "li", fits === null ? "" : fits ? "right" : "wrong")),
    );
    part("verdict").textContent = verdict;
    part("verdict").className = isRight ? "right" : "wrong";
    part("shown").replaceChildren(...told.map((text) => line(text, "p", "")));
    part("link").hidden = hand === null;
    if (hand !== null) {
        part("link").href = `#${encodeURIComponent(JSON.stringify(hand))}`;
    }
    part("verdict").hidden = verdict === "";
}

let asked = 0;

// Checks a hand that `find` gives, or says why there is none.
async function answer(find) {
    asked += 1;
    const mine = asked;
    await show("", true); // what was found before is of another hand
    try {
        const hand = find();
        if (hand.seed === undefined) {
            await show(words.noSeed, true, [], hand);
        } else if (!canCheck()) {
            await show(words.noCrypto, false);
        } else {
            const found = await findings(hand);
            if (mine === asked) {
                const isRight = found.every(([fits]) => fits !== false);
                await show(isRight ? words.allRight : words.notRight, isRight, found, hand);
            }
        }
    } catch (error) {
        await show(error.message, false);
    }
}

function linked(digits) {
    try {
        return unpacked(digits);
    } catch {
        throw new Error(words.noLink);
    }
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return "";
    }
}

function open() {
    const text = location.hash.slice(1);
    if (isPacked(text)) {
        part("hand").value = "";
        answer(() => linked(text));
    } else if (text !== "") {
        part("hand").value = decoded(text);
        answer(() => read(part("hand").value));
    }
}

document.documentElement.lang = language;
document.title = words.title;
for (const each of document.querySelectorAll("[data-word]")) {
    each.textContent = words[each.dataset.word];
}
part("asks").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(() => read(part("hand").value));
});
addEventListener("hashchange", open);
open();
