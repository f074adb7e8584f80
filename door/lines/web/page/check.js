// Checks a hand that was pasted, or that stands in the page's own address behind the #. Nothing is
// sent anywhere: the page makes no request. docs/fairness.md says how a hand is written.

import { anchorOf, canCheck, check, toss } from "./fairness.js";

const MOST_DECKS = 100;
const MOST_CARDS = 1000;
const MOST_PHRASES = 8; // one for each seat, and what is left of those who got up
const LONGEST_CUT = 1000;
const MOST_LINKS = 20000;
const WORDS = {
    en: {
        title: "Check a hand",
        about: "This page works out the seal and the cards of a hand from its seed and its cut, in your browser. It asks no server, and sends nothing. It does not check what the hand paid.",
        label: "The hand, as door hand N --proof prints it",
        check: "Check",
        link: "A link to this hand",
        noCrypto: "This browser checks nothing on a page that came without https. Save the page and open the file.",
        noHand: "This is not a hand. Paste all that door hand N --proof prints.",
        wrongField: (name) => `This is not a hand: ${name} is missing or wrong.`,
        noSeed: "The seed is not shown before the shoe is done. Keep this seal, and check again then.",
        allRight: "The hand is as it was sealed.",
        notRight: "Something does not fit.",
        sealFits: "The seed has the seal.",
        sealDiffers: (seal) => `The seed has another seal: ${seal}`,
        cardsFit: (count) => `The seed and the cut give all ${count} cards.`,
        cardDiffers: (at, said, found) => `Card ${at} of the hand is said to be ${said}. The seed and the cut give ${found}.`,
        anchorFits: (link) => `The seed is number ${link} of the chain with this anchor.`,
        anchorDiffers: (anchor) => `The seed is of a chain with another anchor: ${anchor}`,
        tossFits: (at) => `The toss before card ${at} is right.`,
        tossDiffers: (at) => `The toss before card ${at} is not what the seed gives.`,
        shown: "Compare the seal with the one that you were shown before the bet, and the cut with your own. This page cannot know them: ",
    },
    fr: {
        title: "Vérifier une main",
        about: "Cette page recalcule le sceau et les cartes d’une main à partir de sa graine et de sa coupe, dans votre navigateur. Elle n’interroge aucun serveur et n’envoie rien. Elle ne vérifie pas ce que la main a payé.",
        label: "La main, telle que l’affiche door hand N --proof",
        check: "Vérifier",
        link: "Un lien vers cette main",
        noCrypto: "Ce navigateur ne vérifie rien sur une page venue sans https. Enregistrez la page et ouvrez le fichier.",
        noHand: "Ce n’est pas une main. Collez tout ce qu’affiche door hand N --proof.",
        wrongField: (name) => `Ce n’est pas une main : ${name} manque ou est faux.`,
        noSeed: "La graine n’est pas montrée avant la fin du sabot. Gardez ce sceau et revenez alors.",
        allRight: "La main est telle qu’elle a été scellée.",
        notRight: "Quelque chose ne correspond pas.",
        sealFits: "La graine a bien ce sceau.",
        sealDiffers: (seal) => `La graine a un autre sceau : ${seal}`,
        cardsFit: (count) => `La graine et la coupe donnent les ${count} cartes.`,
        cardDiffers: (at, said, found) => `La carte ${at} de la main serait ${said}. La graine et la coupe donnent ${found}.`,
        anchorFits: (link) => `La graine est le numéro ${link} de la chaîne qui a cette ancre.`,
        anchorDiffers: (anchor) => `La graine est d’une chaîne qui a une autre ancre : ${anchor}`,
        tossFits: (at) => `Le tirage avant la carte ${at} est juste.`,
        tossDiffers: (at) => `Le tirage avant la carte ${at} n’est pas celui de la graine.`,
        shown: "Comparez le sceau avec celui qui vous a été montré avant la mise, et la coupe avec la vôtre. Cette page ne peut pas les connaître : ",
    },
};
const language = navigator.language.startsWith("fr") ? "fr" : "en";
const words = WORDS[language];
const part = (id) => document.getElementById(id);

const isWhole = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most;
const isSeal = (value) => typeof value === "string" && /^[0-9a-f]{64}$/i.test(value);
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

const FIELDS = {
    seal: isSeal,
    cut: isCut,
    anchor: (value) => value === undefined || value === "" || isSeal(value),
    decks: (value) => isWhole(value, 1, MOST_DECKS),
    position: (value) => isWhole(value, 0, 1e9),
    undealt: (value) => isWhole(value, 0, 51),
};
const OPEN_FIELDS = {
    seed: isSeal,
    cards: (value) => isFew(value) && value.length > 0 && value.every((card) => /^[A2-9TJQK][HSDC]$/.test(card)),
    tosses: (value) => isFew(value) && value.every(isToss),
};

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
    const fields = hand.seed === undefined ? FIELDS : { ...FIELDS, ...OPEN_FIELDS };
    for (const [name, isRight] of Object.entries(fields)) {
        if (!isRight(hand[name])) {
            throw new Error(words.wrongField(name));
        }
    }
    return hand;
}

