// Operations of a user, each timed until the frame with its result was drawn.

const root = document.querySelector(".explorer");
const element = root.querySelector(".picture");
const shown = () => root.explorer.shown();
const frame = () => new Promise((done) => { requestAnimationFrame(done); });

async function frames(number) {
  for (let i = 0; i < number; i += 1) await frame();
}

async function timeOf(act) {
  await frames(3);
  const start = performance.now();
  act();
  await frames(2); // the first one draws, the second one begins when that is done
  return performance.now() - start;
}

function press(text) {
  [...root.querySelectorAll("button")].find((button) => button.textContent === text).click();
}

function wheel(pixels) {
  const { left, top, width, height } = element.getBoundingClientRect();
  element.dispatchEvent(new WheelEvent("wheel", {
    deltaY: pixels, clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true,
  }));
}

/** Times between frames of a zoom out to all of the picture, and in again. */
async function zoomed() {
  const times = [];
  await frames(3);
  for (const pixels of [...new Array(30).fill(60), ...new Array(30).fill(-60)]) {
    const start = performance.now();
    wheel(pixels);
    await frame();
    times.push(performance.now() - start);
  }
  await new Promise((done) => { setTimeout(done, 300); });
  return times;
}

/** Time of a sharp picture of all that fits on the window, and more around it. */
async function redrawn() {
  for (let i = 0; i < 30; i += 1) wheel(60);
  await new Promise((done) => { setTimeout(done, 500); });
  const time = await timeOf(() => root.querySelector(".zoom-in").click());
  root.querySelector(".fit").click();
  await frames(3);
  return time;
}

async function clicked(number) {
  const times = [];
  const { left, top, right, bottom } = element.getBoundingClientRect();
  for (let i = 0; i < number; i += 1) {
    const { boxes } = shown();
    const seen = boxes.map((box) => [box.x + box.width / 2, box.y + box.height / 2])
      .filter(([x, y]) => x > left && x < right && y > top && y < bottom);
    const [x, y] = seen[Math.floor((i * seen.length) / number)];
    const event = { clientX: x, clientY: y, bubbles: true, view: window };
    times.push(await timeOf(() => element.dispatchEvent(new MouseEvent("click", event))));
  }
  return times;
}

async function filtered(number) {
  const times = [];
  const list = [...root.querySelectorAll(".filters select")].find((each) => !each.hidden && each.options.length > 2);
  if (!list) return times;
  for (let i = 0; i < number; i += 1) {
    const place = 1 + Math.floor((i * (list.options.length - 1)) / number);
    for (const index of [place, 0]) {
      times.push(await timeOf(() => {
        list.selectedIndex = index;
        list.dispatchEvent(new Event("change"));
      }));
    }
  }
  return times;
}
