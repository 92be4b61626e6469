// All of it without a mouse; and how it starts.

let focused = null;

/** One node at a time is reached by the key Tab; arrows go on from there. */
function focusOn(node, doesFocus = true) {
  if (focused) focused.shape.setAttribute("tabindex", -1);
  focused = node || null;
  if (!node) return;
  node.shape.setAttribute("tabindex", 0);
  if (!doesFocus) return;
  reveal(node);
  node.shape.focus({ preventScroll: true });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The nearest node in a direction; what is aside counts as further away. */
function nextNode(from, [right, down]) {
  const cost = (node) => {
    const [dx, dy] = [node.x - from.x, node.y - from.y];
    const along = dx * right + dy * down;
    return along < 1 ? Infinity : along + 3 * Math.abs(dx * down + dy * right);
  };
  const others = nodes.filter((node) => node.isShown && cost(node) < Infinity);
  return others.reduce((best, node) => (cost(node) < cost(best) ? node : best), others[0]);
}

const KEYS = {
  "/": () => byId("search").select(), "w": () => askWhatIf(!state.isWhatIf),
  "+": () => zoom(1.25), "-": () => zoom(0.8), "0": () => fit(),
};

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const entries = [byId("search"), ...results.querySelectorAll("button")];
  if (key === "Escape") {
    const isSearch = !results.hidden || entries.includes(target);
    if (isSearch && focused) focused.shape.focus({ preventScroll: true });
    else if (state.isWhatIf) askWhatIf(false);
    else choose(null);
    if (isSearch || !state.chosen) clearSearch();
  } else if (entries.includes(target) && (key === "ArrowDown" || key === "ArrowUp")) {
    const next = entries[entries.indexOf(target) + (key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
  } else if (target === byId("search")) {
    if (key !== "Enter" || entries.length < 2) return;
    entries[1].click();
  } else if (target.closest("select, input")) return;
  else if (KEYS[key]) KEYS[key]();
  else if (focused && target === focused.shape && ARROWS[key]) {
    focusOn(nextNode(focused, ARROWS[key]) || focused);
  } else if (focused && target === focused.shape && (key === "Enter" || key === " ")) choose(focused);
  else return;
  event.preventDefault();
}

document.body.classList.add("running");
svg.setAttribute("role", "group");
svg.setAttribute("aria-label", "Dependency graph: arrows go from node to node");
svg.removeAttribute("width");
svg.removeAttribute("height");
svg.setAttribute("preserveAspectRatio", "xMinYMin meet");
for (const node of nodes) {
  node.shape.setAttribute("role", "button");
  node.shape.setAttribute("tabindex", -1);
  node.shape.setAttribute("aria-label", [node.path, node.kind, node.status].filter(Boolean).join(", "));
}
fillFilters();
focusOn(nodes[0], false);
update();
fit(LEGIBLE);
new ResizeObserver(() => {
  if (camera.isMoved) show();
  else fit(LEGIBLE);
  if (state.chosen) reveal(state.chosen);
}).observe(svg);
document.addEventListener("keydown", onKey);
byId("search").addEventListener("input", search);
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".search")) results.hidden = true;
});
byId("what-if").addEventListener("click", () => askWhatIf(!state.isWhatIf));
