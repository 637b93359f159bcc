// Sections that are folded: a link to one opens it, and paper has them all.

const folds = () => [...document.querySelectorAll("details.fold")];

function unfold(id) {
  const fold = id && document.getElementById(id)?.querySelector(":scope > details.fold");
  if (fold) fold.open = true;
}

document.querySelector("nav[aria-label=Sections]")?.addEventListener("click", ({ target }) => unfold(target.hash?.slice(1)));
window.addEventListener("hashchange", () => unfold(location.hash.slice(1)));
unfold(location.hash.slice(1));

let folded = null;
window.addEventListener("beforeprint", () => {
  folded ??= folds().filter((fold) => !fold.open);
  for (const fold of folded) fold.open = true;
});
window.addEventListener("afterprint", () => {
  for (const fold of folded ?? []) fold.open = false;
  folded = null;
});
