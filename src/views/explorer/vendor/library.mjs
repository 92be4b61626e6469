// The parts of other projects that the page uses; README.md says how library.js is made of this.
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
export { default as Flatbush } from "flatbush";
