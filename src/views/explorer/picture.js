// The picture: a scene on a canvas that moves and zooms, with what is marked in it; or as SVG.

const COLOURS = [
  "paper", "even", "odd", "ink", "faint", "line", "pale", "part",
  ...["variable", "entry", "stage", "hook", "valid", "stale", "not-computed"].flatMap((n) => [n, `${n}-line`]),
];
const MARKS = ["above", "below", "stale-then", "focus"];
const DASHES = { stale: [5, 3], "not-computed": [2, 2] };
const LINES = {
  prerequisite: { colour: "line", width: 1, text: "is a prerequisite of" },
  stage: { colour: "pale", width: 0.75, text: "comes before" },
  invalidates: { colour: "pale", width: 0.75, dash: [4, 3], text: "invalidates" },
  part: { colour: "part", width: 1, text: "is a part of" },
  read: { colour: "hook-line", width: 1, dash: [1, 3], text: "is read by" },
  write: { colour: "hook-line", width: 1, text: "writes" },
};
const NO_MARKS = { chosen: null, above: new Set(), below: new Set(), stale: new Set(), isLighting: false };
const LEGIBLE = 0.85; // scale in which a node is shown that somebody looks for
const SMALLEST = 8 / 12; // scale of Fit, with texts of 8 px
const LIMITS = [0.02, 8];
const HEAVY = 900; // with more boxes and lines in sight, gestures move the bitmap
const REST = 90; // ms after which it is drawn anew
const FLASH = 700; // ms
const EDGE = 0.2; // of the bitmap beyond each side of the window, to move in

