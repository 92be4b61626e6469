// The explorer of a graph in any element of a page: of a document, a shadow tree, a cell of a notebook.
//
//     filters --> folds --> scene (boxes, lines, layout) --> picture (canvas, SVG)
//        \__________________ panel, keyboard, live ______________/

/**
 * Show a graph in an element.
 *
 * data: {graph, impacts, reasons}, each an object or its JSON, as formats/page_data.py makes them.
 * host: optional, a running program: {send(command)} with the commands "pause", "resume", "step" and
 *     "explain" with the number of a node, and links: true if the address of the page follows the
 *     chosen node (always so without a host).
 *
 * Returns {update(message), fit(), shown(), svg(), destroy()}. A message has some of: nodes, {number:
 * {status, version, value, count, seconds}} of what has changed; computed and written, numbers of
 * nodes; time, the simulated time or null; state, "running", "paused" or "ended"; reasons, as in data,
 * which come with nodes: with these, no earlier ones count any more.
 */
function explorer(root, data, host = null) {
  const app = new Explorer(root, data, host);
  return {
    update: (message) => app.live.update(message),
    fit: () => app.picture.fit(),
    shown: () => app.shown(),
    svg: () => app.picture.svg(),
    destroy: () => app.destroy(),
  };
}

class Explorer {
  constructor(root, data, host) {
    this.host = host;
    this.hasLinks = host ? Boolean(host.links) : true;
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.graph = new Graph(data);
    this.folds = new Folds(this.graph);
    this.scene = new Scene(this.graph, this.folds);
    this.chosen = null; // a node or a group
    this.isWhatIf = false;
    this.pathFrom = null;
    this.hasCosts = Boolean(host);
    this.frame = make(null, "div", "", "frame");
    const header = make(this.frame, "header");
    make(header, "h1", this.graph.title || "dependency graph");
    this.live = new Live(header, this);
    this.filters = new Filters(header, this);
    this.makeTools(header);
    const main = make(this.frame, "main");
    const left = make(main, "div", "", "left");
    this.bar = make(left, "div", "", "bar", { role: "group", "aria-label": "Shown" });
    const element = make(left, "div", "", "picture", {
      tabindex: 0, role: "application", "aria-roledescription": "dependency graph",
      "aria-label": "Dependency graph: arrows go from node to node, Enter chooses or unfolds",
    });
    this.print = make(left, "div", "", "print", { "aria-hidden": "true" });
    this.panel = new Panel(make(main, "section", "", "panel", { "aria-label": "Details", tabindex: 0 }), this);
    this.legend = makeLegend(left, this);
    this.said = make(this.frame, "p", "", "said", { role: "status" });
    root.classList.add("stagecache", "explorer");
    root.replaceChildren(this.frame);
    this.legend.open = this.frame.clientWidth > 760;
    this.picture = new Picture(element, this.scene, {
      signal: this.signal,
      onClick: (box, event) => this.click(box, event),
      onOpen: (box) => box?.isGroup && this.unfold(box.item),
      onHover: (box) => this.hover(box),
    });
    element.addEventListener("focus", () => {
      this.picture.isFocusVisible = element.matches(":focus-visible");
      if (this.picture.isFocusVisible && this.picture.focused) this.tell(this.picture.focused);
      this.picture.redraw();
    });
    element.addEventListener("blur", () => {
      this.picture.isFocusVisible = false;
      this.picture.redraw();
    });
    listenToKeys(this);
    this.listenToPage();
    this.filters.apply();
    this.make();
    this.picture.isFirst = true;
    this.picture.resize();
    if (!this.followLink()) this.update();
  }

  destroy() {
    this.ending.abort();
    this.frame.remove();
  }

  makeTools(header) {
    const folding = make(header, "div", "", "tools", { role: "group", "aria-label": "Folding" });
    makeButton(folding, "Fold all", () => this.foldAll("folded"));
    makeButton(folding, "Unfold all", () => this.foldAll("unfolded"));
    const tools = make(header, "div", "", "tools", { role: "group", "aria-label": "View" });
    this.whatIf = makeButton(tools, "What if", () => this.askWhatIf(!this.isWhatIf), "what-if", {
      "aria-pressed": false, title: "What would a write make stale? ( w )",
    });
    makeButton(tools, "+", () => this.picture.zoomBy(1.25), "zoom-in", { "aria-label": "Zoom in", title: "Zoom in ( + )" });
    makeButton(tools, "−", () => this.picture.zoomBy(0.8), "zoom-out", { "aria-label": "Zoom out", title: "Zoom out ( - )" });
    makeButton(tools, "Fit", () => this.picture.fit(this.picture.marks.chosen), "fit", { title: "Show all ( 0 )" });
    makeButton(tools, "Save SVG", () => this.save(), "save", { title: "Save what is shown as a picture" });
  }

