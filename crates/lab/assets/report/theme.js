// Light and dark: the system decides until the reader does.

const KEY = "ramp-report-theme";
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const toggle = document.getElementById("theme");

function remembered() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function setTheme(theme) {
  root.dataset.theme = theme;
  toggle.setAttribute("aria-pressed", String(theme === "dark"));
  tell("theme", theme);
}

setTheme(remembered() || (systemDark.matches ? "dark" : "light"));

toggle.addEventListener("click", () => {
  const theme = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem(KEY, theme); } catch { /* a file:// page may have no storage */ }
  setTheme(theme);
});
systemDark.addEventListener("change", () => { if (!remembered()) setTheme(systemDark.matches ? "dark" : "light"); });

/* Paper is white. Some browsers announce a print twice. */
let screenTheme = null;
window.addEventListener("beforeprint", () => { screenTheme ??= root.dataset.theme; setTheme("light"); });
window.addEventListener("afterprint", () => { if (screenTheme) setTheme(screenTheme); screenTheme = null; });
