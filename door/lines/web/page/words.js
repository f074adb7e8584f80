// What the page itself says: in a language of the browser, and once the board knows its caller, in
// theirs. The board says all else. A language says in English what it lacks here.

const WORDS = {
    en: {
        prompt: "Terminal. For a screen reader: Shift and Tab, then Enter.",
        reader: "Screen reader",
        calling: "Calling…",
        lost: "The line was lost. Calling again…",
        over: "The board has hung up.",
        turnedAway: "The board takes no call from here just now.",
        again: "Call again",
        narrow: "80 columns",
        wide: "132 columns",
        keys: "What you can press now",
        pad: "Keys",
        send: "Send",
        text: "Your answer",
        name: "Your name",
        secret: "Your password",
        enter: "Enter",
        back: "Back",
        help: "Help",
        copy: "Copy",
        sheet: "What is on the screen",
        copyAll: "Copy all",
        copied: "Copied.",
        close: "Close",
        open: "Open this page?",
        noSocket: "This browser has no WebSocket, which the page needs.",
    },
    fr: {
        prompt: "Terminal. Pour un lecteur d’écran : Maj et Tab, puis Entrée.",
        reader: "Lecteur d’écran",
        calling: "Appel en cours…",
        lost: "La ligne est coupée. Nouvel appel…",
        over: "Le serveur a raccroché.",
        turnedAway: "Le serveur ne prend pas d’appel d’ici pour le moment.",
        again: "Rappeler",
        narrow: "80 colonnes",
        wide: "132 colonnes",
        keys: "Ce que vous pouvez presser",
        pad: "Touches",
        send: "Envoyer",
        text: "Votre réponse",
        name: "Votre nom",
        secret: "Votre mot de passe",
        enter: "Entrée",
        back: "Retour",
        help: "Aide",
        copy: "Copier",
        sheet: "Ce qui est à l’écran",
        copyAll: "Tout copier",
        copied: "Copié.",
        close: "Fermer",
        open: "Ouvrir cette page ?",
        noSocket: "Ce navigateur n’a pas de WebSocket, dont la page a besoin.",
    },
};

const known = (tag) => Object.hasOwn(WORDS, String(tag).slice(0, 2).toLowerCase());

// What the board is told: the browser's first language that the page has, else its first.
export const language = navigator.languages?.find(known) ?? navigator.language ?? "en";
export let spoken = "en";
export let words = WORDS.en;

// Speaks a language from now on, English where it lacks that; tells whether it is another one than
// before.
export function speak(wanted) {
    const before = spoken;
    spoken = known(wanted) ? String(wanted).slice(0, 2).toLowerCase() : "en";
    words = { ...WORDS.en, ...WORDS[spoken] };
    return spoken !== before;
}

speak(document.documentElement.lang); // the board has chosen it by the browser's list
