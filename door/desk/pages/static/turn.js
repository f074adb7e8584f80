// Turns to what is before and after a page with the arrow keys, unless a field, button or wide table has them.

const LINKS = { ArrowLeft: "prev", ArrowRight: "next" };
const HAS_ARROWS = "input, select, textarea, button, [tabindex], [contenteditable]";

addEventListener("keydown", (event) => {
  const taken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (taken || event.target.closest?.(HAS_ARROWS)) return;
  document.querySelector(`a[rel="${LINKS[event.key]}"]`)?.click();
});
