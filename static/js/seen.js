// A place that is marked as seen is noted without leaving it. Without scripts the same button sends the same form and the
// page is led back to its row.
const form = document.getElementById("seen-form");

form?.addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (!button?.matches(".mark")) return;
  event.preventDefault();
  const body = new FormData(form, button);
  button.disabled = true;
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer?.ok) {
    button.disabled = false;
    location.reload();
    return;
  }
  show(button, await answer.json());
});

function show(button, told) {
  const row = button.closest("tr, li");
  const tag = row.querySelector(".todo");
  if (tag) {
    tag.className = "viewed";
    tag.textContent = "seen";
  }
  if (row.matches("tr")) {
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
  }
  button.remove();
  document.getElementById("seen-count").textContent = `${told.seen} of ${told.of} seen`;
  const unseen = document.getElementById("unseen");
  if (unseen) unseen.textContent = told.why;
  if (!told.why) location.reload();
}
