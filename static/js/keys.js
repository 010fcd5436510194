// Keys of the comparison page: d first divergence, n and p next and previous difference, ? the list of keys.
// A key only moves the focus; it never acts.
const DIFFERENCES = "tr.chg";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = { d: toDivergence, n: () => step(1), p: () => step(-1), "?": showSheet }[event.key];
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

function step(by) {
  const rows = [...document.querySelectorAll(DIFFERENCES)];
  if (rows.length === 0) return;
  const here = rows.indexOf(document.activeElement.closest("tr"));
  const next = here === -1 ? (by === 1 ? 0 : rows.length - 1) : (here + by + rows.length) % rows.length;
  focusOn(rows[next]);
}

function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "center" });
}

function showSheet() {
  document.getElementById("key-sheet")?.showModal();
}
