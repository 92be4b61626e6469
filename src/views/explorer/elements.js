// Elements of the page. All text is set as text, never as HTML, and there are no identifiers: several
// explorers may share a page.

function make(parent, tag, text = "", name = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text !== "") element.textContent = text;
  if (name) element.className = name;
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  parent?.append(element);
  return element;
}

function makeButton(parent, text, onClick, name = "", attributes = {}) {
  const button = make(parent, "button", text, name, { type: "button", ...attributes });
  button.addEventListener("click", onClick);
  return button;
}

function makeOptions(list, options) {
  list.replaceChildren();
  for (const [value, text] of options) make(list, "option", text).value = value;
}

const MOST_LISTED = 60;
const MOST_ADDED = 500;

/** A list of buttons, and one that shows more if there are very many. */
function makeList(parent, items, fill, name = "links") {
  const list = make(parent, "ul", "", name);
  const add = (from, to) => {
    for (const item of items.slice(from, to)) fill(make(list, "li"), item);
    if (items.length <= to) return;
    const more = make(list, "li");
    makeButton(more, `and ${items.length - to} more`, () => {
      more.remove();
      add(to, to + MOST_ADDED);
      list.children[to].querySelector("button").focus();
    });
  };
  add(0, MOST_LISTED);
}

const plural = (number, noun, many = `${noun}s`) => `${number} ${number === 1 ? noun : many}`;
