// Which nodes are found, and which are shown.

const results = byId("results");
const MOST_FOUND = 50;

function search() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = !words.length ? [] : nodes.filter(
    (node) => node.isShown && words.every((word) => node.words.includes(word)));
  const isNamed = (node) => words.every((word) => node.path.toLowerCase().includes(word));
  const isFound = new Set(found);
  found.sort((one, other) => isNamed(other) - isNamed(one));
  for (const node of nodes) node.shape.classList.toggle("found", isFound.has(node));
  results.replaceChildren();
  results.hidden = !words.length;
  for (const node of found.slice(0, MOST_FOUND)) {
    make(make(results, "li"), "button", node.path).addEventListener("click", () => {
      results.hidden = true;
      choose(node);
      node.shape.focus({ preventScroll: true });
    });
  }
  const more = found.length - MOST_FOUND;
  if (more > 0) make(results, "li", `and ${more} more`);
  if (!found.length) make(results, "li", "nothing found");
  if (words.length) say(`${found.length} found`);
}

function clearSearch() {
  byId("search").value = "";
  search();
}

function filter() {
  const [subsystem, kind, status] = ["subsystem", "kind", "status"].map((id) => byId(id).value);
  for (const node of nodes) {
    const [wanted, variant] = kind ? JSON.parse(kind) : [null, null];
    node.isShown = (!subsystem || node.subsystem === JSON.parse(subsystem))
      && (!wanted || node.kind === wanted) && (!variant || node.variant === variant)
      && (!status || node.status === status);
    node.shape.classList.toggle("out", !node.isShown);
  }
  for (const { shape, source, target } of edges) {
    shape.classList.toggle("out", !(source.isShown && target.isShown));
  }
  if (!focused || !focused.isShown) focusOn(nodes.find((node) => node.isShown), false);
  search();
  say(`${nodes.filter((node) => node.isShown).length} of ${nodes.length} nodes are shown`);
}

function fillFilters() {
  const unique = (values) => [...new Set(values)];
  const subsystems = unique(nodes.map((node) => node.subsystem));
  makeOptions(byId("subsystem"), [["", "all subsystems"],
    ...subsystems.map((name) => [JSON.stringify(name), name || "whole State"])]);
  const kinds = unique(nodes.flatMap(({ kind, variant }) => [
    JSON.stringify([kind, null]), ...(variant && variant !== kind ? [JSON.stringify([kind, variant])] : []),
  ])).sort();
  makeOptions(byId("kind"), [["", "all kinds"],
    ...kinds.map((kind) => [kind, JSON.parse(kind).filter(Boolean).join(": ")])]);
  const statuses = unique(nodes.map((node) => node.status)).filter(Boolean);
  makeOptions(byId("status"), [["", "all statuses"], ...statuses.map((name) => [name, name])]);
  byId("status").hidden = !statuses.length;
  for (const id of ["subsystem", "kind", "status"]) byId(id).addEventListener("change", filter);
}
