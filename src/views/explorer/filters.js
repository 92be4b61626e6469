// The search, and filters: what is left of the nodes. Legend, whose lines switch kinds of edges.

const MOST_FOUND = 50;
const FILTERS = ["subsystem", "kind", "status", "stage"];

class Filters {
  constructor(header, app) {
    this.app = app;
    this.values = { subsystem: "", kind: "", status: "", stage: "", text: "" };
    this.around = null; // {item, depth}
    this.path = null; // {from, to, all, shortest}
    this.hidesHooks = false;
    const box = make(header, "div", "", "search", { role: "search" });
    this.search = make(box, "input", "", "", {
      type: "search", placeholder: "Search ( / )", autocomplete: "off", spellcheck: "false",
      "aria-label": "Search nodes by path, kind, subsystem, stage or status",
    });
    this.results = make(box, "ul", "", "results", { "aria-label": "Nodes found" });
    this.results.hidden = true;
    this.search.addEventListener("input", () => this.find());
    const toggle = makeButton(header, "Filters", () => {
      const isOpen = tools.classList.toggle("open");
      toggle.setAttribute("aria-expanded", isOpen);
    }, "toggle", { "aria-expanded": false });
    const tools = make(header, "div", "", "tools filters", { role: "group", "aria-label": "Filters" });
    this.lists = Object.fromEntries(FILTERS.map((name) => {
      const label = name[0].toUpperCase() + name.slice(1);
      const list = make(tools, "select", "", name, { "aria-label": label });
      list.addEventListener("change", () => {
        this.values[name] = list.value;
        app.refilter();
      });
      return [name, list];
    }));
    this.fill();
    app.frame.addEventListener("pointerdown", (event) => {
      if (!event.composedPath().includes(box)) this.results.hidden = true;
    }, { signal: app.signal });
  }

  fill() {
    const { nodes } = this.app.graph;
    const unique = (values) => [...new Set(values)];
    const lists = {
      subsystem: unique(nodes.map((node) => node.subsystem)).map((name) => [JSON.stringify(name), name || "whole State"]),
      kind: unique(nodes.flatMap(({ kind, variant }) => [
        JSON.stringify([kind, null]), ...(variant && variant !== kind ? [JSON.stringify([kind, variant])] : []),
      ])).sort().map((kind) => [kind, JSON.parse(kind).filter(Boolean).join(": ")]),
      status: URGENCY.filter((status) => status && nodes.some((node) => node.status === status)).map((s) => [s, s]),
      stage: unique(nodes.map(stageOf)).filter(Boolean).map((name) => [name, name]),
    };
    const all = { subsystem: "all subsystems", kind: "all kinds", status: "all statuses", stage: "all stages" };
    for (const [name, options] of Object.entries(lists)) {
      makeOptions(this.lists[name], [["", all[name]], ...options]);
      this.lists[name].value = this.values[name];
      this.lists[name].hidden = options.length < 2 && !this.values[name];
    }
  }

  clear() {
    for (const name of FILTERS) this.lists[name].value = "";
    this.values = { subsystem: "", kind: "", status: "", stage: "", text: "" };
    this.around = this.path = null;
  }

  /** Mark the nodes that are left. */
  apply() {
    const { subsystem, kind, status, stage, text } = this.values;
    const [wanted, variant] = kind ? JSON.parse(kind) : [null, null];
    const wantedSubsystem = subsystem ? JSON.parse(subsystem) : null;
    const words = wordsOf(text);
    const follows = (edge) => !this.app.scene.hiddenEdges.has(edge.kind);
    let inside = this.path?.all;
    if (this.around) {
      const { item, depth } = this.around;
      const starts = item instanceof Group ? [...item.members()] : [item];
      inside = new Set([...reached(starts, "above", follows, depth), ...reached(starts, "below", follows, depth)]);
    }
    for (const node of this.app.graph.nodes) {
      node.isShown = (wantedSubsystem === null || node.subsystem === wantedSubsystem)
        && (!wanted || node.kind === wanted) && (!variant || node.variant === variant)
        && (!status || node.status === status) && (!stage || stageOf(node) === stage)
        && (!this.hidesHooks || node.kind !== "hook")
        && (!words.length || has(node, words)) && (!inside || inside.has(node));
    }
  }

