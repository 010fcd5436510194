// Keys: d first divergence, n and p next and previous difference, j and k next and previous item of the queue, a and r
// the confirmation of an approval and the form of a return, ? the list of keys.
// A key only moves the focus or opens a page that asks once more; it never acts.
const DIFFERENCES = "tr.chg";
const ITEMS = "[data-item]";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = {
    d: toDivergence,
    n: () => step(DIFFERENCES, 1),
    p: () => step(DIFFERENCES, -1),
    j: () => step(ITEMS, 1),
    k: () => step(ITEMS, -1),
    a: () => follow("a"),
    r: () => follow("r"),
    "?": showSheet,
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function isTyping(target) {
  return target.closest("input, textarea, select, dialog") !== null;
}

function toDivergence() {
  const link = document.querySelector("[data-key='d']");
  if (!link) return;
  const place = document.querySelector(link.hash);
  if (place) focusOn(place.closest("tr") ?? place);
}

function step(places, by) {
  const found = [...document.querySelectorAll(places)];
  if (found.length === 0) return;
  const here = found.indexOf(document.activeElement.closest(places));
  const next = here === -1 ? (by === 1 ? 0 : found.length - 1) : (here + by + found.length) % found.length;
  focusOn(found[next]);
}

function follow(key) {
  document.querySelector(`a[data-key='${key}']`)?.click();
}

function focusOn(element) {
  if (!element.matches("a[href]")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "center" });
}

function showSheet() {
  document.getElementById("key-sheet")?.showModal();
}