  /** What the page as a whole tells: its address, and that it is printed. */
  listenToPage() {
    const { signal } = this;
    if (this.hasLinks) addEventListener("hashchange", () => this.followLink(), { signal });
    addEventListener("beforeprint", () => {
      const svg = this.picture.svg((name) => `var(--${MARKS.includes(name) ? name : `sc-${name}`})`);
      const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
      this.print.replaceChildren(document.importNode(documentElement, true));
    }, { signal });
    addEventListener("afterprint", () => this.print.replaceChildren(), { signal });
  }

  // ------------------------------------------------------------------ what is shown

  /** Lay out anew; a box that is there before and after stays where it is on the window. */
  make(anchor = null) {
    const { scene, picture } = this;
    const before = anchor && this.boxFor(anchor);
    const place = before && { x: before.x, y: before.y };
    const focused = picture.focused?.item;
    scene.make((node) => node.isShown, this.hasCosts);
    picture.found = new Set();
    picture.flashes.clear();
    picture.hovered = null;
    picture.focused = (focused && this.boxFor(focused)) || scene.boxes[0] || null;
    const after = anchor && this.boxFor(anchor);
    if (place && after) picture.keep(place, after);
    this.tellShown();
  }

  /** The box of a node, or the one in which it is folded; of a group that is unfolded, the first. */
  boxFor(item) {
    if (!this.scene.boxOf) return null;
    if (!(item instanceof Group)) return this.scene.boxOf.get(item) || null;
    for (const node of item.members()) {
      if (this.scene.boxOf.has(node)) return this.scene.boxOf.get(node);
    }
    return null;
  }

  refilter() {
    this.filters.apply();
    this.make();
    this.picture.fit(this.chosen && this.boxFor(this.chosen));
    this.update();
    this.say(`${this.numShown} of ${plural(this.graph.nodes.length, "node")} are shown`);
  }

  showAll() {
    this.filters.clear();
    this.refilter();
  }

  showAround(item, depth = 1) {
    this.filters.path = null;
    this.filters.around = { item, depth };
    this.refilter();
  }

  showBetween(one, other) {
    this.pathFrom = null;
    const follows = (edge) => isFlow(edge) && !this.scene.hiddenEdges.has(edge.kind);
    for (const [from, to] of [[one, other], [other, one]]) {
      const found = between(from, to, follows);
      if (found) {
        this.filters.around = null;
        this.filters.path = { from, to, ...found };
        this.chosen = to;
        this.refilter();
        return;
      }
    }
    this.panel.show();
    this.say(`Neither ${one.path} nor ${other.path} depends on the other`);
    make(this.panel.element, "p", this.said.textContent, "note");
  }

  showHooks(isOn) {
    this.filters.hidesHooks = !isOn;
    for (const kind of ["read", "write"]) {
      if (isOn) this.scene.hiddenEdges.delete(kind);
      else this.scene.hiddenEdges.add(kind);
    }
    this.refilter();
  }

  showEdges(kind, isOn) {
    if (isOn) this.scene.hiddenEdges.delete(kind);
    else this.scene.hiddenEdges.add(kind);
    this.refilter();
  }

  fold(group) {
    this.folds.fold(group);
    this.chosen = group;
    this.make(group);
    this.update();
    this.picture.reveal(this.boxFor(group));
    this.say(`${group.label(group.shown)} is folded`);
  }

  unfold(group) {
    this.folds.open(group);
    const isChosen = this.chosen === group;
    if (isChosen) this.chosen = null;
    const focused = this.boxFor(group) === this.picture.focused;
    this.make(group);
    if (focused) this.picture.focused = this.boxFor(group);
    this.update();
    this.say(`${group.label(group.shown)} is unfolded: ${plural(this.scene.boxes.length, "box", "boxes")}`);
  }

  foldFocused() {
    const item = this.picture.focused?.item;
    const group = item && this.folds.around(item).find((each) => this.folds.isOpen(each));
    if (group) this.fold(group);
  }

  foldAll(mode) {
    this.folds.set(mode);
    this.make();
    this.picture.fit(this.chosen && this.boxFor(this.chosen));
    this.update();
    this.say(`${plural(this.scene.boxes.length, "box", "boxes")}`);
  }

