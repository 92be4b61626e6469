// The panel: all that is known of what was chosen.

class Panel {
  constructor(element, app) {
    this.element = element;
    this.app = app;
  }

  show() {
    const { element, app } = this;
    element.replaceChildren();
    element.scrollTop = 0;
    this.facts = null;
    const { chosen, isWhatIf } = app;
    if (isWhatIf && !(chosen instanceof Group)) {
      if (chosen?.kind === "variable") this.tellImpact(chosen);
      else this.tellChoice(chosen);
    } else if (chosen instanceof Group) this.tellGroup(chosen);
    else if (chosen) this.tellNode(chosen);
    else this.tellHelp();
  }

  heading(text, name = "") {
    make(this.element, "h3", text, name);
  }

  links(found, name) {
    makeList(this.element, found, (parent, [node, remark]) => {
      const text = remark && remark !== "prerequisite" ? `${node.path} (${remark})` : node.path;
      makeButton(parent, text, () => {
        if (this.app.isWhatIf && node.kind !== "variable") this.app.isWhatIf = false;
        this.app.choose(node);
        this.app.focusPicture();
      });
    }, name);
  }

  // ------------------------------------------------------------------ a node

  tellNode(node) {
    const { element, app } = this;
    make(element, "h2", node.path);
    if (!node.isShown) {
      make(element, "p", "The filters leave it out.", "note");
      makeButton(element, "Show all", () => app.showAll());
    }
    this.facts = make(element, "dl");
    this.tellFacts(node);
    this.tellReason(node);
    const actions = make(element, "div", "", "actions");
    if (node.kind === "variable") makeButton(actions, "What if it is written?", () => app.askWhatIf(true), "ask");
    this.tellActions(actions, node);
    this.tellNeighbours([node]);
  }

  tellActions(actions, item) {
    const { app } = this;
    makeButton(actions, "Only its neighbourhood", () => app.showAround(item));
    if (!(item instanceof Group)) {
      const isAsked = app.pathFrom === item;
      makeButton(actions, isAsked ? "Choose the other end …" : "Path from here to …", () => {
        app.pathFrom = isAsked ? null : item;
        this.show();
        app.say(isAsked ? "" : "Choose the other end of the path");
      }, "", { "aria-pressed": isAsked });
    }
    for (const group of app.folds.around(item)) {
      if (app.folds.isOpen(group)) {
        makeButton(actions, `Fold ${group.label(group.shown)}`, () => app.fold(group), "fold");
      }
    }
  }

  /** Prerequisites and dependents, direct and in all; and what hooks read and write. */
  tellNeighbours(nodes) {
    const inside = new Set(nodes);
    const sides = [["above", "source", "Prerequisites"], ["below", "target", "Dependents"]];
    for (const [side, end, title] of sides) {
      const direct = new Map();
      for (const node of nodes) {
        for (const edge of node[side]) {
          if (isFlow(edge) && !inside.has(edge[end])) direct.set(edge[end], edge.kind);
        }
      }
      const all = reached(nodes, side).size - nodes.length;
      this.heading(`${title}: ${direct.size} direct, ${all} in all`, side);
      this.links([...direct]);
    }
    const hooks = [
      ["Read by", "below", "target", "read"], ["Written by", "above", "source", "write"],
      ["Reads", "above", "source", "read"], ["Writes", "below", "target", "write"],
    ];
    for (const [title, side, end, kind] of hooks) {
      const others = new Set(nodes.flatMap((node) => (
        node[side].filter((edge) => edge.kind === kind).map((edge) => edge[end]))));
      if (!others.size) continue;
      this.heading(`${title} ${others.size}`, "hook");
      this.links([...others].map((other) => [other, ""]));
    }
  }

  tellFacts(node) {
    const place = node.line ? `${node.file}:${node.line}` : node.file;
    const facts = [
      ["kind", node.variant && node.variant !== node.kind ? `${node.kind}, ${node.variant}` : node.kind],
      ["subsystem", node.subsystem],
      ["family", node.family],
      [node.kind === "variable" ? "invalidates" : "available from", node.kind === "stage" ? "" : node.stage],
      ["belongs to", node.column === node.stage ? "" : node.column],
      ["computed by", node.kind === "entry" ? node.computed_by || "a read" : ""],
      ["status", node.status],
      ["waits for", node.waits_for && `stage ${node.waits_for}`],
      ["version", node.version === null ? "" : String(node.version)],
      ["value", node.value],
      ["computations", node.count === null ? "" : String(node.count)],
      ["last computed in", node.seconds === null ? "" : duration(node.seconds)],
      ["hit rate", node.hit_rate === null ? "" : `${(100 * node.hit_rate).toFixed(1)} %`],
      ["source", place],
    ];
    this.facts.replaceChildren();
    for (const [name, value] of facts.filter((fact) => fact[1])) {
      make(this.facts, "dt", name);
      const look = name === "status" && LOOKS[value];
      make(this.facts, "dd", value, look ? `status ${look}` : "");
    }
  }

  /** The reason why an entry is not valid: in sentences, and as a path from the cause. */
  tellReason(node) {
    const reason = this.app.graph.reasonOf(node);
    if (!reason) return;
    const { element } = this;
    this.heading(`Why is it ${node.status}?`, "stale-then");
    make(element, "p", reason.text, "reason");
    const written = [
      reason.file && `at ${reason.file}${reason.line ? `:${reason.line}` : ""}`,
      reason.seconds === null ? "" : `${duration(reason.seconds)} after the trace began`,
    ].filter(Boolean).join(", ");
    if (written) make(element, "p", `Written ${written}.`, "written");
    if (reason.path.length > 1) {
      this.links(reason.path.map((each) => [each, each === reason.variable ? "changed" : ""]), "links way");
    } else if (reason.variable) this.links([[reason.variable, "changed"]], "links way");
  }

