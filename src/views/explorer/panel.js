// What is lit, and what the panel tells of it. All text is set as text, never as HTML.

const state = { chosen: null, isWhatIf: false };

function choose(node, doesReveal = true) {
  state.chosen = node;
  if (node) focusOn(node, false);
  update();
  if (node && doesReveal) reveal(node);
}

function askWhatIf(isWhatIf) {
  state.isWhatIf = isWhatIf;
  update();
}

function update() {
  byId("what-if").setAttribute("aria-pressed", state.isWhatIf);
  for (const { shape } of [...nodes, ...edges]) {
    shape.classList.remove("lit", "above", "below", "stale-then", "chosen");
  }
  const node = state.chosen;
  panel.replaceChildren();
  panel.scrollTop = 0;
  document.body.classList.toggle("lighting", Boolean(node) && isAnswered(node));
  if (node) {
    node.shape.classList.add("lit", "chosen");
    if (!state.isWhatIf) tellDependencies(node);
    else if (node.kind === "variable") tellImpact(node);
    else tellChoice(node);
  } else if (state.isWhatIf) tellChoice(null);
  else tellHelp();
}

const isAnswered = (node) => !state.isWhatIf || node.kind === "variable";

function light(found, origin, name) {
  for (const node of found) {
    if (node !== origin) node.shape.classList.add("lit", name);
  }
  const inside = new Set([...found, origin]);
  for (const edge of edges) {
    if (inside.has(edge.source) && inside.has(edge.target)) edge.shape.classList.add("lit", name);
  }
}

function tellDependencies(node) {
  const above = reached([node], "above");
  const below = reached([node], "below");
  light(above, node, "above");
  light(below, node, "below");
  const counts = [above.size - 1, below.size - 1];
  make(panel, "h2", node.path);
  tellFacts(node);
  if (node.kind === "variable") {
    const ask = make(panel, "button", "What if it is written?", "ask");
    ask.addEventListener("click", () => askWhatIf(true));
  }
  make(panel, "h3", `${counts[0]} upstream`, "above");
  makeLinks(panel, node.above.map((edge) => [edge.source, edge.kind]));
  make(panel, "h3", `${counts[1]} downstream`, "below");
  makeLinks(panel, node.below.map((edge) => [edge.target, edge.kind]));
  say(`${node.path}: ${counts[0]} upstream, ${counts[1]} downstream`);
}

function tellFacts(node) {
  const place = node.line ? `${node.file}:${node.line}` : node.file;
  const facts = [
    ["kind", node.variant && node.variant !== node.kind ? `${node.kind}, ${node.variant}` : node.kind],
    ["subsystem", node.subsystem],
    [node.kind === "variable" ? "invalidates" : "depends on", node.kind === "stage" ? "" : node.stage],
    ["computed by", node.kind === "entry" ? node.computed_by || "a read" : ""],
    ["status", node.status],
    ["waits for", node.waits_for && `stage ${node.waits_for}`],
    ["version", node.version === null ? "" : String(node.version)],
    ["value", node.value],
    ["last computed in", node.seconds === null ? "" : duration(node.seconds)],
    ["hit rate", node.hit_rate === null ? "" : `${(100 * node.hit_rate).toFixed(1)} %`],
    ["source", place],
  ];
  const list = make(panel, "dl");
  for (const [name, value] of facts.filter((fact) => fact[1])) {
    make(list, "dt", name);
    make(list, "dd", value);
  }
}

function duration(seconds) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [size, unit] = units.find(([least]) => seconds >= least) || [1e-9, "ns"];
  return `${(seconds / size).toPrecision(3)} ${unit}`;
}

function tellImpact(variable) {
  const { stale, others, isGiven } = impactOf(variable);
  light(new Set(stale), variable, "stale-then");
  const counted = `${stale.length} of ${nodes.length} nodes`;
  tellChoice(variable);
  make(panel, "p", isGiven
    ? "Valid entries of this State that a write makes stale."
    : "All that depends on it along the edges, valid or not.");
  if (others) make(panel, "p", `Not in this view: ${others} more.`);
  make(panel, "h3", `${counted} are stale then`, "stale-then");
  makeLinks(panel, stale.map((node) => [node, ""]));
  say(`If ${variable.path} is written, ${counted} are stale`);
}

/** The head of the panel for "what if": a list of all variables. */
function tellChoice(node) {
  make(panel, "h2", "What if a variable is written?");
  const list = make(panel, "select");
  list.id = "variable";
  list.setAttribute("aria-label", "Variable");
  const isChosen = node && node.kind === "variable";
  makeOptions(list, [["", "choose one, or click it"], ...variables.map((v) => [v.number, v.path])]);
  list.value = isChosen ? node.number : "";
  list.addEventListener("change", () => {
    if (list.value !== "") choose(nodes[list.value]);
    byId("variable").focus();
  });
  if (!isChosen) say(node ? `${node.path} is not written: choose a variable` : "Choose a variable");
  if (node && !isChosen) make(panel, "p", `${node.path} is not a variable, so nobody writes it.`);
}

function tellHelp() {
  make(panel, "h2", `${nodes.length} nodes, ${edges.length} edges`);
  make(panel, "p", "Click a node to see what it depends on and what depends on it. "
    + "Drag the picture to move it; the wheel or two fingers zoom.", "hint");
  const keys = [
    ["/", "search"], ["← ↑ ↓ →", "go to the next node"], ["Enter", "choose it"],
    ["w", "what if it is written"], ["+ − 0", "zoom in, out, show all"], ["Esc", "back"],
  ];
  const list = make(panel, "dl", "", "hint");
  for (const [key, effect] of keys) {
    make(make(list, "dt"), "kbd", key);
    make(list, "dd", effect);
  }
  say("");
}

function say(text) {
  byId("said").textContent = text;
}

function make(parent, tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  parent.append(element);
  return element;
}

function makeOptions(list, options) {
  for (const [value, text] of options) make(list, "option", text).value = value;
}

/** A list of buttons, one for each node, with a remark. */
function makeLinks(parent, found) {
  const list = make(parent, "ul", "", "links");
  for (const [node, remark] of found) {
    const text = remark && remark !== "prerequisite" ? `${node.path} (${remark})` : node.path;
    make(make(list, "li"), "button", text).addEventListener("click", () => {
      if (state.isWhatIf && node.kind !== "variable") state.isWhatIf = false;
      choose(node);
      node.shape.focus({ preventScroll: true });
    });
  }
}
