// Keys that an input method (IME) has in hand: their event names no key, and an input event says
// what was typed. xterm.js 6.0.0 looks for that later, and compares its field with what stood there
// before each key, so two fast keys arrive as three letters. Here the input events count, and the
// terminal does not see those keys. Compositions are the terminal's, as before.

const IN_HAND = 229; // the code of such a key
const RUBBED_OUT = "\x7f";

export class InputMethod {
    // `screen` holds the terminal's field; `type` takes what was typed.
    constructor(screen, type) {
        this.type = type;
        this.isInHand = false;
        this.isEnding = false; // what was composed is read by the terminal in a moment
        screen.addEventListener("input", (event) => this.hear(event), true);
        screen.addEventListener("compositionend", () => {
            this.isEnding = true;
            setTimeout(() => {
                this.isEnding = false;
            });
        });
    }

    // Whether the event of a key is for the terminal.
    passes(event) {
        if (event.type === "keydown") {
            this.isInHand = event.keyCode === IN_HAND;
        }
        return event.type !== "keydown" || !this.isInHand;
    }

    hear(event) {
        if (!this.isInHand || this.isEnding || event.isComposing) {
            return;
        }
        if (event.inputType === "insertText" && event.data) {
            event.stopPropagation();
            this.type(event.data);
        } else if (event.inputType === "deleteContentBackward") {
            event.stopPropagation();
            this.type(RUBBED_OUT);
        }
    }
}
