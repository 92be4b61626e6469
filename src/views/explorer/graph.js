// The program of the page: this file and those that follow it, as one module. Here: nodes and edges.
// They come in the same order in the picture as in the data.

const byId = (id) => document.getElementById(id);
const svg = document.querySelector("#picture svg");
const panel = byId("panel");
const graph = JSON.parse(byId("graph").textContent);
const impacts = JSON.parse(byId("impacts").textContent);

const shapes = svg.querySelectorAll(".node");
const shift = shapes.length ? shapes[0].parentNode.transform.baseVal.consolidate().matrix.f : 0;
const nodes = graph.nodes.map((info, number) => {
  const shape = shapes[number];
  const { x, y, width, height } = shape.getBBox();
  const words = [info.path, info.kind, info.variant, info.subsystem, info.stage, info.status];
  return {
    ...info, number, shape, x: x + width / 2, y: y + shift + height / 2, half: width / 2,
    above: [], below: [], words: words.join(" ").toLowerCase(), isShown: true,
  };
});
const nodeAt = new Map(nodes.map((node) => [node.path, node]));
const lines = svg.querySelectorAll(".edge");
const edges = graph.edges.map((info, number) => {
  const edge = { kind: info.kind, shape: lines[number] };
  edge.source = nodeAt.get(info.source);
  edge.target = nodeAt.get(info.target);
  edge.source.below.push(edge);
  edge.target.above.push(edge);
  return edge;
});
const variables = nodes.filter((node) => node.kind === "variable");

/** All nodes that are reached from some along edges, "above" or "below" them, these included. */
function reached(start, side, follows = () => true) {
  const found = new Set(start);
  for (const node of found) {
    for (const edge of node[side]) {
      if (follows(edge)) found.add(side === "above" ? edge.source : edge.target);
    }
  }
  return found;
}

/** What a write of a variable makes stale: as a State told, or else by the edges. */
function impactOf(variable) {
  const given = impacts[variable.number];
  if (given) {
    return { stale: given.stale.map((n) => nodes[n]), others: given.others, isGiven: true };
  }
  const written = reached([variable], "above", (edge) => edge.kind === "part");
  const below = [...reached(written, "below")].filter((node) => node.kind !== "variable");
  return { stale: below, others: 0, isGiven: false };
}
