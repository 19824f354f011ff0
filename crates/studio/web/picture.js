// The picture that a model draws of its state: shapes with numbers and colours from the server.

import { html } from "/store.js";

/** Names of colours that models may use; anything else is drawn in the colour of text. */
const COLOURS = new Set(["black", "blue", "gray", "green", "orange", "purple", "red", "white", "yellow"]);
const colour = (name) => (COLOURS.has(name) ? `paint-${name}` : "paint-black");

function Shape({ shape }) {
  const [x, y, w, h] = shape.numbers;
  const paint = colour(shape.colour);
  switch (shape.kind) {
    case "circle":
      return html`<circle class=${paint} cx=${x} cy=${y} r=${Math.max(0, w)} />`;
    case "box":
      return html`<rect class=${paint} x=${x} y=${y} width=${Math.max(0, w)} height=${Math.max(0, h)} rx="2" />`;
    case "line":
      return html`<line class="stroke ${paint}" x1=${x} y1=${y} x2=${w} y2=${h} />`;
    case "text":
      return html`<text class=${paint} x=${x} y=${y} text-anchor="middle" dominant-baseline="middle">${shape.text}</text>`;
    default:
      return null;
  }
}

export function Picture({ picture }) {
  return html`<section aria-label="picture"><h3>Picture</h3><svg class="picture" viewBox="0 0 ${picture.width} ${picture.height}" role="img" aria-label="picture of the state" data-testid="picture">
    ${picture.shapes.map((shape, i) => html`<${Shape} key=${i} shape=${shape} />`)}</svg>
    ${picture.error && html`<p class="wrong">${picture.error}</p>`}</section>`;
}
