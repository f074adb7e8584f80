// Plays a hand, an asciicast made of its journal, and checks its seal. The page says the same in
// words, so that nothing is lost without this script.

import "/terminal/styles.js";
import { canCheck, check, toss } from "/terminal/fairness.js";
import { FONT, THEME, sizeOf } from "/terminal/look.js";

const { Terminal } = await import("/terminal/vendored/xterm.mjs");

const NARROW = { columns: 40, rows: 22 };
const USUAL = { columns: 80, rows: 24 };
const NARROW_PIXELS = 600;
const LONGEST_WAIT = 3; // seconds between two changes

const part = (id) => document.getElementById(id);
const screen = part("screen");

class Film {
  constructor(lines, terminal) {
    this.terminal = terminal;
    this.frames = []; // [second, letters]
    this.marks = []; // [number of a frame, words]
    for (const [second, what, said] of lines) {
      if (what === "m") this.marks.push([this.frames.length, said]);
      else if (what === "o" && said !== "") this.frames.push([second, said]);
    }
    this.at = -1; // the frame that is shown
    this.timer = null;
  }

  get isAtEnd() {
    return this.at >= this.frames.length - 1;
  }

  // Shows a frame: what came since the one that is shown, or all from the beginning.
  show(number) {
    const wanted = Math.max(0, Math.min(number, this.frames.length - 1));
    if (wanted < this.at) {
      this.terminal.reset();
      this.at = -1;
    }
    const news = this.frames.slice(this.at + 1, wanted + 1).map(([, letters]) => letters);
    this.terminal.write(news.join(""));
    this.at = wanted;
    part("where").textContent = `Step ${wanted + 1} of ${this.frames.length}`;
    part("back").disabled = part("first").disabled = wanted === 0;
    part("step").disabled = this.isAtEnd;
    const mark = this.marks.findLastIndex(([start]) => start <= wanted);
    if (mark >= 0) part("mark").selectedIndex = mark;
  }

  goOn() {
    if (this.isAtEnd) {
      this.pause();
      return;
    }
    const wait = this.frames[this.at + 1][0] - this.frames[this.at][0];
    this.timer = setTimeout(() => {
      this.show(this.at + 1);
      this.goOn();
    }, Math.min(wait, LONGEST_WAIT) * 1000);
  }

  play() {
    if (this.isAtEnd) this.show(0);
    part("play").textContent = "Pause";
    this.goOn();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    part("play").textContent = "Play";
  }

  toggle() {
    if (this.timer === null) this.play();
    else this.pause();
  }

  turnTo(number) {
    this.pause();
    this.show(number);
  }
}

function fit(terminal, columns) {
  const pixels = window.devicePixelRatio || 1;
  const cell = Math.max(2, Math.floor((screen.clientWidth / columns) * pixels));
  terminal.options.fontSize = sizeOf(cell / pixels);
}

async function draw(terminal) {
  try {
    const { WebglAddon } = await import("/terminal/vendored/addon-webgl.mjs");
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    terminal.loadAddon(addon);
  } catch {
    // Without WebGL the terminal draws with elements of the page.
  }
}

async function begin() {
  const { columns, rows } = screen.clientWidth < NARROW_PIXELS ? NARROW : USUAL;
  const address = new URL(part("film").dataset.cast, location.href);
  address.searchParams.set("size", `${columns}x${rows}`);
  const [answer] = await Promise.all([fetch(address), document.fonts.load(`16px "${FONT}"`)]);
  const text = await answer.text();
  if (!answer.ok || answer.redirected) {
    part("trouble").textContent = answer.redirected ? "You have been logged off." : text;
    return;
  }
  const [, ...lines] = text.trimEnd().split("\n").map((each) => JSON.parse(each));
  const terminal = new Terminal({
    cols: columns,
    rows,
    disableStdin: true,
    fontFamily: `"${FONT}", monospace`,
    scrollback: 0,
    theme: { ...THEME, cursor: "#000000" },
  });
  fit(terminal, columns);
  terminal.open(screen);
  await draw(terminal);
  screen.terminal = terminal; // for programs that read the screen, as our tests do
  new ResizeObserver(() => fit(terminal, columns)).observe(screen);
  const film = new Film(lines, terminal);
  for (const [, words] of film.marks) part("mark").append(new Option(words));
  document.querySelector(".mark").hidden = film.marks.length < 2;
  document.querySelector(".buttons").hidden = false;
  part("first").addEventListener("click", () => film.turnTo(0));
  part("back").addEventListener("click", () => film.turnTo(film.at - 1));
  part("play").addEventListener("click", () => film.toggle());
  part("step").addEventListener("click", () => film.turnTo(film.at + 1));
  part("mark").addEventListener("change", () => film.turnTo(film.marks[part("mark").selectedIndex][0]));
  film.show(0);
}

async function checkSeal() {
  const hand = JSON.parse(part("check").dataset.proof);
  if (!hand.seed) return;
  const verdict = (words, isRight) => {
    part("verdict").textContent = words;
    part("verdict").className = isRight ? "right" : "wrong";
  };
  if (!canCheck()) {
    verdict("This browser checks nothing on a page that came without https.", false);
    return;
  }
  const found = await check(hand);
  const tosses = await Promise.all(hand.tosses.map(([at]) => toss(hand.seed, hand.cut, at)));
  part("dealt").textContent = found.cards.join(" ");
  if (!found.fitsSeal) {
    verdict(`The seed does not fit the seal: its SHA-256 is ${found.seal}.`, false);
  } else if (!found.fitsCards) {
    verdict(`The seed fits the seal, but card ${found.alike + 1} of the hand is not the one that it gives.`, false);
  } else if (tosses.some((isForCard, at) => isForCard !== hand.tosses[at][1])) {
    verdict("The seed fits the seal and gives these cards, but a toss went the other way.", false);
  } else {
    verdict(`Your browser has checked it: the seed fits the seal, and gives the ${found.cards.length} cards of this hand.`, true);
  }
}

await Promise.all([begin(), checkSeal()]);