const textOf = (cut) => (typeof cut === "string" ? cut : cut.text);
const linkOf = (cut) => (typeof cut === "string" ? undefined : cut.link);

// What stands behind the # of a link to a hand, and back.
function fragment(hand) {
    const short = { ...hand, cards: hand.cards?.join("") ?? "", cut: textOf(hand.cut) };
    short.link = linkOf(hand.cut);
    short.anchor = hand.anchor || undefined;
    short.tosses = (hand.tosses ?? []).map(([at, isCard]) => `${at}${isCard ? "y" : "n"}`).join("");
    const known = [...Object.keys({ ...FIELDS, ...OPEN_FIELDS }), "link"].filter((name) => short[name] !== undefined);
    return new URLSearchParams(known.map((name) => [name, short[name]])).toString();
}

function pasted(link) {
    const said = Object.fromEntries(new URLSearchParams(link));
    const text = said.cut ?? "";
    const cut = said.link === undefined ? text : { text, link: Number(said.link) };
    const hand = { seal: said.seal, seed: said.seed, cut, anchor: said.anchor };
    for (const name of ["decks", "position", "undealt"]) {
        hand[name] = Number(said[name] ?? Number.NaN);
    }
    if (said.seed !== undefined) {
        hand.cards = (said.cards ?? "").match(/.{1,2}/g) ?? [];
        const tosses = [...(said.tosses ?? "").matchAll(/(\d+)([yn])/g)];
        hand.tosses = tosses.map(([, at, answer]) => [Number(at), answer === "y"]);
    }
    return JSON.stringify(hand);
}

// What was found: a list of [whether it is right, sentence].
async function findings(hand) {
    const said = await check(hand);
    const found = [[said.fitsSeal, said.fitsSeal ? words.sealFits : words.sealDiffers(said.seal)]];
    const at = said.alike;
    const cards = said.fitsCards ? words.cardsFit(at) : words.cardDiffers(at + 1, hand.cards[at], said.cards[at]);
    found.push([said.fitsCards, cards]);
    const link = linkOf(hand.cut);
    if (hand.anchor && link !== undefined) {
        const anchor = await anchorOf(hand.seed, link);
        const fits = anchor === hand.anchor.toLowerCase();
        found.push([fits, fits ? words.anchorFits(link) : words.anchorDiffers(anchor)]);
    }
    for (const [before, isCard] of hand.tosses) {
        const fits = (await toss(hand.seed, hand.cut, before)) === isCard;
        found.push([fits, (fits ? words.tossFits : words.tossDiffers)(before + 1)]);
    }
    return found;
}

function show(verdict, isRight, found = [], hand = null) {
    const lines = found.map(([fits, sentence]) => {
        const line = document.createElement("li");
        line.className = fits ? "right" : "wrong";
        line.textContent = sentence;
        return line;
    });
    part("findings").replaceChildren(...lines);
    part("verdict").textContent = verdict;
    part("verdict").className = isRight ? "right" : "wrong";
    part("shown").textContent = hand === null ? "" : `${words.shown}${hand.seal} "${textOf(hand.cut)}"`;
    part("link").hidden = hand === null;
    if (hand !== null) {
        part("link").href = `#${fragment(hand)}`;
    }
    part("verdict").hidden = verdict === "";
}

let asked = 0;

async function answer() {
    asked += 1;
    const mine = asked;
    show("", true); // what was found before is of another hand
    try {
        const hand = read(part("hand").value);
        if (hand.seed === undefined) {
            show(words.noSeed, true, [], hand);
        } else if (!canCheck()) {
            show(words.noCrypto, false);
        } else {
            const found = await findings(hand);
            if (mine === asked) {
                const isRight = found.every(([fits]) => fits);
                show(isRight ? words.allRight : words.notRight, isRight, found, hand);
            }
        }
    } catch (error) {
        show(error.message, false);
    }
}

function open() {
    if (location.hash.length > 1) {
        part("hand").value = pasted(location.hash.slice(1));
        answer();
    }
}

document.documentElement.lang = language;
document.title = words.title;
for (const each of document.querySelectorAll("[data-word]")) {
    each.textContent = words[each.dataset.word];
}
part("asks").addEventListener("submit", (event) => {
    event.preventDefault();
    answer();
});
addEventListener("hashchange", open);
open();
