// Neighbouring paths: the chips that hide an algorithm in the charts hide its dots, too.

on("visible", () => {
  for (const node of document.querySelectorAll("#carries [data-arm]")) {
    node.toggleAttribute("hidden", !visible.has(Number(node.dataset.arm)));
  }
});
