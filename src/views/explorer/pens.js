// Two pens that draw the same things: one on a canvas, one as SVG.
//
// A style is {fill, stroke, width, dash, alpha}. Shapes of one style come together, so that the canvas
// has to stroke once for them all.

const HEAD = 7; // length of the head of an arrow

/** Call a pen along the points of a line: straight, then a change of height, in turn. */
function trace(points, path, isCoarse) {
  let [x, y] = points;
  path.moveTo(x, y);
  for (let i = 2; i < points.length; i += 2) {
    const [toX, toY] = [points[i], points[i + 1]];
    if (isCoarse || i % 4 === 2 || toY === y) path.lineTo(toX, toY);
    else {
      const middle = (x + toX) / 2;
      path.bezierCurveTo(middle, y, middle, toY, toX, toY);
    }
    [x, y] = [toX, toY];
  }
}

function traceHead(points, path) {
  const [before, , x, y] = points.slice(-4);
  const back = x >= before ? -HEAD : HEAD;
  path.moveTo(x, y);
  path.lineTo(x + back, y - 3.5);
  path.lineTo(x + back, y + 3.5);
  path.closePath();
}

/** A pill for a variable, a hexagon for a stage, a slanted box for a hook, else a box. */
function traceBox({ kind, x, y, width, height }, path, grow = 0) {
  const [left, top, right, bottom] = [x - grow, y - grow, x + width + grow, y + height + grow];
  const corners = (...points) => {
    points.forEach(([a, b], n) => (n ? path.lineTo(a, b) : path.moveTo(a, b)));
    path.closePath();
  };
  const middle = (top + bottom) / 2;
  if (kind === "stage") {
    corners([left, middle], [left + 8, top], [right - 8, top], [right, middle], [right - 8, bottom], [left + 8, bottom]);
  } else if (kind === "hook") {
    corners([left + 8, top], [right, top], [right - 8, bottom], [left, bottom]);
  } else path.roundRect(left, top, right - left, bottom - top, kind === "variable" ? (bottom - top) / 2 : 3);
}

class CanvasPen {
  constructor(context, scale) {
    this.context = context;
    this.scale = scale;
  }

  set({ fill, stroke, width = 1, dash = [], alpha = 1 }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.setLineDash(dash);
    context.lineWidth = width;
    if (fill) context.fillStyle = fill;
    if (stroke) context.strokeStyle = stroke;
  }

  rect(x, y, width, height, style) {
    this.set(style);
    this.context.fillRect(x, y, width, height);
  }

  lines(lines, style) {
    const { context, scale } = this;
    this.set({ ...style, dash: scale < 0.3 ? [] : style.dash });
    context.beginPath();
    for (const line of lines) trace(line.points, context, scale < 0.3);
    context.stroke();
    if (scale < 0.3) return;
    context.fillStyle = style.stroke;
    context.beginPath();
    for (const line of lines) traceHead(line.points, context);
    context.fill();
  }

  boxes(boxes, style, grow = 0) {
    const { context, scale } = this;
    this.set({ ...style, dash: scale < 0.3 ? [] : style.dash });
    context.beginPath();
    for (const box of boxes) {
      if (scale < 0.3) context.rect(box.x, box.y, box.width, box.height);
      else traceBox(box, context, grow);
    }
    if (style.fill) context.fill();
    if (style.stroke) context.stroke();
  }

  /** Texts are {text, x, y}; a halo of the colour of the ground makes them legible on lines. */
  texts(texts, { size = 12, weight = 400, align = "left", halo, ...style }) {
    if (size * this.scale < 4) return;
    const { context } = this;
    this.set(style);
    context.font = `${weight} ${size}px ${FONT}`;
    context.textAlign = align;
    if (halo) {
      context.strokeStyle = halo;
      context.lineWidth = 3;
      context.lineJoin = "round";
      for (const { text, x, y } of texts) context.strokeText(text, x, y);
    }
    for (const { text, x, y } of texts) context.fillText(text, x, y);
  }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const ILLEGAL = /[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // what XML cannot hold
const escaped = (text) => String(text).replace(ILLEGAL, "\ufffd").replace(/[&<>"]/g, (c) => ESCAPES[c]);
const short = (number) => String(Math.round(number * 10) / 10);

/** Data of an SVG path, by the calls that draw on a canvas. */
class PathData {
  constructor() { this.data = ""; }

  moveTo(...at) { this.data += `M${at.map(short)}`; }

  lineTo(...at) { this.data += `L${at.map(short)}`; }

  bezierCurveTo(...at) { this.data += `C${at.map(short)}`; }

  closePath() { this.data += "Z"; }

  roundRect(x, y, width, height, radius) {
    const [r, w, h] = [radius, width - 2 * radius, height - 2 * radius].map(short);
    const arc = (dx, dy) => `a${r} ${r} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.data += `M${short(x + radius)},${short(y)}h${w}${arc(radius, radius)}v${h}${arc(-radius, radius)}`
      + `h-${w}${arc(-radius, -radius)}v-${h}${arc(radius, -radius)}Z`;
  }
}

class SvgPen {
  constructor() { this.parts = []; }

  attributes({ fill, stroke, width = 1, dash = [], alpha = 1 }) {
    return [
      `fill="${fill || "none"}"`, stroke ? `stroke="${stroke}" stroke-width="${width}"` : "",
      dash.length ? `stroke-dasharray="${dash.join(" ")}"` : "", alpha < 1 ? `opacity="${alpha}"` : "",
    ].filter(Boolean).join(" ");
  }

  rect(x, y, width, height, style) {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} ${this.attributes(style)}/>`);
  }

  path(data, style, title = "") {
    this.parts.push(`<path d="${data}" ${this.attributes(style)}>${title && `<title>${escaped(title)}</title>`}</path>`);
  }

  lines(lines, style) {
    for (const { points, title = "" } of lines) {
      const [line, head] = [new PathData(), new PathData()];
      trace(points, line, false);
      traceHead(points, head);
      this.path(line.data, style, title);
      this.path(head.data, { fill: style.stroke, alpha: style.alpha });
    }
  }

  boxes(boxes, style, grow = 0) {
    for (const box of boxes) {
      const path = new PathData();
      traceBox(box, path, grow);
      this.path(path.data, style, style.fill ? box.title : "");
    }
  }

  texts(texts, { size = 12, weight = 400, align = "left", halo, ...style }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const outline = halo ? ` paint-order="stroke" stroke="${halo}" stroke-width="3" stroke-linejoin="round"` : "";
    for (const { text, x, y } of texts) {
      this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${size}" font-weight="${weight}" `
        + `text-anchor="${anchor}" ${this.attributes(style)}${outline}>${escaped(text)}</text>`);
    }
  }

  document(width, height, title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" `
      + `viewBox="0 0 ${short(width)} ${short(height)}" font-family="${FONT}" role="img">`
      + `<title>${escaped(title)}</title>${this.parts.join("")}</svg>`;
  }
}
