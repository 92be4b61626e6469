// Places of boxes and lines: stages are columns, subsystems are bands.
//
// The method of Sugiyama, as in layout/layout.py: layers in a column by longest paths, bends where a
// line passes a layer, an order with few crossings by barycentres, and heights near those of the
// neighbours. Small numbers in typed arrays: 150 boxes take some milliseconds, 3,000 about a tenth
// of a second.

const GAP_X = 34, GAP_Y = 10, BEND = 7, MARGIN = 12, TITLE = 22;
const ROWS = 60, FEWEST_ROWS = 6; // boxes below each other: over all bands, and in each
const MOST_PASSES = 40000; // with more passes of lines through layers, none bends
const SWEEPS = 12, PATIENCE = 3, PLACINGS = 10;
const MOST_ORDERED = 8000; // with more items, the order is the order of the model

/**
 * Lay out boxes {column, band, width, height, isSteady} and lines {source, target, kind}, which are
 * numbers of boxes. Boxes get x and y; lines get points: from the first to the second, the third to
 * the fourth and so on they run straight, and change their height in between.
 */
function layOut(boxes, lines, titles) {
  const bands = [...new Set(boxes.map((box) => box.band))];
  const bandOf = boxes.map((box) => bands.indexOf(box.band));
  const { layerOf, firsts, columns } = layersOf(boxes, lines, bandOf, bands.length, titles);
  const numLayers = firsts[firsts.length - 1];
  const chains = bendsOf(boxes, lines, layerOf, bandOf);
  const { bends } = chains;
  const number = boxes.length + bends.length;
  const heights = new Float64Array(number).fill(BEND);
  const weights = new Float64Array(number).fill(4);
  boxes.forEach((box, n) => {
    heights[n] = box.height + GAP_Y;
    weights[n] = box.isSteady ? 100 : 1;
  });
  const before = Array.from({ length: number }, () => new Set());
  const after = Array.from({ length: number }, () => new Set());
  lines.forEach((line, n) => {
    if (line.source === line.target) return;
    const items = chains.of[n];
    for (let i = 1; i < items.length; i += 1) {
      before[items[i]].add(items[i - 1]);
      after[items[i - 1]].add(items[i]);
    }
  });
  const lists = [before, after].map((sets) => sets.map((set) => [...set]));
  let cells = Array.from({ length: numLayers }, () => bands.map(() => []));
  boxes.forEach((_, n) => cells[layerOf[n]][bandOf[n]].push(n));
  bends.forEach((bend, n) => cells[bend.layer][bend.band].push(boxes.length + n));
  if (number <= MOST_ORDERED) cells = ordered(cells, ...lists, number);

  const widths = new Float64Array(numLayers).fill(40);
  boxes.forEach((box, n) => { widths[layerOf[n]] = Math.max(widths[layerOf[n]], box.width); });
  const lefts = [];
  const places = [];
  let x = 2 * MARGIN;
  columns.forEach((column, c) => {
    const start = x;
    for (let layer = firsts[c]; layer < firsts[c + 1]; layer += 1) {
      const passing = cells[layer].flat().reduce((sum, item) => sum + lists[1][item].length, 0);
      if (layer === firsts[c + 1] - 1) {
        widths[layer] = Math.max(widths[layer], column.width - (x - start));
      }
      lefts.push(x);
      x += widths[layer] + GAP_X + Math.min(passing, 2 * GAP_X);
    }
    const end = lefts[lefts.length - 1] + widths[firsts[c + 1] - 1];
    places.push({ title: column.title, x: start, width: end - start });
  });
  const width = lefts.length ? lefts[lefts.length - 1] + widths[numLayers - 1] + 2 * MARGIN : 4 * MARGIN;

  let y = MARGIN + TITLE;
  const bounds = [];
  const rows = bands.map((band, b) => {
    const highest = Math.max(...cells.map(
      (layer) => layer[b].reduce((sum, item) => sum + heights[item], 0)));
    const top = y + (band ? TITLE : GAP_Y / 2);
    const height = highest + GAP_Y / 2 + (band ? TITLE : GAP_Y / 2);
    bounds.push([top, y + height - GAP_Y / 2]);
    const row = { name: band, x: MARGIN, y, width: width - 2 * MARGIN, height };
    y += height + 2;
    return row;
  });
  const middles = placed(cells, lists, heights, weights, bounds, boxes.length);
  boxes.forEach((box, n) => {
    box.x = lefts[layerOf[n]];
    box.y = middles[n] - box.height / 2;
    box.width = widths[layerOf[n]];
  });
  lines.forEach((line, n) => {
    const items = chains.of[n];
    const box = boxes[items[0]];
    if (line.source === line.target) {
      const [right, middle] = [box.x + box.width, box.y + box.height / 2];
      line.points = [right, middle - 6, right + 12, middle - 6, right + 12, middle + 6, right, middle + 6];
      return;
    }
    const right = box.x + box.width;
    const points = [right, middles[items[0]], right + 4, middles[items[0]]];
    for (let i = 1; i < items.length - 1; i += 1) {
      const { layer } = bends[items[i] - boxes.length];
      points.push(lefts[layer], middles[items[i]], lefts[layer] + widths[layer], middles[items[i]]);
    }
    const last = items[items.length - 1];
    const left = lefts[layerOf[last]];
    if (layerOf[last] === layerOf[items[0]]) { // side by side in a cycle: around, at the right
      points.push(right + 14, middles[last], boxes[last].x + boxes[last].width, middles[last]);
    } else points.push(left - 8, middles[last], left, middles[last]);
    if (line.source === last) {
      for (let i = 0, j = points.length - 2; i < j; i += 2, j -= 2) {
        [points[i], points[i + 1], points[j], points[j + 1]] = [points[j], points[j + 1], points[i], points[i + 1]];
      }
    }
    line.points = points;
  });
  return { bands: rows, columns: places, width, height: rows.length ? y - 2 + MARGIN : 2 * MARGIN + TITLE };
}

