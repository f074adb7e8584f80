// What is on the screen as text of the page, which every finger can mark and copy: a terminal that is
// drawn on a canvas has none. Addresses in it are links.

import { words } from "./words.js";

const ADDRESS = /https?:\/\/[^\s"'<>|]+[^\s"'<>|.,;:!?)\]]/g;

const part = (id) => document.getElementById(id);
const sheet = part("sheet");
const text = part("sheet-text");

// `follow` is what an address is given to.
export class Sheet {
    constructor(follow, closed) {
        this.follow = follow;
        part("sheet-name").textContent = words.sheet;
        part("copy-all").textContent = words.copyAll;
        part("close").textContent = words.close;
        part("copy-all").addEventListener("click", () => this.copy());
        part("close").addEventListener("click", () => sheet.close());
        sheet.addEventListener("close", closed);
    }

    show(terminal) {
        const { active } = terminal.buffer;
        const rows = [];
        for (let row = 0; row < terminal.rows; row += 1) {
            const line = active.getLine(active.viewportY + row);
            const said = line?.translateToString(true) ?? "";
            // A line that the terminal has broken is one again.
            if (line?.isWrapped && rows.length > 0) {
                rows[rows.length - 1] += said;
            } else {
                rows.push(said);
            }
        }
        const said = rows.join("\n").replace(/^\n+|\s+$/g, "");
        text.replaceChildren(...this.parts(said));
        part("sheet-state").textContent = "";
        sheet.showModal();
    }

    *parts(said) {
        let end = 0;
        for (const found of said.matchAll(ADDRESS)) {
            yield said.slice(end, found.index);
            end = found.index + found[0].length;
            const link = document.createElement("a");
            link.href = link.textContent = found[0];
            link.addEventListener("click", (event) => {
                event.preventDefault();
                this.follow(link.href);
            });
            yield link;
        }
        yield said.slice(end);
    }

    async copy() {
        try {
            await navigator.clipboard.writeText(text.textContent);
        } catch {
            // A page that came without https has no clipboard, but it can copy what is marked.
            getSelection().selectAllChildren(text);
            if (!document.execCommand("copy")) {
                return;
            }
        }
        part("sheet-state").textContent = words.copied;
    }
}
