// The terminal, the keys that can be pressed now, and how large everything is.

import "./styles.js";
import { InputMethod } from "./ime.js";
import { BoardLine } from "./line.js";
import { Sheet } from "./sheet.js";
import { FONT, TALL, THEME, sizeOf } from "./look.js";
import { language, speak, spoken, words } from "./words.js";

const PHONE = { columns: 40, rows: 22 };
const USUAL = { columns: 80, rows: 24 };
const WIDE = { columns: 132, rows: 24 };
const MOST_ROWS = 60;
const PHONE_PIXELS = 600;
const WIDE_PIXELS = 1500;
const LYING_PIXELS = 500;
const BELL_MILLISECONDS = 150;
const PAINT_MILLISECONDS = 300;
const KEY_PIXELS = [44, 36]; // the usual and the least height of a key
const GAP_PIXELS = 6;
const LETTER_PIXELS = [16, 14, 12.5, 11, 10, 9];
const MOST_PASTED = 4096;
const READ_ON = 1000; // lines that a screen reader can go back

// The page is painted before the terminal is fetched, which is large. A hidden page is never painted.
await new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, PAINT_MILLISECONDS);
});
const { Terminal } = await import("./vendored/xterm.mjs");
const { WebLinksAddon } = await import("./vendored/addon-web-links.mjs");

const part = (id) => document.getElementById(id);
const screen = part("screen");
const pad = part("pad");
const keys = part("keys");
const field = part("text");
const isTouched = matchMedia("(pointer: coarse)");

const wishes = {
    get: (name) => {
        try {
            return localStorage.getItem(name);
        } catch {
            return null;
        }
    },
    set: (name, value) => {
        try {
            localStorage.setItem(name, value);
        } catch {
            // A browser that keeps nothing asks again.
        }
    },
};

let hasKeys = wishes.get("keys") !== "no"; // on a touched screen
let readsAloud = wishes.get("reader") === "yes";
let isNarrow = wishes.get("narrow") === "yes";
let offered = { ask: "any", keys: [], default: "" };

Terminal.strings.promptLabel = words.prompt;

const terminal = new Terminal({
    allowProposedApi: true,
    cols: USUAL.columns,
    rows: USUAL.rows,
    cursorBlink: true,
    fontFamily: `"${FONT}", monospace`,
    fontSize: 16,
    linkHandler: { activate: (_event, address) => follow(address), allowNonHttpProtocols: false },
    scrollback: readsAloud ? READ_ON : 0,
    screenReaderMode: readsAloud,
    theme: THEME,
    windowsPty: { backend: "winpty", buildNumber: 1 }, // xterm.js 6.0.0 loses rows when it reflows
});

const line = new BoardLine(
    {
        bytes: (data) => terminal.write(data),
        message: (message) => {
            if (message.t === "open") {
                if (speak(message.language)) {
                    name();
                }
                offer(message);
            }
        },
        state: show,
    },
    () => ({ columns: terminal.cols, rows: terminal.rows, language, reader: readsAloud }),
);

const sheet = new Sheet(follow, () => terminal.focus());

// Opens an address that stood on the screen, if it is one of the web and they agree.
function follow(address) {
    if (/^https?:\/\//i.test(address) && confirm(`${words.open}\n${address}`)) {
        window.open(address, "_blank", "noopener,noreferrer");
    }
}

// How large everything is

// The largest letters, of whole pixels, with which `columns` and at least as many rows fit.
function fit(width, height, columns, least, most) {
    const pixels = window.devicePixelRatio || 1;
    for (let cell = Math.floor((width / columns) * pixels); ; cell -= 1) {
        const size = sizeOf(Math.max(cell, 2) / pixels);
        const rows = Math.floor(height / (Math.ceil(size * TALL * pixels + 0.5) / pixels));
        if (rows >= least || cell <= 2) {
            return { columns, rows: Math.min(Math.max(rows, least), most), size };
        }
    }
}

function sizeFor(width, height) {
    if (document.body.classList.contains("upright")) {
        return fit(width, height, PHONE.columns, PHONE.rows, MOST_ROWS);
    }
    part("width").hidden = width < WIDE_PIXELS;
    if (width >= WIDE_PIXELS && !isNarrow) {
        return fit(width, height, WIDE.columns, WIDE.rows, MOST_ROWS);
    }
    return fit(width, height, USUAL.columns, USUAL.rows, USUAL.rows);
}