  get numShown() {
    return this.scene.boxOf.size;
  }

  /** The line above the picture: how many, and which restrictions there are. */
  tellShown() {
    const { bar, filters, graph, scene } = this;
    bar.replaceChildren();
    const boxes = scene.boxes.length === this.numShown ? "" : ` in ${plural(scene.boxes.length, "box", "boxes")}`;
    make(bar, "span", `${this.numShown} of ${plural(graph.nodes.length, "node")}${boxes}`, "count");
    const { around, path } = filters;
    if (around) {
      const name = around.item instanceof Group ? around.item.label(around.item.shown) : around.item.path;
      make(bar, "span", `Around ${name}, depth ${around.depth}`, "mode");
      makeButton(bar, "−", () => this.showAround(around.item, around.depth - 1), "less", { "aria-label": "Less depth" })
        .disabled = around.depth < 2;
      makeButton(bar, "+", () => this.showAround(around.item, around.depth + 1), "more", { "aria-label": "More depth" });
    }
    if (path) {
      const steps = plural(path.shortest.length - 1, "step");
      make(bar, "span", `Paths from ${path.from.path} to ${path.to.path}, the shortest of ${steps}`, "mode");
    }
    if (filters.values.text) make(bar, "span", `Found by “${filters.values.text}”`, "mode");
    if (this.numShown < graph.nodes.length) makeButton(bar, "Show all", () => this.showAll(), "show-all");
  }

  // ------------------------------------------------------------------ what is chosen

  click(box, event) {
    this.picture.isFocusVisible = false;
    if (box) this.picture.focused = box;
    const other = box?.node;
    const from = this.pathFrom || (event.shiftKey && !(this.chosen instanceof Group) && this.chosen);
    if (other && from && from !== other) this.showBetween(from, other);
    else this.choose(box?.item || null, false);
  }

  enter(box, unfolds) {
    if (!box) return;
    if (this.pathFrom && box.node && this.pathFrom !== box.node) this.showBetween(this.pathFrom, box.node);
    else if (box.isGroup && unfolds) this.unfold(box.item);
    else this.choose(box.item);
  }

  choose(item, doesReveal = true) {
    this.chosen = item;
    const isNode = item && !(item instanceof Group);
    let isUnfolded = false;
    if (isNode) {
      const anchor = doesReveal ? null : item;
      for (const node of [item, ...this.wayTo(item)]) {
        if (node.isShown && this.scene.boxOf.get(node)?.node !== node) {
          isUnfolded = this.folds.unfold(node) || isUnfolded;
        }
      }
      if (isUnfolded) this.make(anchor);
    }
    if (item?.kind === "entry") this.live.ask(item);
    const box = item && this.boxFor(item);
    if (box) this.picture.focused = box;
    this.update();
    if (box && doesReveal) this.picture.reveal(box);
    if (this.hasLinks) this.setLink(isNode ? `#${encodeURIComponent(item.path)}` : "");
  }

  /** The path from the cause to a node that is not valid. */
  wayTo(node) {
    return this.isWhatIf ? [] : this.graph.reasonOf(node)?.path || [];
  }

  back(isSearch) {
    if (isSearch) {
      this.focusPicture();
      this.filters.clearSearch();
      return;
    }
    if (this.pathFrom) {
      this.pathFrom = null;
      this.update();
    } else if (this.isWhatIf) this.askWhatIf(false);
    else if (this.chosen) this.choose(null);
    else if (this.filters.around || this.filters.path || this.filters.values.text) this.showAll();
  }

  askWhatIf(isWhatIf) {
    this.isWhatIf = isWhatIf;
    this.update();
  }

  setLink(hash) {
    if (decodeURI(location.hash) === decodeURI(hash)) return;
    try {
      history.replaceState(history.state, "", hash || location.pathname + location.search);
    } catch (error) {
      if (error.name !== "SecurityError") throw error; // a page without an address, in a frame
    }
  }

  followLink() {
    if (!this.hasLinks || !location.hash) return false;
    let path = location.hash.slice(1);
    try {
      path = decodeURIComponent(path);
    } catch (error) {
      if (!(error instanceof URIError)) throw error; // not made by us: taken as it is
    }
    const node = this.graph.at.get(path);
    if (!node) return false;
    if (node !== this.chosen) {
      if (!node.isShown) this.filters.clear();
      this.filters.apply();
      this.make();
      this.choose(node);
    }
    return true;
  }

