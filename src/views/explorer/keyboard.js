// All of it without a mouse. A canvas has no elements for nodes: the picture itself has the focus, one
// box is current, and the live text says which.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The nearest box in a direction; what is aside counts as further away. */
function nextBox(boxes, from, [right, down]) {
  const at = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = at(from);
  let best = null, least = Infinity;
  for (const box of boxes) {
    const [dx, dy] = [at(box)[0] - x, at(box)[1] - y];
    const along = dx * right + dy * down;
    const cost = along < 1 ? Infinity : along + 3 * Math.abs(dx * down + dy * right);
    if (cost < least) [best, least] = [box, cost];
  }
  return best;
}

function listenToKeys(app) {
  const { picture, filters } = app;
  const keys = {
    "/": () => filters.search.select(), w: () => app.askWhatIf(!app.isWhatIf), f: () => app.foldFocused(),
    "+": () => picture.zoomBy(1.25), "-": () => picture.zoomBy(0.8), 0: () => picture.fit(picture.marks.chosen),
  };
  const onKey = (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const entries = [filters.search, ...filters.results.querySelectorAll("button")];
    const isPicture = target === picture.element;
    if (key === "Escape") app.back(!filters.results.hidden || entries.includes(target));
    else if (entries.includes(target) && (key === "ArrowDown" || key === "ArrowUp")) {
      entries[entries.indexOf(target) + (key === "ArrowDown" ? 1 : -1)]?.focus();
    } else if (target === filters.search) {
      if (key !== "Enter" || entries.length < 2) return;
      entries[1].click();
    } else if (target.closest("select, input")) return;
    else if (keys[key]) keys[key]();
    else if (isPicture && ARROWS[key]) app.focusOn(nextBox(app.scene.boxes, picture.focused, ARROWS[key]) || picture.focused);
    else if (isPicture && (key === "Enter" || key === " ")) app.enter(picture.focused, key === "Enter");
    else return;
    event.preventDefault();
  };
  app.frame.addEventListener("keydown", onKey, { signal: app.signal });
  if (!app.host) { // the page is all ours: keys count wherever the focus is
    document.addEventListener("keydown", (event) => {
      if (event.target === document.body) onKey(event);
    }, { signal: app.signal });
  }
}
