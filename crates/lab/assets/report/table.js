// Sorting by a column's heading. Rows without a value stay at the end; the yardstick has a body of its own.

for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  for (const [column, heading] of headings.entries()) {
    heading.querySelector("button")?.addEventListener("click", () => sortBy(table, headings, column));
  }
}

function sortBy(table, headings, column) {
  const heading = headings[column];
  const descending = heading.getAttribute("aria-sort") === "ascending";
  headings.forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, key: row.cells[column].dataset.value ?? "" }));
  const numeric = rows.every(({ key }) => key === "" || Number.isFinite(Number(key)));
  rows.sort((a, b) => {
    if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
    const order = numeric ? Number(a.key) - Number(b.key) : a.key.localeCompare(b.key);
    return descending ? -order : order;
  });
  body.append(...rows.map(({ row }) => row));
}