/** The layer of each box; columns, and the first layer of each. */
function layersOf(boxes, lines, bandOf, numBands, titles) {
  const most = Math.max(FEWEST_ROWS, Math.floor(ROWS / Math.max(numBands, 1)));
  const used = [...new Set(boxes.map((box) => box.column))].sort((a, b) => a - b);
  const layerOf = new Int32Array(boxes.length);
  const inside = new Map(used.map((column) => [column, []]));
  boxes.forEach((box, n) => inside.get(box.column).push(n));
  const below = boxes.map(() => []);
  for (const { source, target } of lines) {
    if (source !== target && boxes[source].column === boxes[target].column) below[source].push(target);
  }
  const depths = depthsOf(boxes.length, below);
  const firsts = [0];
  for (const column of used) {
    const items = inside.get(column);
    const byDepth = [];
    for (const item of items) (byDepth[depths[item]] ||= []).push(item);
    let first = firsts[firsts.length - 1];
    for (const level of byDepth) {
      if (!level) continue;
      const total = new Int32Array(numBands);
      for (const item of level) total[bandOf[item]] += 1;
      const seen = new Int32Array(numBands);
      for (const item of level) {
        const band = bandOf[item];
        layerOf[item] = first + Math.floor((seen[band] * Math.ceil(total[band] / most)) / total[band]);
        seen[band] += 1;
      }
      first += Math.max(...total.map((n) => Math.ceil(n / most)));
    }
    firsts.push(first);
  }
  return { layerOf, firsts, columns: used.map((column) => titles[column]) };
}

/** Lengths of the longest paths to each item; an edge that closes a cycle does not count. */
function depthsOf(number, below) {
  const state = new Uint8Array(number); // 1: entered, 2: done
  const done = [];
  const closing = new Set();
  for (let start = 0; start < number; start += 1) {
    if (state[start]) continue;
    const stack = [[start, 0]];
    state[start] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      const [item, next] = top;
      if (next === below[item].length) {
        state[item] = 2;
        done.push(item);
        stack.pop();
        continue;
      }
      top[1] += 1;
      const target = below[item][next];
      if (state[target] === 1) closing.add(item * number + target);
      else if (!state[target]) {
        state[target] = 1;
        stack.push([target, 0]);
      }
    }
  }
  const depths = new Int32Array(number);
  for (const item of done.reverse()) {
    for (const target of below[item]) {
      if (!closing.has(item * number + target)) depths[target] = Math.max(depths[target], depths[item] + 1);
    }
  }
  return depths;
}

/** Bends, and for each line the items that it passes, from left to right. */
function bendsOf(boxes, lines, layerOf, bandOf) {
  const bends = [];
  const numbers = new Map();
  const of = [];
  let passes = 0;
  for (const { source, target, kind } of lines) {
    const isForward = layerOf[source] <= layerOf[target];
    const [left, right] = isForward ? [source, target] : [target, source];
    const chain = [left];
    passes += Math.max(0, layerOf[right] - layerOf[left] - 1);
    const isMerged = kind === "invalidates" || kind === "part"; // with others to the same target
    const shared = isMerged ? `${right} ${bandOf[left]}` : `${left}`;
    for (let layer = layerOf[left] + 1; layer < layerOf[right]; layer += 1) {
      const key = `${shared} ${kind} ${isForward} ${layer}`;
      if (!numbers.has(key)) {
        numbers.set(key, boxes.length + bends.length);
        bends.push({ layer, band: bandOf[left] });
      }
      chain.push(numbers.get(key));
    }
    chain.push(right);
    of.push(chain);
    if (passes > MOST_PASSES) {
      return { bends: [], of: lines.map((line) => (
        layerOf[line.source] <= layerOf[line.target] ? [line.source, line.target] : [line.target, line.source])) };
    }
  }
  return { bends, of };
}

