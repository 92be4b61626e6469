// The widget of a notebook: the same page in a cell. News come as messages of the widget, or, where
// it is shown later, as its traits. A command goes two ways, and counts once: to the server on this
// host, which takes it while a cell runs, if the browser is on that host, too; and to the kernel,
// which may have to end the cell first.

const HEIGHT = "560px";
const models = new Map(); // what is known, by the address of the server

class Model {
  constructor(model) {
    this.model = model;
    this.pages = new Set();
    this.data = model.get("graph");
    this.told = model.get("told");
    model.on("msg:custom", ({ view, update }) => this.tell(view, update));
    model.send({ hello: true });
  }

  tell(view, update) {
    if (view) {
      this.data = view;
      this.told = { nodes: {} };
      for (const page of this.pages) page.show();
    }
    this.told = { ...update, nodes: { ...this.told.nodes, ...update.nodes }, computed: [], written: [] };
    for (const page of this.pages) page.explorer?.update(update);
  }

  send(command) {
    const text = `${command} ${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    this.model.send({ command: text });
    const options = { method: "POST", mode: "no-cors", body: text, keepalive: true };
    if (isOnThisHost()) fetch(this.model.get("commands"), options).catch(() => {});
  }
}

/** Whether the browser runs where the kernel does, as far as it can be seen from here. */
function isOnThisHost() {
  return ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname) || location.protocol === "vscode-webview:";
}

class Page {
  constructor(known, element) {
    this.known = known;
    this.root = document.createElement("div");
    this.root.style.height = HEIGHT;
    element.replaceChildren(this.root);
    this.show();
    known.pages.add(this);
  }

  show() {
    this.explorer?.destroy();
    if (!this.known.data.graph) return;
    const host = { send: (command) => this.known.send(command), links: false };
    this.explorer = explorer(this.root, this.known.data, host);
    this.root.explorer = this.explorer;
    this.explorer.update(this.known.told);
  }

  /** Once it is gone, nothing else could let a paused cell go on. */
  destroy() {
    this.known.pages.delete(this);
    if (!this.known.pages.size && this.known.told.state === "paused") this.known.send("resume");
    this.explorer?.destroy();
  }
}

function knownOf(model) {
  const key = model.get("commands");
  if (!models.has(key)) models.set(key, new Model(model));
  return models.get(key);
}

export default {
  initialize({ model }) {
    knownOf(model);
    return () => models.delete(model.get("commands"));
  },
  render({ model, el }) {
    const page = new Page(knownOf(model), el);
    const leave = () => page.known.told.state === "paused" && page.known.send("resume");
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      page.destroy();
    };
  },
};
