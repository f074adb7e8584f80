// Checks the seal of a hand. The page says the hand in words, so that nothing is lost without this
// script.

import { canCheck, check, toss } from "/fairness.js";

const part = (id) => document.getElementById(id);

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

await checkSeal();
