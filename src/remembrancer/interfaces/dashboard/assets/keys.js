// Keys: `/` searches, `g` and a letter go to a page, `?` tells of them. They can be switched off, for those whose
// speech or switch software types letters.
const dialog = document.getElementById("help");
const opener = document.querySelector("[data-help]");
const switched = document.querySelector("[data-keys-on]");
const WAIT_MS = 1500;

function stored() {
  try { return localStorage.getItem("keys") !== "off"; } catch { return true; }
}

function isTyping(target) {
  return target.closest?.("input, select, textarea, [contenteditable]") !== null;
}

function search() {
  const field = document.querySelector("[data-search]");
  if (field) {
    field.focus();
    field.select();
  } else {
    document.querySelector('nav a[data-key="s"]')?.click();
  }
}

if (dialog && opener) {
  let awaited = 0;
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());
  switched.checked = stored();
  switched.addEventListener("change", () => {
    try { localStorage.setItem("keys", switched.checked ? "on" : "off"); } catch { /* it holds for this page then */ }
  });
  document.addEventListener("keydown", (event) => {
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (modified || event.isComposing || dialog.open || !switched.checked || isTyping(event.target)) return;
    const isSecond = performance.now() < awaited;
    awaited = 0;
    if (isSecond) {
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
    } else if (event.key === "/") {
      event.preventDefault();
      search();
    } else if (event.key === "?") {
      event.preventDefault();
      dialog.showModal();
    } else if (event.key === "g") {
      awaited = performance.now() + WAIT_MS;
    }
  });
}
