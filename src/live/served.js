// The page of a server: its graph and all news come from there, and commands go back.

const root = document.querySelector(".explorer");
const send = (command) => fetch("command", { method: "POST", body: command }).catch(() => lose());
const events = new EventSource("events");

events.addEventListener("view", ({ data }) => {
  root.explorer?.destroy();
  root.explorer = explorer(root, JSON.parse(data), { send, links: true });
});
events.addEventListener("update", ({ data }) => {
  const message = JSON.parse(data);
  root.explorer.update(message);
  if (message.state === "ended") events.close();
});
events.addEventListener("error", lose);

/** The server is gone, and no other one will have its address. */
function lose() {
  events.close();
  root.explorer?.update({ state: "ended" });
}