function isPhone() {
    const width = document.documentElement.clientWidth;
    return isTouched.matches && width < PHONE_PIXELS && width < window.screen.height;
}

// A phone on its side: the keys are beside the screen.
function lies() {
    const height = document.documentElement.clientHeight;
    return isTouched.matches && height < LYING_PIXELS && !isPhone();
}

function layOut() {
    // While text is typed on a phone, its keyboard covers a part of the screen: that stays as it is.
    if (document.activeElement === field) {
        return;
    }
    document.body.classList.toggle("upright", isPhone());
    document.body.classList.toggle("lying", lies());
    arrange();
    const { columns, rows, size } = sizeFor(screen.clientWidth, screen.clientHeight);
    terminal.options.fontSize = size;
    terminal.resize(columns, rows);
}

// On a phone as many columns as the keys need, and the largest letters that clip no key.
function arrange() {
    const buttons = [...keys.children];
    const isPhones = document.body.matches(".upright, .lying");
    const columnsOf = (pixels) => {
        const rows = Math.floor((keys.clientHeight + GAP_PIXELS) / (pixels + GAP_PIXELS));
        const least = isPhone() && buttons.length !== 4 ? 3 : 2;
        return Math.max(least, Math.ceil(buttons.length / Math.max(rows, 1)));
    };
    const most = isPhone() ? 4 : 3;
    const columns = KEY_PIXELS.map(columnsOf).find((each) => each <= most) ?? most;
    keys.style.gridTemplateColumns = isPhones ? `repeat(${columns}, minmax(0, 1fr))` : "";
    for (const size of LETTER_PIXELS) {
        keys.style.fontSize = `${size}px`;
        if (!buttons.some((each) => isClipped(each))) {
            return;
        }
    }
}

function isClipped({ scrollWidth, clientWidth, scrollHeight, clientHeight }) {
    return scrollWidth > clientWidth || scrollHeight > clientHeight;
}

// The state of the call

function show(state, said) {
    const isOver = state === "over" || state === "turned away";
    const told = {
        calling: words.calling,
        on: "",
        lost: words.lost,
        over: words.over,
        "turned away": said || words.turnedAway,
    };
    part("state").textContent = told[state];
    part("again").hidden = !isOver;
    if (state === "on") {
        terminal.reset();
        terminal.focus();
    } else {
        offer({ ask: "none", keys: [], default: "" });
    }
    if (isOver) {
        part("again").focus();
    }
}

// The keys that can be pressed now

function offer(message) {
    const isAnother = message.ask !== offered.ask;
    offered = message;
    part("send").disabled = false;
    const asksText = ["text", "number", "secret"].includes(message.ask);
    keys.hidden = !isTouched.matches || !hasKeys;
    const hasUse = message.ask !== "none" || isPhone() || lies();
    pad.hidden = !(message.fills || (!keys.hidden && hasUse));
    part("asked").hidden = !asksText;
    keys.className = "";
    keys.replaceChildren(...message.keys.map(([key, label, typed]) => keyButton(key, label, typed)));
    if (message.ask === "any") {
        keys.append(otherButton(words.enter, "\r", "enter"));
    }
    if (asksText) {
        keys.append(keyButton("Esc", words.back, "\x1b"));
        const isSecret = message.ask === "secret";
        field.type = isSecret ? "password" : "text";
        field.name = isSecret ? "password" : "text";
        field.autocomplete = message.fills || "off";
        field.inputMode = message.ask === "number" ? "numeric" : "text";
        const asked = message.fills === "username" ? words.name : words.text;
        field.setAttribute("aria-label", isSecret ? words.secret : asked);
        if (isAnother) {
            field.value = "";
        }
    } else if (document.activeElement === field) {
        field.blur();
    }
    if (!["none", "any", "answers"].includes(message.ask)) {
        keys.append(otherButton(`? ${words.help}`, "?"));
    }
    layOut();
}

function keyButton(key, label, typed = key) {
    const button = otherButton("", typed, key === offered.default ? "enter" : "");
    const letter = document.createElement("b");
    letter.textContent = key;
    button.append(letter, label ? ` ${label}` : "");
    return button;
}

function otherButton(label, text, kind = "") {
    const button = document.createElement("button");
    button.type = "button";
    button.className = kind;
    button.textContent = label;
    button.addEventListener("click", () => {
        keys.className = "typed";
        press(text);
    });
    return button;
}

