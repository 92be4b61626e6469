// What of the picture is seen, and how large: by mouse, fingers and buttons.

const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
const whole = { width, height };
const camera = { x: 0, y: 0, scale: 1, isMoved: false, isPrinting: false };
const LEGIBLE = 0.85;

function show() {
  if (camera.isPrinting) return;
  const { x, y, scale } = camera;
  const size = [svg.clientWidth / scale, svg.clientHeight / scale];
  svg.setAttribute("viewBox", [x, y, ...size].map((n) => n.toFixed(2)).join(" "));
  keepTitles(x, y);
}

const titlesOf = (name) => [...svg.querySelectorAll(name)].map((shape) => ({
  shape, x: Number(shape.getAttribute("x")), y: Number(shape.getAttribute("y")),
  width: shape.getBBox().width,
}));
const columnTitles = titlesOf(".stage-title");
const bandTitles = titlesOf(".subsystem");

/** Titles of columns stay at the upper edge, those of bands at the left one, both inside of these. */
function keepTitles(x, y) {
  columnTitles.forEach((title, number) => {
    const end = number + 1 < columnTitles.length ? columnTitles[number + 1].x : whole.width;
    const right = Math.min(Math.max(0, x + 8 - title.x), Math.max(0, end - title.x - title.width - 12));
    const down = Math.max(0, y - (shift + title.y - 15));
    title.shape.setAttribute("transform", `translate(${right} ${down})`);
  });
  for (const title of bandTitles) {
    title.shape.setAttribute("transform", `translate(${Math.max(0, x + 6 - title.x)} 0)`);
  }
}

function fit(least = 0) {
  const scale = Math.min(svg.clientWidth / whole.width, svg.clientHeight / whole.height, 1.5);
  camera.scale = Math.max(scale, least, 0.02);
  camera.x = Math.min(0, (whole.width - svg.clientWidth / camera.scale) / 2);
  camera.y = Math.min(0, (whole.height - svg.clientHeight / camera.scale) / 2);
  camera.isMoved = false;
  show();
}

/** Make it larger by a factor; what is at a place on the screen stays there. */
function zoom(factor, left = svg.clientWidth / 2, top = svg.clientHeight / 2) {
  const scale = Math.min(8, Math.max(0.02, camera.scale * factor));
  camera.x += left / camera.scale - left / scale;
  camera.y += top / camera.scale - top / scale;
  camera.scale = scale;
  camera.isMoved = true;
  show();
}

function pan(right, down) {
  camera.x -= right / camera.scale;
  camera.y -= down / camera.scale;
  camera.isMoved = true;
  show();
}

/** Have a node be seen and read: where it is, or else in the middle. */
function reveal(node) {
  if (camera.scale < LEGIBLE) zoom(LEGIBLE / camera.scale);
  const missing = (at, size, margin) => (at < margin || at > size - margin ? size / 2 - at : 0);
  const right = missing((node.x - camera.x) * camera.scale, svg.clientWidth, node.half * camera.scale + 16);
  const down = missing((node.y - camera.y) * camera.scale, svg.clientHeight, 40);
  if (right || down) pan(right, down);
}

const fingers = new Map();
let isDragged = false;

function onMove(event) {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const step = [now[0] - before[0], now[1] - before[1]];
  if (!isDragged && Math.hypot(...step) < 4) return;
  if (!isDragged) svg.setPointerCapture(event.pointerId);
  isDragged = true;
  svg.classList.add("moving");
  fingers.set(event.pointerId, now);
  if (fingers.size === 1) return pan(...step);
  const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
  const distance = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]);
  const { left, top } = svg.getBoundingClientRect();
  zoom(distance(now) / Math.max(1, distance(before)), other[0] - left, other[1] - top);
}

function onUp(event) {
  fingers.delete(event.pointerId);
  if (!fingers.size) svg.classList.remove("moving");
}

function onClick(event) {
  const shape = event.target.closest(".node");
  const node = nodes.find((each) => each.shape === shape);
  if (!isDragged) choose(node || null, false);
  isDragged = false;
}

function onWheel(event) {
  event.preventDefault();
  const { left, top } = svg.getBoundingClientRect();
  const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : 1);
  zoom(Math.exp(-pixels / 400), event.clientX - left, event.clientY - top);
}

byId("zoom-in").addEventListener("click", () => zoom(1.25));
byId("zoom-out").addEventListener("click", () => zoom(0.8));
byId("fit").addEventListener("click", () => fit());
svg.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  isDragged = fingers.size > 1;
});
svg.addEventListener("pointermove", onMove);
for (const name of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(name, onUp);
svg.addEventListener("click", onClick);
svg.addEventListener("wheel", onWheel, { passive: false });
window.addEventListener("beforeprint", () => {
  camera.isPrinting = true;
  keepTitles(0, 0);
  svg.setAttribute("viewBox", [0, 0, whole.width, whole.height].join(" "));
});
window.addEventListener("afterprint", () => {
  camera.isPrinting = false;
  show();
});
