// Nodes and edges, and answers that follow from them. Data come in columns: see formats/page_data.py.

const DEFAULTS = {
  variant: "", subsystem: "", stage: "", computed_by: "", status: "", version: null, value: "",
  file: "", line: 0, seconds: null, hit_rate: null, waits_for: "", column: "", family: "", alike: "",
};

/** Values of a column: as they are, or numbers of words that occur often. */
function unpacked(column, number, missing) {
  if (column === undefined) return new Array(number).fill(missing);
  return Array.isArray(column) ? column : column.of.map((word) => column.words[word]);
}

/** Numbers from pairs of a gap after the last run and the length of the next one. */
function fromRuns(runs) {
  const found = [];
  let next = 0;
  for (let i = 0; i < runs.length; i += 2) {
    next += runs[i];
    for (let end = next + runs[i + 1]; next < end; next += 1) found.push(next);
  }
  return found;
}

const parsed = (data) => (typeof data === "string" ? JSON.parse(data) : data);

/** Whether a change goes along an edge: what hooks read and write is shown, but invalidates nothing. */
const isFlow = (edge) => edge.kind !== "read" && edge.kind !== "write";

class Graph {
  constructor(data) {
    const { title, stages, nodes, edges } = parsed(data.graph);
    this.title = title;
    this.stages = stages;
    this.given = { ...data };
    const number = nodes.path.length;
    const columns = Object.entries(DEFAULTS).map(
      ([name, missing]) => [name, unpacked(nodes[name], number, missing)]);
    const kinds = unpacked(nodes.kind, number, "entry");
    this.nodes = nodes.path.map((path, n) => {
      const node = { number: n, path, kind: kinds[n], count: null, above: [], below: [], parent: null };
      for (const [name, values] of columns) node[name] = values[n];
      return node;
    });
    this.at = new Map(this.nodes.map((node) => [node.path, node]));
    const edgeKinds = unpacked(edges.kind, edges.source.length, "prerequisite");
    this.edges = edges.source.map((source, n) => {
      const edge = { source: this.nodes[source], target: this.nodes[edges.target[n]], kind: edgeKinds[n] };
      edge.source.below.push(edge);
      edge.target.above.push(edge);
      return edge;
    });
    this.variables = this.nodes.filter((node) => node.kind === "variable");
  }

  /** Impacts and reasons are decoded when somebody asks for the first time. */
  get impacts() {
    if (!this.decodedImpacts) {
      const { sets = [], of = {}, edges = [] } = parsed(this.given.impacts || "{}");
      this.decodedImpacts = { sets, of, byEdges: new Set(fromRuns(edges)) };
    }
    return this.decodedImpacts;
  }

  get reasons() {
    this.decodedReasons ||= parsed(this.given.reasons || "{}");
    return this.decodedReasons;
  }

  /** Take the reasons of now: those that were given before do not count any more. */
  takeReasons(reasons) {
    this.given.reasons = reasons;
    this.decodedReasons = null;
  }

  /** Reason why a node is not valid, or null: text, path, variable, file, line and seconds. */
  reasonOf(node) {
    if (node.status !== "stale" && node.status !== "not computed") return null;
    const found = this.reasons.of?.[node.number];
    if (!found) return null;
    const [parts, variable, file, line, seconds] = found;
    const { words } = this.reasons;
    const text = parts.map((part) => (part < 0 ? this.nodes[-1 - part].path : words[part])).join("");
    return {
      text, path: this.pathOf(node.number), variable: this.nodes[variable] || null,
      file: words[file] || "", line: line || 0, seconds: seconds ?? null,
    };
  }

  /** Nodes from the cause to a node: each has the number of the one before. */
  pathOf(number) {
    const path = [];
    for (let here = number; ;) {
      const before = this.reasons.paths[here];
      if (Array.isArray(before)) return [...before, ...path].map((n) => this.nodes[n]);
      path.unshift(here);
      if (before === undefined) return path.map((n) => this.nodes[n]);
      here = before;
    }
  }

  /** Stale entries after a write of a variable: as a State told, or else by the edges. */
  impactOf(variable) {
    const set = this.impacts.of[variable.number];
    if (set !== undefined && !this.isLive) {
      const [runs, others] = this.impacts.sets[set];
      return { stale: fromRuns(runs).map((n) => this.nodes[n]), others, isGiven: true };
    }
    const isGiven = this.isLive || this.impacts.byEdges.has(variable.number);
    const written = reached([variable], "above", (edge) => edge.kind === "part");
    const below = [...reached(written, "below")].filter((node) => (
      node.kind !== "variable" && node.kind !== "hook" && (!isGiven || node.status === "valid")));
    return { stale: below, others: 0, isGiven };
  }
}

/** All nodes that are reached from some along edges, "above" or "below" them, these included. */
function reached(starts, side, follows = isFlow, depth = Infinity) {
  const found = new Set(starts);
  let ring = [...found];
  for (let step = 0; step < depth && ring.length; step += 1) {
    const next = [];
    for (const node of ring) {
      for (const edge of node[side]) {
        const other = side === "above" ? edge.source : edge.target;
        if (follows(edge) && !found.has(other)) {
          found.add(other);
          next.push(other);
        }
      }
    }
    ring = next;
  }
  return found;
}

/** Nodes on all paths from one node down to another, and a shortest one; null without a path. */
function between(from, to, follows) {
  const came = new Map([[from, null]]);
  for (const node of came.keys()) {
    for (const edge of node.below) {
      if (follows(edge) && !came.has(edge.target)) came.set(edge.target, node);
    }
  }
  if (!came.has(to)) return null;
  const shortest = [];
  for (let node = to; node; node = came.get(node)) shortest.unshift(node);
  const above = reached([to], "above", follows);
  return { all: new Set([...above].filter((node) => came.has(node))), shortest };
}
