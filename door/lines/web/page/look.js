// How every terminal of ours looks, on the callers' page and where a hand is played again.

export const FONT = "Board Terminal";
const CELL = 0.5; // width of a letter, by the size of the font
const HAIR = 0.05; // pixels; without them browsers measure 11.99 in place of 12, which is cut to 11
export const TALL = 1.032; // its height

// The colours of VGA.
export const THEME = {
    background: "#000000",
    foreground: "#aaaaaa",
    cursor: "#ffffff",
    black: "#000000",
    red: "#aa0000",
    green: "#00aa00",
    yellow: "#aa5500",
    blue: "#0000aa",
    magenta: "#aa00aa",
    cyan: "#00aaaa",
    white: "#aaaaaa",
    brightBlack: "#555555",
    brightRed: "#ff5555",
    brightGreen: "#55ff55",
    brightYellow: "#ffff55",
    brightBlue: "#5555ff",
    brightMagenta: "#ff55ff",
    brightCyan: "#55ffff",
    brightWhite: "#ffffff",
};

// The size of the font whose letters are so many pixels wide.
export function sizeOf(width) {
    return width / CELL + HAIR;
}