class Picture {
  constructor(element, scene, { onClick, onOpen, onHover, signal }) {
    Object.assign(this, { element, scene, marks: NO_MARKS, found: new Set(), focused: null, flashes: new Map() });
    this.canvas = make(element, "canvas");
    this.context = this.canvas.getContext("2d");
    this.camera = library.zoomIdentity;
    this.drawn = this.camera;
    this.isMoved = false;
    this.frames = 0;
    this.size = [1, 1];
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => { this.colours = null; this.redraw(); }, { signal });
    this.zooming = library.zoom().scaleExtent(LIMITS).clickDistance(4)
      .on("start", () => element.classList.add("moving"))
      .on("end", () => element.classList.remove("moving"))
      .on("zoom", ({ transform, sourceEvent }) => {
        this.camera = transform;
        if (sourceEvent) this.isMoved = true;
        this.redraw(Boolean(sourceEvent));
      });
    this.selection = library.select(element).call(this.zooming).on("dblclick.zoom", null);
    const at = (event) => {
      const { left, top } = element.getBoundingClientRect();
      return this.scene.boxAt(...this.camera.invert([event.clientX - left, event.clientY - top]));
    };
    element.addEventListener("click", (event) => onClick(at(event), event), { signal });
    element.addEventListener("dblclick", (event) => onOpen(at(event)), { signal });
    element.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      const box = at(event);
      if (box !== this.hovered) onHover(box);
      this.hovered = box;
      element.classList.toggle("over", Boolean(box));
    }, { signal });
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(element);
    signal.addEventListener("abort", () => sizes.disconnect());
  }

  // ------------------------------------------------------------------ the camera

  resize() {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (!width || !height || (width === this.size[0] && height === this.size[1])) return;
    this.size = [width, height];
    this.isMoved ? this.redraw() : this.fit(null, this.isFirst);
    if (this.marks.chosen) this.reveal(this.marks.chosen);
  }

  moveTo(x, y, k) {
    this.selection.call(this.zooming.transform, library.zoomIdentity.translate(x, y).scale(k));
  }

  /** Show all, or of a picture that is too large the part round a box, in legible texts. */
  fit(box = null, isFirst = false) {
    const [width, height] = this.size;
    const { scene } = this;
    const whole = Math.min(width / scene.width, height / scene.height, 1.5);
    const k = whole >= SMALLEST ? whole : isFirst ? LEGIBLE : SMALLEST;
    const along = (size, all, start, length) => {
      if (all * k <= size) return (size - all * k) / 2;
      if (start === undefined) return 0;
      return Math.min(0, Math.max(size - all * k, size / 2 - (start + length / 2) * k));
    };
    this.moveTo(along(width, scene.width, box?.x, box?.width), along(height, scene.height, box?.y, box?.height), k);
    this.isMoved = false;
    this.isFirst = isFirst;
  }

  zoomBy(factor) {
    this.isMoved = true;
    this.selection.call(this.zooming.scaleBy, factor, this.size.map((each) => each / 2));
  }

  panBy(x, y) {
    this.isMoved = true;
    this.selection.call(this.zooming.translateBy, x / this.camera.k, y / this.camera.k);
  }

  /** Have a box be seen and read: where it is, or else in the middle. */
  reveal(box) {
    const k = Math.max(this.camera.k, LEGIBLE);
    const { x, y } = k === this.camera.k ? this.camera : { x: NaN, y: NaN };
    const along = (shift, size, start, length, margin) => {
      const [from, to] = [start * k + shift, (start + length) * k + shift];
      return from >= margin && to <= size - margin ? shift : size / 2 - (start + length / 2) * k;
    };
    this.moveTo(
      along(x, this.size[0], box.x, box.width, 12), along(y, this.size[1], box.y, box.height, 28), k);
    this.isMoved = true;
  }

  /** Keep a box where it was on the window, after its place in the picture has changed. */
  keep(before, box) {
    const { x, y, k } = this.camera;
    this.moveTo(x + (before.x - box.x) * k, y + (before.y - box.y) * k, k);
  }

  // ------------------------------------------------------------------ drawing

  /** Draw in the next frame; during a gesture on a large picture, move what was drawn. */
  redraw(isGesture = false) {
    const { camera, drawn } = this;
    if (isGesture && this.isHeavy) {
      const k = camera.k / drawn.k;
      const shift = (now, then, edge) => now - then * k - edge * k + edge;
      this.canvas.style.transform = `translate(${camera.x - drawn.x * k + this.edge[0] * (1 - k)}px, `
        + `${camera.y - drawn.y * k + this.edge[1] * (1 - k)}px) scale(${k})`;
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.redraw(), REST);
      return;
    }
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      this.draw(now);
    });
  }

  palette() {
    if (!this.colours) {
      const style = getComputedStyle(this.element);
      this.colours = Object.fromEntries([
        ...COLOURS.map((name) => [name, style.getPropertyValue(`--sc-${name}`).trim()]),
        ...MARKS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
      ]);
    }
    return this.colours;
  }

  draw(now) {
    const { canvas, context, camera, scene } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = this.size;
    const inSight = (tree) => (tree ? tree.search(
      -camera.x / camera.k, -camera.y / camera.k, (width - camera.x) / camera.k, (height - camera.y) / camera.k) : []);
    this.isHeavy = scene.boxes.length + scene.lines.length > HEAVY
      && inSight(scene.boxTree).length + inSight(scene.lineTree).length > HEAVY;
    this.edge = this.isHeavy ? [Math.round(width * EDGE), Math.round(height * EDGE)] : [0, 0];
    const [edgeX, edgeY] = this.edge;
    const [wide, high] = [width + 2 * edgeX, height + 2 * edgeY];
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(high * ratio);
      Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px`, left: `${-edgeX}px`, top: `${-edgeY}px` });
    }
    canvas.style.transform = "";
    this.drawn = camera;
    this.frames += 1;
    const { x, y, k } = camera;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = this.palette().paper;
    context.fillRect(0, 0, wide, high);
    context.setTransform(ratio * k, 0, 0, ratio * k, ratio * (x + edgeX), ratio * (y + edgeY));
    const view = [(-x - edgeX) / k, (-y - edgeY) / k, (wide - x - edgeX) / k, (high - y - edgeY) / k];
    const pick = (tree, all) => (tree ? tree.search(...view).sort((a, b) => a - b).map((n) => all[n]) : []);
    const pen = new CanvasPen(context, k);
    this.paint(pen, pick(scene.boxTree, scene.boxes), pick(scene.lineTree, scene.lines), now);
    context.setTransform(ratio, 0, 0, ratio, ratio * edgeX, ratio * edgeY);
    this.paintTitles(new CanvasPen(context, 1));
    if (this.flashes.size && !this.calm.matches) this.redraw();
  }

  /** Paint bands, lines, boxes, marks and texts, those of one style together. */
  paint(pen, boxes, lines, now = 0, name = (colour) => this.palette()[colour]) {
    const { scene, marks } = this;
    scene.bands.forEach((band, n) => {
      pen.rect(band.x, band.y, band.width, band.height, { fill: name(n % 2 ? "odd" : "even") });
    });
    const lit = (box) => !marks.isLighting || box === marks.chosen
      || marks.above.has(box) || marks.below.has(box) || marks.stale.has(box);
    const sideOf = (line) => {
      const inside = (set) => [line.source, line.target].every(
        (end) => set.has(scene.boxes[end]) || scene.boxes[end] === marks.chosen);
      if (marks.stale.size && inside(marks.stale)) return "stale-then";
      return inside(marks.above) ? "above" : inside(marks.below) ? "below" : "";
    };
    const shownLines = together(lines, (line) => {
      const side = marks.isLighting ? sideOf(line) : "";
      return marks.isLighting && !side ? null : `${line.kind} ${side}`;
    });
    for (const [key, group] of shownLines) {
      const [kind, side] = key.split(" ");
      const { colour, width, dash } = LINES[kind];
      pen.lines(group, { stroke: name(side || colour), width: side ? 1.5 : width, dash });
    }
    for (const [key, group] of together(boxes, (box) => `${box.look} ${lit(box)} ${box.isGroup}`)) {
      const [look, isLit, isGroup] = key.split(" ");
      const style = {
        fill: name(look), stroke: name(`${look}-line`), dash: DASHES[look], alpha: isLit === "true" ? 1 : 0.2,
      };
      if (isGroup === "true") {
        const behind = group.map((box) => ({ ...box, x: box.x + 4, y: box.y + 4 }));
        pen.boxes(behind, { ...style, dash: [] });
      }
      pen.boxes(group, style);
    }
    const rings = [
      [(box) => marks.above.has(box), "above", 2.5], [(box) => marks.below.has(box), "below", 2.5],
      [(box) => marks.stale.has(box), "stale-then", 2.5], [(box) => this.found.has(box), "focus", 2.5],
      [(box) => box === marks.chosen, "ink", 3],
    ];
    for (const [isMarked, colour, width] of rings) {
      const group = boxes.filter(isMarked);
      if (group.length) pen.boxes(group, { stroke: name(colour), width });
    }
    const changed = boxes.filter((box) => box === marks.changed);
    if (changed.length) pen.boxes(changed, { stroke: name("stale-then"), width: 2, dash: [6, 2] }, 5);
    if (this.isFocusVisible && this.focused && boxes.includes(this.focused)) {
      pen.boxes([this.focused], { stroke: name("focus"), width: 2 }, 4);
    }
    this.paintFlashes(pen, boxes.filter((box) => this.flashes.has(box)), now, name);
    this.paintTexts(pen, boxes, shownLines, lit, name);
  }

  paintFlashes(pen, boxes, now, name) {
    for (const box of boxes) {
      const age = this.calm.matches ? 0 : (now - this.flashes.get(box)) / FLASH;
      if (age < 1) pen.boxes([box], { stroke: name("focus"), width: 4, alpha: 1 - Math.max(0, age) }, 3);
    }
    for (const [box, start] of this.flashes) {
      if (!this.calm.matches && now - start > FLASH) this.flashes.delete(box);
    }
  }

  paintTexts(pen, boxes, shownLines, lit, name) {
    const middle = (box) => box.x + box.width / 2;
    const { chosen } = this.marks;
    for (const [key, group] of together(boxes, (box) => `${lit(box)} ${box === chosen} ${box.isGroup}`)) {
      const [isLit, isChosen, isGroup] = key.split(" ").map((word) => word === "true");
      const style = { fill: name("ink"), align: "center", alpha: isLit ? 1 : 0.3 };
      const texts = group.map((box) => (
        { text: box.label, x: middle(box), y: box.y + (box.height > 24 && !box.remark ? 23 : 16) }));
      pen.texts(texts, { ...style, weight: isChosen ? 700 : isGroup ? 600 : 400 });
      const remarks = group.filter((box) => box.remark)
        .map((box) => ({ text: box.remark, x: middle(box), y: box.y + 30 }));
      if (remarks.length) pen.texts(remarks, { ...style, size: 10 });
    }
    const counted = together([...shownLines.values()].flat().filter((line) => line.edges.length > 1),
      ({ points }) => (points[points.length - 4] > points[points.length - 2] ? "left" : "right"));
    for (const [align, group] of counted) { // beside the head of the arrow, outside of the box
      const side = align === "left" ? 10 : -10;
      pen.texts(group.map(({ edges, points }) => ({
        text: String(edges.length), x: points[points.length - 2] + side, y: points[points.length - 1] - 4,
      })), { size: 9, align, fill: name("faint"), halo: name("paper") });
    }
  }

  /** Titles of columns stay at the upper edge, those of bands at the left one. */
  paintTitles(pen, name = (colour) => this.palette()[colour], isWhole = false) {
    const { scene } = this;
    const { x, y, k } = isWhole ? library.zoomIdentity : this.camera;
    this.titles = [];
    const bands = scene.bands.filter((band) => band.name).map((band) => {
      const text = shortened(band.name, 60);
      const left = Math.max(band.x * k + x, 0) + 8;
      return { text, x: left, y: (band.y + 15) * k + y, size: Math.min(12, Math.max(12 * k, 10)) };
    }).filter((title) => isWhole || (title.y > 0 && title.y < this.size[1] + 12));
    const halo = name("paper");
    let last = -Infinity;
    for (const band of bands.filter((title) => title.y - last >= title.size && (last = title.y))) {
      pen.texts([band], { size: band.size, weight: 600, fill: name("faint"), halo });
      this.titles.push(band);
    }
    const columns = scene.columns.filter((column) => column.title).map((column) => {
      const width = widthOf(column.title, 11, 600);
      const end = (column.x + column.width) * k + x;
      const left = Math.min(Math.max(column.x * k + x, 8), Math.max(column.x * k + x, end - width));
      return { text: column.title, x: left, width, y: Math.max(MARGIN * k + y + 14, 15) };
    });
    if (columns.length && !isWhole && y + MARGIN * k < 0) {
      pen.rect(0, 0, this.size[0], 21, { fill: name("paper"), alpha: 0.85 });
    }
    let right = -Infinity;
    for (const column of columns) {
      if (column.x < right || (!isWhole && (column.x > this.size[0] || column.x + column.width < 0))) continue;
      pen.texts([column], { size: 11, weight: 600, fill: name("faint"), halo });
      this.titles.push(column);
      right = column.x + column.width + 8;
    }
  }

  flash(nodes) {
    const now = performance.now();
    if (this.calm.matches) this.flashes.clear();
    for (const node of nodes) {
      const box = this.scene.boxOf.get(node);
      if (box) this.flashes.set(box, now);
    }
    this.redraw();
  }

  /** All of the picture as SVG; by default in the colours that are seen. */
  svg(name = (colour) => this.palette()[colour]) {
    const { scene } = this;
    const pen = new SvgPen();
    const width = Math.max(scene.width, 360, widthOf(scene.graph.title, 14, 600) + 2 * MARGIN);
    const shift = 26;
    pen.rect(0, 0, width, scene.height + shift, { fill: name("paper") });
    pen.texts([{ text: scene.graph.title, x: MARGIN, y: 20 }], { size: 14, weight: 600, fill: name("ink") });
    pen.parts.push(`<g transform="translate(0 ${shift})">`);
    const { focused, flashes } = this;
    Object.assign(this, { focused: null, flashes: new Map() });
    this.paint(pen, scene.boxes, scene.lines, 0, name);
    const { titles } = this;
    this.paintTitles(pen, name, true);
    Object.assign(this, { focused, flashes, titles });
    pen.parts.push("</g>");
    return pen.document(width, scene.height + shift, scene.graph.title || "dependency graph");
  }
}

/** Items by the text that a function returns for each; those with null are left out. */
function together(items, keyOf) {
  const found = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    if (found.has(key)) found.get(key).push(item);
    else found.set(key, [item]);
  }
  return found;
}