// A key belongs to the question that it was offered for: the board takes it for no other one. So
// none can be pressed until it offers others.
function press(text) {
    field.value = "";
    for (const button of pad.querySelectorAll("button")) {
        button.disabled = true;
    }
    line.say({ t: "press", offer: offered.offer, keys: text });
}

field.addEventListener("blur", layOut);
pad.addEventListener("submit", (event) => {
    event.preventDefault();
    if (offered.fills === "username") {
        part("who").value = field.value; // so that a password manager keeps name and password
    }
    press(`${field.value}\r`);
    if (!isTouched.matches) {
        terminal.focus();
    }
});

// Beginning

function name() {
    document.documentElement.lang = spoken;
    part("reader").textContent = words.reader;
    part("reader").setAttribute("aria-pressed", String(readsAloud));
    part("hide").textContent = words.pad;
    part("hide").setAttribute("aria-pressed", String(hasKeys));
    part("hide").hidden = !isTouched.matches;
    part("again").textContent = words.again;
    part("copy").textContent = words.copy;
    part("width").textContent = isNarrow ? words.wide : words.narrow;
    part("send").textContent = words.send;
    keys.setAttribute("aria-label", words.keys);
}

async function draw() {
    try {
        const { WebglAddon } = await import("./vendored/addon-webgl.mjs");
        const addon = new WebglAddon();
        addon.onContextLoss(() => addon.dispose());
        terminal.loadAddon(addon);
    } catch {
        // Without WebGL the terminal draws with elements of the page.
    }
}

// The soft keyboard would hide half of a phone's screen: while there are keys, it is the field's alone.
function quietKeyboard() {
    const hidden = screen.querySelector("textarea");
    if (isTouched.matches && hasKeys) {
        hidden.setAttribute("inputmode", "none");
    } else {
        hidden.removeAttribute("inputmode");
    }
}

part("reader").addEventListener("click", () => {
    readsAloud = !readsAloud;
    wishes.set("reader", readsAloud ? "yes" : "no");
    terminal.options.screenReaderMode = readsAloud;
    terminal.options.scrollback = readsAloud ? READ_ON : 0;
    name();
    line.call();
});
part("hide").addEventListener("click", () => {
    hasKeys = !hasKeys;
    wishes.set("keys", hasKeys ? "yes" : "no");
    name();
    quietKeyboard();
    offer(offered);
    terminal.focus();
});
part("width").addEventListener("click", () => {
    isNarrow = !isNarrow;
    wishes.set("narrow", isNarrow ? "yes" : "no");
    name();
    layOut();
    terminal.focus();
});
part("again").addEventListener("click", () => line.call());
part("copy").addEventListener("click", () => sheet.show(terminal));

terminal.onData((text) => line.type(text));
// A paste is marked as one (bracketed paste), so that the board takes it as text and never as keys.
screen.addEventListener("paste", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const text = event.clipboardData.getData("text/plain").slice(0, MOST_PASTED);
    line.type(`\x1b[200~${text.replaceAll("\x1b", " ")}\x1b[201~`);
}, true);
terminal.onResize(({ cols, rows }) => line.say({ t: "size", columns: cols, rows }));
terminal.onBell(() => {
    screen.className = "bell";
    setTimeout(() => {
        screen.className = "";
    }, BELL_MILLISECONDS);
});
const inputMethod = new InputMethod(screen, (text) => terminal.input(text));
// Ctrl+C copies what is marked; with nothing marked it is a key. Ctrl+V pastes. Tab leaves the terminal.
terminal.attachCustomKeyEventHandler((event) => {
    const letter = event.ctrlKey ? event.key.toLowerCase() : "";
    const isBrowsers = letter === "v" || (letter === "c" && terminal.hasSelection());
    return inputMethod.passes(event) && !isBrowsers && event.key !== "Tab";
});

name();
await Promise.race([
    document.fonts.load(`16px "${FONT}"`),
    new Promise((done) => setTimeout(done, 3000)),
]);
terminal.loadAddon(new WebLinksAddon((_event, address) => follow(address)));
terminal.open(screen);
screen.terminal = terminal; // for programs that read the screen, as our tests do
await draw();
quietKeyboard();
layOut();
new ResizeObserver(layOut).observe(screen);
isTouched.addEventListener("change", () => {
    name();
    quietKeyboard();
    offer(offered);
});
if ("WebSocket" in window) {
    line.call();
} else {
    part("state").textContent = words.noSocket;
}
