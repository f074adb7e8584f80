// Keeps the list of who is on up to date, while somebody looks at it.

const EVERY = 5000; // milliseconds

async function look() {
  const shown = document.getElementById("on-line");
  if (document.hidden || shown.contains(document.activeElement)) return;
  const answer = await fetch("/on-line", { redirect: "manual" }).catch(() => null);
  if (!answer || !answer.ok) return;
  const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("on-line");
  if (found && found.outerHTML !== shown.outerHTML) shown.replaceWith(found);
}

setInterval(look, EVERY);
