// What is shown: boxes for nodes and groups, lines between them, and their places.

const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const LONGEST = 30; // characters of a label; a longer one loses its middle
const ruler = new OffscreenCanvas(1, 1).getContext("2d");

function widthOf(text, size = 12, weight = 400) {
  ruler.font = `${weight} ${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

function shortened(text, longest = LONGEST) {
  const line = [...(text.split(/\s+/).filter(Boolean).join(" ") || "␣")];
  if (line.length <= longest) return line.join("");
  const half = (longest - 1) >> 1;
  return `${line.slice(0, longest - 1 - half).join("")}…${line.slice(line.length - half).join("")}`;
}

const LOOKS = {
  valid: "valid", stale: "stale", "not computed": "not-computed",
  realized: "valid", "not realized": "not-computed",
};
const URGENCY = ["stale", "not computed", "valid", "not realized", "realized", "value", ""];

class Scene {
  constructor(graph, folds) {
    this.graph = graph;
    this.folds = folds;
    this.hiddenEdges = new Set(); // kinds
    this.number = 0; // of layouts that were made
    const named = new Set(graph.nodes.map(columnOf));
    const later = graph.stages.length ? this.afterAStage() : new Set();
    this.titles = [
      { title: "variables", name: "variables" }, { title: "", name: "" },
      ...graph.stages.map((name) => ({ title: name, name: `stage ${name}` })), { title: "", name: "after" },
    ];
    const place = new Map(this.titles.map(({ name }, n) => [name, n]));
    for (const name of named) {
      if (!place.has(name)) {
        place.set(name, this.titles.length);
        this.titles.push({ title: name.slice("stage ".length), name });
      }
    }
    for (const each of this.titles) each.width = each.title ? widthOf(each.title, 11) + 16 : 0;
    for (const node of graph.nodes) {
      const name = columnOf(node);
      node.place = place.get(name === "" && later.has(node) ? "after" : name);
    }
  }

  /** Nodes without a stage stand after those that have one, if they depend on these. */
  afterAStage() {
    return reached(this.graph.nodes.filter((n) => columnOf(n) && n.kind !== "variable"), "below");
  }

  /** Make boxes and lines of the nodes that `isShown` leaves, and lay them out. */
  make(isShown, hasCosts) {
    this.items = this.folds.boxes(isShown);
    const boxOf = new Map(); // of nodes
    this.boxes = this.items.map((item, number) => {
      const isGroup = item instanceof Group;
      const members = isGroup ? [...item.members()].filter(isShown) : [item];
      const box = { number, item, isGroup, members, node: isGroup ? null : item };
      for (const node of members) boxOf.set(node, box);
      return describe(box, hasCosts);
    });
    const lines = new Map();
    for (const node of boxOf.keys()) {
      const source = boxOf.get(node).number;
      for (const edge of node.below) {
        const target = boxOf.get(edge.target)?.number;
        if (target === undefined || this.hiddenEdges.has(edge.kind)) continue;
        if (target === source && boxOf.get(node).isGroup) continue;
        const key = source * this.boxes.length + target;
        const line = lines.get(key);
        if (line) line.edges.push(edge);
        else lines.set(key, { source, target, kind: edge.kind, edges: [edge] });
      }
    }
    this.boxOf = boxOf;
    this.lines = [...lines.values()];
    for (const line of this.lines) {
      if (line.edges.some((edge) => edge.kind === "prerequisite")) line.kind = "prerequisite";
    }
    Object.assign(this, layOut(this.boxes, this.lines, this.titles));
    this.number += 1;
    this.boxTree = treeOf(this.boxes.map((b) => [b.x, b.y, b.x + b.width, b.y + b.height]));
    this.lineTree = treeOf(this.lines.map(({ points }) => {
      const bounds = [Infinity, Infinity, -Infinity, -Infinity];
      for (let i = 0; i < points.length; i += 2) {
        bounds[0] = Math.min(bounds[0], points[i]);
        bounds[1] = Math.min(bounds[1], points[i + 1]);
        bounds[2] = Math.max(bounds[2], points[i]);
        bounds[3] = Math.max(bounds[3], points[i + 1]);
      }
      return bounds;
    }));
  }

  boxAt(x, y) {
    const found = this.boxTree ? this.boxTree.search(x, y, x, y) : [];
    return found.length ? this.boxes[found[0]] : null;
  }

  /** Look again at statuses and counts, which may have changed; places stay. */
  refresh(nodes, hasCosts) {
    const boxes = new Set(nodes.map((node) => this.boxOf.get(node)).filter(Boolean));
    for (const box of boxes) {
      const { width, height } = box;
      Object.assign(describe(box, hasCosts), { width, height });
    }
  }
}

function treeOf(bounds) {
  if (!bounds.length) return null;
  const tree = new library.Flatbush(bounds.length);
  for (const each of bounds) tree.add(...each);
  tree.finish();
  return tree;
}

/** Name of the column of a node: of the stage to which it belongs. */
function columnOf(node) {
  const stage = node.column || (node.kind === "variable" ? "" : node.stage);
  if (stage) return `stage ${stage}`;
  return node.kind === "variable" ? "variables" : "";
}

/** Counts of statuses in words, the most urgent first. */
function statusesOf(members) {
  const counts = new Map(URGENCY.map((status) => [status, 0]));
  for (const { status } of members) counts.set(status, (counts.get(status) || 0) + 1);
  return [...counts].filter(([status, number]) => number && status && status !== "value");
}

/** Set all of a box but its place. */
function describe(box, hasCosts) {
  const { item, members, isGroup } = box;
  const kinds = new Set(members.map((node) => node.kind));
  const statuses = statusesOf(members);
  const kind = kinds.size === 1 ? members[0].kind : "entry";
  box.kind = kind;
  box.look = LOOKS[statuses[0]?.[0]] || (kind === "entry" && isGroup && kinds.size > 1 ? "entry" : kind);
  box.title = isGroup ? item.label(members.length) : item.path;
  box.label = shortened(isGroup ? box.title : ownName(item), isGroup ? 40 : LONGEST);
  if (isGroup) {
    const words = statuses.map(([status, number]) => `${number} ${status}`).join(" · ");
    box.remark = words || `${members.length} nodes`;
    const places = members.filter((node) => kinds.size === 1 || node.kind === "entry").map((node) => node.place);
    box.column = (places.length ? places : members.map((node) => node.place)).reduce((a, b) => Math.min(a, b));
    box.band = item.sort === "subsystem" || item.sort === "alike" ? "" : item.subsystem;
  } else {
    box.remark = hasCosts ? costOf(item) : "";
    box.column = item.place;
    box.band = item.subsystem;
  }
  box.isSteady = kind === "stage";
  box.height = isGroup || (hasCosts && kind !== "stage") ? 38 : 24;
  box.width = Math.ceil(Math.max(widthOf(box.label, 12, 500) + 20, widthOf(box.remark, 10) + 20, hasCosts ? 90 : 0));
  return box;
}

const costOf = ({ count: times, seconds }) => [
  times ? `${times} ×` : "", seconds === null ? "" : duration(seconds),
].filter(Boolean).join(" · ");

function duration(seconds) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [size, unit] = units.find(([least]) => seconds >= least) || [1e-9, "ns"];
  return `${(seconds / size).toPrecision(3)} ${unit}`;
}