  /** Whether the panel tells the reason that is known of a node now. */
  tellsReasonOf(node) {
    const told = this.element.querySelector(".reason")?.textContent || "";
    return told === (this.app.graph.reasonOf(node)?.text || "");
  }

  // ------------------------------------------------------------------ a group

  tellGroup(group) {
    const { element, app } = this;
    const members = [...group.members()].filter((node) => node.isShown);
    make(element, "h2", group.label(members.length));
    const sorts = {
      alike: "subsystems that are alike", subsystem: "subsystem", family: "family",
      pattern: "names that differ by numbers", range: "range",
    };
    this.facts = make(element, "dl");
    for (const [name, value] of [["folded", sorts[group.sort]], ["nodes", String(members.length)],
      ...statusesOf(members).map(([status, number]) => [status, String(number)])]) {
      make(this.facts, "dt", name);
      make(this.facts, "dd", value);
    }
    const actions = make(element, "div", "", "actions");
    if (!app.folds.isOpen(group)) makeButton(actions, "Unfold", () => app.unfold(group), "unfold");
    this.tellActions(actions, group);
    this.heading(`Inside: ${plural(members.length, "node")}`);
    this.links(members.map((node) => [node, node.status === "value" ? "" : node.status]));
    this.tellNeighbours(members);
  }

  // ------------------------------------------------------------------ what if

  tellImpact(variable) {
    const { element, app } = this;
    const { stale, others, isGiven } = app.graph.impactOf(variable);
    const entries = stale.filter((node) => node.kind === "entry");
    const hooks = new Set(stale.filter((node) => node.kind === "hook"));
    for (const node of [variable, ...stale]) {
      for (const edge of node.below) if (edge.kind === "read") hooks.add(edge.target);
    }
    this.tellChoice(variable);
    const number = entries.length + others;
    const said = `This write would make ${plural(number, "entry", "entries")} stale`;
    make(element, "p", `${said}.`, "impact");
    make(element, "p", isGiven
      ? "Valid entries of this State that a write makes stale."
      : "All that depends on it along the edges, valid or not.");
    if (others) make(element, "p", `Not in this view: ${others} more.`);
    this.heading(`${plural(entries.length, "entry", "entries")} of ${app.graph.nodes.length} nodes`, "stale-then");
    this.links(entries.map((node) => [node, ""]));
    const stages = stale.filter((node) => node.kind === "stage");
    if (stages.length) {
      this.heading(`${plural(stages.length, "stage")} to realize again`, "stale-then");
      this.links(stages.map((node) => [node, ""]));
    }
    if (hooks.size) {
      this.heading(`${plural(hooks.size, "hook")} that read${hooks.size === 1 ? "s" : ""} what changes`, "hook");
      this.links([...hooks].map((node) => [node, ""]));
    }
    app.say(`${variable.path}: ${said}`);
  }

  /** The head of the panel for "what if": a list of all variables, if it is not too long. */
  tellChoice(node) {
    const { element, app } = this;
    const { variables } = app.graph;
    make(element, "h2", "What if a variable is written?");
    const isChosen = node?.kind === "variable";
    if (variables.length <= 1000) {
      const list = make(element, "select", "", "variable", { "aria-label": "Variable" });
      makeOptions(list, [["", "choose one, or click it"], ...variables.map((v) => [v.number, v.path])]);
      list.value = isChosen ? node.number : "";
      list.addEventListener("change", () => {
        if (list.value !== "") app.choose(app.graph.nodes[list.value]);
        element.querySelector(".variable")?.focus();
      });
    } else make(element, "p", isChosen ? node.path : "Click one, or search for it.");
    if (!isChosen) app.say(node ? `${node.path} is not written: choose a variable` : "Choose a variable");
    if (node && !isChosen) make(element, "p", `${node.path} is not a variable, so nobody writes it.`);
  }

  // ------------------------------------------------------------------ nothing

  tellHelp() {
    const { element, app } = this;
    const { nodes, edges } = app.graph;
    make(element, "h2", `${plural(nodes.length, "node")}, ${plural(edges.length, "edge")}`);
    this.summary = make(element, "p", "", "summary");
    this.tellSummary();
    make(element, "p", "Click a node to see its prerequisites and dependents, and why it is stale. Shift-click "
      + "another one to see the paths between both. A double click unfolds a box that stands for many. "
      + "Drag the picture to move it; the wheel or two fingers zoom.", "hint");
    const keys = [
      ["/", "search"], ["← ↑ ↓ →", "go to the next node"], ["Enter", "choose it, or unfold it"],
      ["f", "fold what is around it"], ["w", "what if it is written"],
      ["+ − 0", "zoom in, out, show all"], ["Esc", "back"],
    ];
    const list = make(element, "dl", "", "hint keys");
    for (const [key, effect] of keys) {
      make(make(list, "dt"), "kbd", key);
      make(list, "dd", effect);
    }
  }

  /** Count the entries by status. */
  tellSummary() {
    const statuses = statusesOf(this.app.graph.nodes.filter((node) => node.kind === "entry"));
    const words = statuses.map(([status, number]) => `${number} ${status}`).join(", ");
    this.summary.textContent = words && `Entries: ${words}.`;
    this.summary.hidden = !words;
  }
}
