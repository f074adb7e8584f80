// What the page itself says: in the language of the browser, and once the board knows its caller, in
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
        send: "Send",
        text: "Your answer",
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
        send: "Envoyer",
        text: "Votre réponse",
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

export const language = navigator.language || "en";
export let spoken = "en";
export let words = WORDS.en;

// Speaks a language from now on, English where it lacks that; tells whether it is another one than
// before.
export function speak(wanted) {
    const before = spoken;
    const known = String(wanted).slice(0, 2).toLowerCase();
    spoken = Object.hasOwn(WORDS, known) ? known : "en";
    words = { ...WORDS.en, ...WORDS[spoken] };
    return spoken !== before;
}

speak(language);