  /** Tell of the chosen item in the panel, and light what belongs to it. */
  update() {
    this.whatIf.setAttribute("aria-pressed", this.isWhatIf);
    this.panel.show();
    this.light();
    const { chosen, picture } = this;
    if (chosen && !this.isWhatIf) {
      const words = this.panel.element.querySelectorAll("h3.above, h3.below");
      const name = chosen instanceof Group ? chosen.label(chosen.shown) : chosen.path;
      this.say(`${name}: ${[...words].map((word) => word.textContent).join("; ")}`);
    } else if (!chosen && !this.isWhatIf) this.say("");
    picture.redraw();
  }

  light() {
    const { chosen, isWhatIf, scene, picture } = this;
    const boxes = (nodes) => new Set([...nodes].map((node) => scene.boxOf.get(node)).filter(Boolean));
    const box = chosen && this.boxFor(chosen);
    const marks = { ...NO_MARKS, chosen: box };
    if (box && isWhatIf && chosen.kind === "variable") {
      marks.stale = boxes(this.graph.impactOf(chosen).stale);
      marks.isLighting = true;
    } else if (box && !isWhatIf) {
      const nodes = chosen instanceof Group ? [...chosen.members()] : [chosen];
      const { path } = this.filters;
      marks.above = boxes(reached(nodes, "above"));
      marks.below = boxes(reached(nodes, "below"));
      const reason = chosen instanceof Group ? null : this.graph.reasonOf(chosen);
      if (reason) {
        marks.stale = boxes(reason.path);
        marks.changed = reason.variable && scene.boxOf.get(reason.variable);
      } else if (path) marks.stale = boxes(path.shortest);
      marks.isLighting = true;
    }
    for (const set of [marks.above, marks.below, marks.stale]) set.delete(box);
    picture.marks = marks;
  }

  // ------------------------------------------------------------------ the focus, and words

  focusOn(box) {
    const { picture } = this;
    if (!box) return;
    picture.focused = box;
    picture.isFocusVisible = true;
    picture.reveal(box);
    picture.redraw();
    this.tell(box);
  }

  focusPicture() {
    this.picture.element.focus({ preventScroll: true });
  }

  /** Say name, kind and status of a box. */
  tell(box) {
    const status = box.isGroup ? [`folded, ${plural(box.members.length, "node")}`, box.remark] : [box.kind, box.node.status];
    this.say([box.title, ...status].filter(Boolean).join(", "));
  }

  hover(box) {
    this.picture.element.title = !box ? "" : box.isGroup
      ? `${box.title}\n${box.remark}\ndouble click unfolds it`
      : [box.node.path, box.node.kind, box.node.status, box.node.value].filter(Boolean).join("\n");
  }

  say(text) {
    this.said.textContent = text;
  }

  /** Save what is shown as a file. */
  save() {
    const url = URL.createObjectURL(new Blob([this.picture.svg()], { type: "image/svg+xml" }));
    const link = make(null, "a", "", "", { href: url, download: `${this.graph.title || "graph"}.svg` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    this.say("The picture is saved as SVG");
  }

  /** What is seen, for programs: boxes and lines with places on the window, marks, and counts. */
  shown() {
    const { scene, picture } = this;
    const { x, y, k } = picture.camera;
    const { left, top } = picture.element.getBoundingClientRect();
    const { marks } = picture;
    const marksOf = (box) => [
      [marks.chosen === box, "chosen"], [marks.above.has(box), "above"], [marks.below.has(box), "below"],
      [marks.stale.has(box), "stale-then"], [marks.changed === box, "changed"], [picture.found.has(box), "found"],
      [picture.focused === box, "focused"], [picture.flashes.has(box), "flash"],
    ].filter(([isMarked]) => isMarked).map(([, name]) => name);
    return {
      boxes: scene.boxes.map((box) => ({
        path: box.node?.path ?? null, label: box.label, title: box.title, remark: box.remark, kind: box.kind,
        look: box.look, band: box.band, column: scene.titles[box.column].title, size: box.members.length,
        x: left + x + box.x * k, y: top + y + box.y * k, width: box.width * k, height: box.height * k,
        marks: marksOf(box),
      })),
      lines: scene.lines.map(({ source, target, kind, edges }) => ({
        source: scene.boxes[source].title, target: scene.boxes[target].title, kind, count: edges.length,
      })),
      bands: scene.bands.map((band) => band.name), titles: (picture.titles || []).map((title) => title.text),
      camera: { x, y, k }, layouts: scene.number, frames: picture.frames, width: scene.width, height: scene.height,
    };
  }
}
