// Keys: d first divergence, n and p next and previous difference, j and k next and previous item of the queue, a and r
// the confirmation of an approval and the form of a return, f the next finding, v what the focus is on was seen, ? the
// list of keys.
// A key only moves the focus, notes that something was looked at or opens a page that asks once more; it never decides.
const DIFFERENCES = "tr.chg, tr.opn";
const FINDINGS = "[data-finding]";
const ITEMS = "[data-item]";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = {
    d: toDivergence,
    n: () => step(DIFFERENCES, 1),
    p: () => step(DIFFERENCES, -1),
    j: () => follow("j") || step(ITEMS, 1),
    k: () => follow("k") || step(ITEMS, -1),
    f: () => step(FINDINGS, 1),
    v: markSeen,
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
  const here = found.indexOf(current(places));
  const next = here === -1 ? (by === 1 ? 0 : found.length - 1) : (here + by + found.length) % found.length;
  focusOn(found[next]);
}

// What has the focus, else what the address names.
function current(places) {
  return document.activeElement.closest(places) ?? document.querySelector(":target")?.closest(places) ?? null;
}

function follow(key) {
  const link = document.querySelector(`a[data-key='${key}']`);
  link?.click();
  return link !== null;
}

function markSeen() {
  const button = current(DIFFERENCES)?.querySelector("button[data-key='v']");
  if (button) button.form.requestSubmit(button);
}

function focusOn(element) {
  if (!element.matches("a[href]")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "center" });
}

function showSheet() {
  document.getElementById("key-sheet")?.showModal();
}