  // ------------------------------------------------------------------ the search

  find() {
    const { app, results } = this;
    const words = wordsOf(this.search.value);
    const found = !words.length ? [] : app.graph.nodes.filter((node) => node.isShown && has(node, words));
    const isNamed = (node) => words.every((word) => node.path.toLowerCase().includes(word));
    found.sort((one, other) => isNamed(other) - isNamed(one));
    app.picture.found = new Set(found.map((node) => app.scene.boxOf.get(node)));
    app.picture.redraw();
    results.replaceChildren();
    results.hidden = !words.length;
    for (const node of found.slice(0, MOST_FOUND)) {
      makeButton(make(results, "li"), node.path, () => {
        results.hidden = true;
        app.choose(node);
        app.focusPicture();
      }, "result");
    }
    const more = found.length - MOST_FOUND;
    if (more > 0) make(results, "li", `and ${more} more`);
    if (!found.length) make(results, "li", "nothing found");
    else if (found.length > 1) {
      makeButton(make(results, "li"), `Show only these ${found.length}`, () => {
        this.values.text = this.search.value;
        this.clearSearch();
        app.refilter();
        app.focusPicture();
      }, "only");
    }
    if (words.length) app.say(`${found.length} found`);
  }

  clearSearch() {
    this.search.value = "";
    this.find();
  }
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

function has(node, words) {
  node.words ||= [node.path, node.kind, node.variant, node.subsystem, node.column || node.stage, node.status]
    .join(" ").toLowerCase();
  return words.every((word) => node.words.includes(word));
}

const stageOf = (node) => node.column || node.stage;

// ---------------------------------------------------------------------- the legend

const SVG = "http://www.w3.org/2000/svg";

/** Shapes, statuses and arrows that occur; each kind of edge, and hooks, can be switched off. */
function makeLegend(parent, app) {
  const legend = make(parent, "details", "", "legend");
  legend.open = true;
  make(legend, "summary", "Legend");
  const list = make(legend, "ul");
  const { nodes, edges } = app.graph;
  const sample = (item, look, draw) => {
    const svg = document.createElementNS(SVG, "svg");
    for (const [name, value] of [["class", `sample ${look}`], ["viewBox", "0 0 34 16"], ["aria-hidden", "true"]]) {
      svg.setAttribute(name, value);
    }
    const path = new PathData();
    draw(path);
    const shape = document.createElementNS(SVG, "path");
    shape.setAttribute("d", path.data);
    svg.append(shape);
    item.append(svg);
    return svg;
  };
  const shape = (kind) => (path) => traceBox({ kind, x: 2, y: 1.5, width: 30, height: 13 }, path);
  const toggle = (item, text, isHidden, onChange) => {
    const button = makeButton(item, text, () => {
      const isOn = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", isOn);
      onChange(isOn);
    }, "switch", { "aria-pressed": !isHidden, title: "Show or hide" });
  };
  for (const kind of ["variable", "entry", "stage", "hook"]) {
    if (!nodes.some((node) => node.kind === kind)) continue;
    const item = make(list, "li");
    sample(item, kind, shape(kind));
    if (kind !== "hook") make(item, "span", kind);
    else toggle(item, "hook", false, (isOn) => app.showHooks(isOn));
  }
  const statuses = URGENCY.filter((status) => LOOKS[status] && nodes.some((node) => node.status === status));
  for (const status of statuses.reverse()) {
    const item = make(list, "li");
    sample(item, LOOKS[status], shape(status.includes("realized") ? "stage" : "entry"));
    make(item, "span", status);
  }
  for (const [kind, { text }] of Object.entries(LINES)) {
    if (!edges.some((edge) => edge.kind === kind)) continue;
    const item = make(list, "li");
    sample(item, `key-line ${kind}`, (path) => {
      const points = [1, 8, 33, 8];
      trace(points, path);
      traceHead(points, path);
    });
    toggle(item, text, false, (isOn) => app.showEdges(kind, isOn));
  }
  return legend;
}
