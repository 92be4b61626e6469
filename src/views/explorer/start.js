// The page by itself: its data are in elements that are not run.

const root = document.querySelector(".explorer");
const dataOf = (name) => document.querySelector(`script.${name}`).textContent;
root.explorer = explorer(root, {
  graph: dataOf("graph"), impacts: dataOf("impacts"), reasons: dataOf("reasons"),
});
