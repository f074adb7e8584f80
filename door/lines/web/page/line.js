// The WebSocket to the board. Terminal bytes are binary messages; all else is JSON, as
// door/lines/web/web.py says.

const SUBPROTOCOL = "bjft.1";
const MOST_BYTES = 4096; // in one message
const BEAT_SECONDS = 15; // between two looks whether the line lives
const ANSWER_SECONDS = 8; // that an answer may take
const WAITS = [0.5, 1, 2, 4, 8, 15]; // seconds before another try
const HUNG_UP = 1000; // how the board ends a call; Firefox ends that of a page that is left with 1001
const TRY_AGAIN = 1013; // how it takes none
const TICKET = `ticket ${new URL(".", location.href).pathname}`; // an origin may have several boards

export class BoardLine {
    // `told` hears of bytes(data), message(object), and state("calling", "on", "lost", "over" or
    // "turned away", with the board's words where it said any); `hello()` says who calls.
    constructor(told, hello) {
        this.told = told;
        this.hello = hello;
        this.tries = 0;
        this.socket = null;
        window.addEventListener("online", () => this.look());
        document.addEventListener("visibilitychange", () => {
            if (!document.hidden) {
                this.look();
            }
        });
    }

    // The ticket lets the caller back in after a lost line or a reload. This tab alone keeps it, for
    // the board at this path of this origin.
    get ticket() {
        try {
            return sessionStorage.getItem(TICKET);
        } catch {
            return this.kept; // a browser that stores nothing
        }
    }

    set ticket(text) {
        this.kept = text;
        try {
            sessionStorage.setItem(TICKET, text);
            if (text === null) {
                sessionStorage.removeItem(TICKET);
            }
        } catch {
            // The page has it still, until it is closed.
        }
    }

    call() {
        this.drop();
        const place = new URL("call", location.href);
        place.protocol = place.protocol.replace("http", "ws");
        place.search = place.hash = "";
        const socket = new WebSocket(place, SUBPROTOCOL);
        this.socket = socket;
        socket.binaryType = "arraybuffer";
        socket.onopen = () => this.begin(socket);
        socket.onmessage = (event) => this.hear(socket, event.data);
        socket.onclose = (event) => this.end(socket, event);
        this.told.state("calling");
    }

    begin(socket) {
        this.shown = this.ticket; // until the board is heard: then it has the ticket
        this.ticket = null; // it works once
        socket.send(JSON.stringify({ t: "hello", ticket: this.shown, ...this.hello() }));
        this.told.state("on");
        this.beats = setInterval(() => this.beat(), BEAT_SECONDS * 1000);
    }

    hear(socket, data) {
        if (socket !== this.socket) {
            return;
        }
        clearTimeout(this.silence);
        this.silence = this.shown = null;
        if (typeof data !== "string") {
            this.tries = 0;
            this.told.bytes(new Uint8Array(data));
            return;
        }
        const message = JSON.parse(data);
        if (message.t === "ticket") {
            this.ticket = message.ticket;
        } else if (message.t !== "beat") {
            this.told.message(message);
        }
    }

    end(socket, event) {
        if (socket !== this.socket) {
            return;
        }
        this.drop();
        if (event.code === HUNG_UP) {
            this.ticket = null;
            this.told.state("over");
            return;
        }
        this.ticket ??= this.shown;
        if (event.code === TRY_AGAIN) {
            this.told.state("turned away", event.reason);
        } else {
            this.told.state("lost");
            const wait = WAITS[Math.min(this.tries, WAITS.length - 1)];
            this.tries += 1;
            this.retry = setTimeout(() => this.call(), wait * 1000 * (0.75 + Math.random() / 2));
        }
    }

    drop() {
        clearInterval(this.beats);
        clearTimeout(this.silence);
        clearTimeout(this.retry);
        this.silence = this.retry = null;
        const socket = this.socket;
        this.socket = null;
        if (socket !== null) {
            socket.close();
        }
    }

    // The network is back, or the page is looked at again.
    look() {
        if (this.retry) {
            this.call();
        } else {
            this.beat();
        }
    }

    beat() {
        const socket = this.socket;
        if (socket === null || socket.readyState !== WebSocket.OPEN || this.silence) {
            return;
        }
        socket.send('{"t":"beat"}');
        this.silence = setTimeout(() => this.end(socket, { code: 1006 }), ANSWER_SECONDS * 1000);
    }

    get isOpen() {
        return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
    }

    say(message) {
        if (this.isOpen) {
            this.socket.send(JSON.stringify(message));
        }
    }

    type(text) {
        const bytes = new TextEncoder().encode(text);
        for (let at = 0; at < bytes.length && this.isOpen; at += MOST_BYTES) {
            this.socket.send(bytes.subarray(at, at + MOST_BYTES));
        }
    }
}
