// Copy buttons: <button class="copy" data-copy="value">. They are hidden until this script runs.
document.documentElement.classList.add("scripted");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  announce(`Copied ${button.dataset.copy}`);
});

function announce(text) {
  let region = document.getElementById("copied");
  if (!region) {
    region = document.createElement("p");
    region.id = "copied";
    region.className = "vh";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
