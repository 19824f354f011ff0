// States as trees: what belongs together by name stands together, and values look like what they are.

import { html } from "/store.js";

/** A value of the trace format as text. */
export function text(value) {
  if (Array.isArray(value)) return `[${value.map(text).join(", ")}]`;
  if (value === null || typeof value !== "object") return String(value);
  if ("#bigint" in value) return value["#bigint"];
  if ("#tup" in value) return `(${value["#tup"].map(text).join(", ")})`;
  if ("#set" in value) return `{${value["#set"].map(text).join(", ")}}`;
  if ("#map" in value) return `{${value["#map"].map(([k, v]) => `${text(k)}: ${text(v)}`).join(", ")}}`;
  return `{${Object.entries(value).map(([k, v]) => `${k}: ${text(v)}`).join(", ")}}`;
}

export const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);

/** `P[1].pos` as `P`, `[1]`, `.pos`. */
export function segments(name) {
  return name.match(/^[^[.]+|\[[^\]]*\]|\.[^[.]+/g) ?? [name];
}

/** The process that a component belongs to, if its name says so. */
export function ownerOf(name, processes) {
  return processes.find((process) => name === process || name.startsWith(`${process}.`)) ?? "";
}

/** Components with their values as a tree by their names. */
function tree(vars, values) {
  const root = { children: new Map() };
  vars.forEach((name, index) => {
    let node = root;
    for (const segment of segments(name)) {
      node.children ??= new Map();
      if (!node.children.has(segment)) node.children.set(segment, {});
      node = node.children.get(segment);
    }
    node.index = index;
    node.value = values[index];
  });
  return root;
}

function Value({ value, changed }) {
  const kind = Array.isArray(value) ? "sequence" : typeof value === "object" && value !== null ? "structure" : typeof value;
  if (Array.isArray(value)) {
    return html`<span class="value sequence ${changed ? "changed" : ""}" title="oldest first">
      ${value.length === 0 ? html`<span class="muted">empty</span>` : value.map((item) => html`<span class="item">${text(item)}</span>`)}
    </span>`;
  }
  return html`<span class="value ${kind} ${changed ? "changed" : ""}">${text(value)}</span>`;
}

/** An array of plain values in one line of cells. */
function isFlatArray(node) {
  if (!node.children || node.children.size < 2 || node.index !== undefined) return false;
  return [...node.children].every(([name, child]) => name.startsWith("[") && !child.children && child.index !== undefined);
}

function Node({ name, node, before }) {
  const changed = (child) => before && child.index !== undefined && !same(before[child.index], child.value);
  if (isFlatArray(node)) {
    return html`<div class="entry" role="treeitem"><span class="name">${name}</span>
      <span class="cells">${[...node.children].map(([index, child]) => html`<span class="cell ${changed(child) ? "changed" : ""}" title="${name}${index}">
        <small>${index.slice(1, -1)}</small>${text(child.value)}</span>`)}</span></div>`;
  }
  const label = html`<span class="name">${name}</span>${node.index !== undefined && html`<${Value} value=${node.value} changed=${changed(node)} />`}`;
  if (!node.children) return html`<div class="entry" role="treeitem">${label}</div>`;
  return html`<details class="entry" open role="treeitem"><summary>${label}</summary>
    <div class="inner" role="group">${[...node.children].map(([inner, child]) =>
      html`<${Node} key=${inner} name=${inner.replace(/^\./, "")} node=${child} before=${before} />`)}</div></details>`;
}

/** A whole state; what differs from `before` is marked. */
export function StateTree({ vars, values, before }) {
  const root = tree(vars, values);
  if (vars.length === 0) return html`<p class="muted">There is nothing to see in a state.</p>`;
  return html`<div class="state-tree" role="tree" aria-label="state">
    ${[...root.children].map(([name, node]) => html`<${Node} key=${name} name=${name} node=${node} before=${before} />`)}
  </div>`;
}

/** What a step changes, in one line. */
export function Changes({ changes }) {
  if (changes.length === 0) return html`<span class="muted">no change</span>`;
  return changes.map(([name, value], i) => html`${i > 0 && ", "}<span class="change"><span class="name">${name}</span> = <span class="value">${text(value)}</span></span>`);
}
