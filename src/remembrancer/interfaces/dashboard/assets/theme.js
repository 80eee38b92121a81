// Loaded before anything is painted: the theme that was chosen here, else the system's.
(() => {
  const root = document.documentElement;
  const kept = () => {
    try { return localStorage.getItem("theme"); } catch { return null; } // storage may be closed to us
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  apply(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const name = button.querySelector("[data-theme-name]");
    const tell = () => { name.textContent = `Theme: ${root.dataset.theme ?? "system"}`; };
    button.hidden = false;
    tell();
    button.addEventListener("click", () => {
      const next = { undefined: "dark", dark: "light", light: null }[root.dataset.theme];
      apply(next);
      try {
        if (next) localStorage.setItem("theme", next);
        else localStorage.removeItem("theme");
      } catch { /* it holds for this page then */ }
      tell();
    });
  });
})();
