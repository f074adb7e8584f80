// What the page itself says. The board says all else, in the language of its caller.

const WORDS = {
    en: {
        prompt: "Terminal. For a screen reader: Shift and Tab, then Enter.",
        reader: "Screen reader mode",
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
        open: "Open this page?",
        noSocket: "This browser has no WebSocket, which the page needs.",
    },
    fr: {
        prompt: "Terminal. Pour un lecteur d’écran : Maj et Tab, puis Entrée.",
        reader: "Mode lecteur d’écran",
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
        open: "Ouvrir cette page ?",
        noSocket: "Ce navigateur n’a pas de WebSocket, dont la page a besoin.",
    },
};

export const language = navigator.language || "en";
export const spoken = language.slice(0, 2).toLowerCase() in WORDS ? language.slice(0, 2).toLowerCase() : "en";
export const words = WORDS[spoken];
