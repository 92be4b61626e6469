// A program that runs: what it computes now, and the buttons that pause it.

const STATES = { running: "running", paused: "paused", ended: "ended" };

class Live {
  constructor(header, app) {
    this.app = app;
    if (!app.host) return;
    const tools = make(header, "div", "", "tools live", { role: "group", "aria-label": "Program" });
    this.state = make(tools, "span", "", "state");
    this.time = make(tools, "span", "", "time");
    this.pause = makeButton(tools, "Pause", () => app.host.send(this.now === "paused" ? "resume" : "pause"), "pause");
    this.step = makeButton(tools, "Step", () => app.host.send("step"), "step");
    this.tellState("running");
  }

  tellState(state) {
    this.now = state;
    this.state.textContent = STATES[state] || state;
    this.state.dataset.state = state;
    this.pause.textContent = state === "paused" ? "Resume" : "Pause";
    this.pause.disabled = state === "ended";
    this.step.disabled = state !== "paused";
  }

  /** Take what a message says; the picture follows in the next frame. */
  update({ nodes, computed = [], written = [], time, state, reasons = {} }) {
    const { app } = this;
    const { graph } = app;
    const changed = Object.entries(nodes || {}).map(([number, news]) => {
      const node = graph.nodes[number];
      for (const name of ["status", "version", "value", "count", "seconds"]) {
        if (news[name] !== undefined) node[name] = news[name];
      }
      node.words = undefined;
      return node;
    });
    if (changed.length) graph.isLive = true;
    if (nodes) graph.takeReasons(reasons);
    if (this.state && state) this.tellState(state);
    if (this.time && time !== undefined) this.time.textContent = time === null ? "" : `t = ${Number(time.toPrecision(6))}`;
    const { status } = app.filters.values;
    if (status && changed.length) {
      const before = changed.map((node) => node.isShown);
      app.filters.apply();
      if (changed.some((node, n) => node.isShown !== before[n])) app.make(app.chosen);
    }
    app.scene.refresh(changed, app.hasCosts);
    app.picture.flash([...computed, ...written].map((number) => graph.nodes[number]));
    this.refreshPanel(new Set(changed));
  }

  /** Ask why a node is not valid: the next news tell it, and all later ones. */
  ask(node) {
    if (this.now && this.now !== "ended") this.app.host.send(`explain ${node.number}`);
  }

  /** Tell the news of what is chosen; buttons keep the focus if only facts have changed. */
  refreshPanel(changed) {
    const { app } = this;
    const { chosen, panel } = app;
    if (app.isWhatIf) return;
    if (!chosen) panel.tellSummary();
    else if (chosen instanceof Group) {
      if ([...chosen.members()].some((node) => changed.has(node))) app.update();
    } else if (!panel.tellsReasonOf(chosen)) app.update();
    else if (changed.has(chosen)) {
      const status = panel.facts?.querySelector(".status")?.textContent || "";
      if (status === (LOOKS[chosen.status] ? chosen.status : "")) panel.tellFacts(chosen);
      else app.update();
    }
  }
}