/** The best order that was found: each layer is sorted by the mean place of its neighbours. */
function ordered(cells, before, after, number) {
  let best = cells, fewest = crossingsOf(cells, before, number);
  let current = cells, lastBetter = -1;
  for (let sweep = 0; sweep < SWEEPS && fewest && sweep - lastBetter <= PATIENCE; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const neighbours = isForward ? before : after;
    const places = placesOf(current, number);
    const next = current.map(() => null);
    const order = [...current.keys()];
    for (const layer of isForward ? order : order.reverse()) {
      let place = 0;
      next[layer] = current[layer].map((cell) => {
        const means = new Map();
        for (const item of cell) {
          if (!neighbours[item].length) continue;
          let sum = 0;
          for (const other of neighbours[item]) sum += places[other];
          means.set(item, sum / neighbours[item].length);
        }
        const inOrder = [...means.keys()].sort((a, b) => means.get(a) - means.get(b)).values();
        const chosen = cell.map((item) => (means.has(item) ? inOrder.next().value : item));
        for (const item of chosen) places[item] = place++;
        return chosen;
      });
    }
    current = next;
    const crossings = crossingsOf(current, before, number);
    if (crossings < fewest) [best, fewest, lastBetter] = [current, crossings, sweep];
  }
  return best;
}

function placesOf(cells, number) {
  const places = new Int32Array(number);
  for (const layer of cells) {
    let place = 0;
    for (const cell of layer) for (const item of cell) places[item] = place++;
  }
  return places;
}

/** Pairs of lines that cross between neighbouring layers, counted with a Fenwick tree. */
function crossingsOf(cells, before, number) {
  const places = placesOf(cells, number);
  let crossings = 0;
  for (const layer of cells) {
    const size = layer.reduce((sum, cell) => (
      cell.reduce((most, item) => before[item].reduce((m, n) => Math.max(m, places[n] + 1), most), sum)), 0);
    const tree = new Int32Array(size + 1);
    let total = 0;
    for (const cell of layer) {
      for (const item of cell) {
        for (const other of before[item]) {
          let upTo = 0;
          for (let i = places[other] + 1; i > 0; i -= i & -i) upTo += tree[i];
          crossings += total - upTo;
        }
        for (const other of before[item]) {
          for (let i = places[other] + 1; i <= size; i += i & -i) tree[i] += 1;
          total += 1;
        }
      }
    }
  }
  return crossings;
}

/** The middle of each item: near its neighbours, in this order, without overlap, in its band. */
function placed(cells, [before, after], heights, weights, bounds, numBoxes) {
  const at = new Float64Array(heights.length);
  for (const layer of cells) {
    layer.forEach((cell, band) => {
      let here = bounds[band][0];
      for (const item of cell) {
        at[item] = here + heights[item] / 2;
        here += heights[item];
      }
    });
  }
  const both = before.map((list, item) => (item < numBoxes ? [...list, ...after[item]] : list));
  for (let sweep = 0; sweep < PLACINGS; sweep += 1) {
    const neighbours = sweep >= PLACINGS / 2 ? both : sweep % 2 ? after : before;
    const order = sweep % 2 ? [...cells].reverse() : cells;
    for (const layer of order) {
      layer.forEach((cell, band) => spread(cell, neighbours, at, heights, weights, bounds[band]));
    }
  }
  return at;
}

/** Pool neighbours that are in each other's way (isotonic regression). */
function spread(cell, neighbours, at, heights, weights, [low, end]) {
  const pools = [];
  const offsets = [];
  let total = 0;
  for (const item of cell) {
    const offset = total + heights[item] / 2;
    offsets.push(offset);
    total += heights[item];
    let sum = 0, weight = 0;
    for (const other of neighbours[item]) {
      sum += weights[other] * at[other];
      weight += weights[other];
    }
    let pool = { mean: (weight ? sum / weight : at[item]) - offset, weight: weights[item], size: 1 };
    while (pools.length && pools[pools.length - 1].mean > pool.mean) {
      const other = pools.pop();
      const both = pool.weight + other.weight;
      pool = {
        mean: (pool.mean * pool.weight + other.mean * other.weight) / both,
        weight: both, size: pool.size + other.size,
      };
    }
    pools.push(pool);
  }
  const high = Math.max(low, end - total);
  let i = 0;
  for (const { mean, size } of pools) {
    const start = Math.min(Math.max(mean, low), high);
    for (let n = 0; n < size; n += 1, i += 1) at[cell[i]] = start + offsets[i];
  }
}
