// The state graph, or a part of it that can be looked at.

import { useRef, useEffect, useState } from "/vendor/vendor.js";
import { html, state, set, complain, modelRequest, textKey } from "/store.js";
import { ask } from "/server.js";
import { text } from "/values.js";
import { simulate } from "/simulate.js";
import { exportElement } from "/export.js";

let request;

export async function draw() {
  request?.abort();
  request = new AbortController();
  const key = textKey();
  const way = { start: state.start, choices: state.choices };
  try {
    const graph = await ask("graph", {
      ...modelRequest(), keep: state.keep, max_nodes: state.around ? 40 : 300, around: state.around ? way : null,
      marked: await markedWay(), fairness: state.trace?.meta.fairness ?? null,
    }, request.signal);
    set({ graph: { ...graph, key }, graphError: "", names: state.keep ? state.names : graph.names });
  } catch (error) {
    if (error.name === "AbortError") return;
    set({ graphError: error.message });
    complain(error);
  }
}

/** The way of the counterexample that is open, or of the simulation. */
async function markedWay() {
  const { trace, traceOf } = state;
  if (trace && traceOf && trace.simulable) {
    const all = { ...modelRequest(), step: trace.steps.length };
    const asked = traceOf.file ? ask("stored", { ...all, trace: traceOf.file }) : ask("follow", { ...all, ...traceOf });
    return asked.catch(() => null);
  }
  return state.choices.length > 0 ? { start: state.start, choices: state.choices } : null;
}

const LINE = 14;

/** What a node says: where it differs from the first, or everything it keeps. */
function labels(graph) {
  const first = graph.nodes[0]?.values ?? [];
  return graph.nodes.map((node, i) => {
    const lines = graph.names.map((name, k) => [name, node.values[k], k]).filter(([, value, k]) => state.keep || i === 0 || JSON.stringify(value) !== JSON.stringify(first[k]));
    const shown = lines.slice(0, 6).map(([name, value]) => `${name} = ${text(value)}`.slice(0, 28));
    if (lines.length > 6) shown.push(`and ${lines.length - 6} more`);
    if (node.states > 1) shown.push(`${node.states} states`);
    return shown.length > 0 ? shown : ["as at the start"];
  });
}

/** How long the layout may think before states are simply put into rows. */
const PATIENCE = 4000;

/** Nodes with their sizes, and edges between different ones. */
function boxes(graph) {
  const texts = labels(graph);
  const nodes = texts.map((lines) => ({ width: Math.max(60, ...lines.map((line) => line.length * 6.4 + 14)), height: lines.length * LINE + 10 }));
  const edges = graph.edges.map(({ source, target }) => [source, target]).filter(([source, target]) => source !== target);
  return { texts, nodes, edges };
}

/** Where everything stands. The page goes on while a worker thinks about it. */
function place(graph, done) {
  const { texts, nodes, edges } = boxes(graph);
  const worker = new Worker("/layout.js", { type: "module" });
  const finish = (layout) => {
    clearTimeout(timer);
    worker.terminate();
    done({ texts, ...layout });
  };
  const timer = setTimeout(() => finish(rows(nodes, edges)), PATIENCE);
  worker.onmessage = ({ data }) => finish(data);
  worker.onerror = () => finish(rows(nodes, edges));
  worker.postMessage({ nodes, edges });
  return () => (clearTimeout(timer), worker.terminate());
}

/** States by their distance from the start, edges straight: for graphs with too many edges. */
function rows(nodes, edges) {
  const next = nodes.map(() => []);
  for (const [source, target] of edges) next[source].push(target);
  const rank = nodes.map(() => -1);
  const order = [];
  for (let root = 0; root < nodes.length; root++) {
    if (rank[root] >= 0) continue;
    rank[root] = 0;
    order.push(root);
    for (let i = order.length - 1; i < order.length; i++) {
      for (const target of next[order[i]]) if (rank[target] < 0) (rank[target] = rank[order[i]] + 1), order.push(target);
    }
  }
  const placed = [];
  let y = 20;
  let width = 0;
  for (let level = 0; level <= Math.max(0, ...rank); level++) {
    let x = 20;
    let tallest = 0;
    for (const node of order.filter((other) => rank[other] === level)) {
      const { width: w, height: h } = nodes[node];
      // Long rows are broken, or they would be too long to be looked at.
      if (x + w > 4000) (x = 20), (y += tallest + 20), (tallest = 0);
      placed[node] = { x: x + w / 2, y: y + h / 2, width: w, height: h };
      x += w + 24;
      tallest = Math.max(tallest, h);
      width = Math.max(width, x);
    }
    y += tallest + 46;
  }
  const lines = edges.map(([source, target]) => [placed[source], placed[target]].map(({ x, y: at }) => ({ x, y: at })));
  return { nodes: placed, lines, width, height: y, simple: true };
}

const curve = (points) => points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"} ${x.toFixed(1)} ${y.toFixed(1)}`).join(" ");

function Drawing({ graph, onSelect, selected }) {
  const [placed, setPlaced] = useState(null);
  const view = useRef(null);
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    setPlaced(null);
    return place(graph, (layout) => setPlaced({ ...layout, graph }));
  }, [graph]);
  useEffect(() => {
    if (placed) setZoom(Math.max(0.25, Math.min(1, (view.current.clientWidth - 10) / placed.width)));
  }, [placed]);
  if (!placed || placed.graph !== graph) return html`<div class="scroll graph-place" ref=${view}><p class="muted">Laying out ${graph.nodes.length} nodes …</p></div>`;
  const { texts, width, height } = placed;
  const lines = placed.lines.values();
  const sizes = new Map();
  for (const node of graph.nodes) sizes.set(node.component, (sizes.get(node.component) ?? 0) + 1);
  const loops = new Set(graph.edges.filter((edge) => edge.source === edge.target).map((edge) => edge.source));
  const kind = (node, i) => [
    node.initial && "initial", node.deadlock && "deadlock", node.error && "failing", node.frontier && "frontier", node.marked && "marked",
    (sizes.get(node.component) > 1 || loops.has(i)) && "recurrent", node.fair === true && (sizes.get(node.component) > 1 || loops.has(i) || node.deadlock) && "fair", i === selected && "selected",
  ].filter(Boolean).join(" ");
  return html`<div class="controls"><label>zoom <input type="range" min="0.2" max="2" step="0.05" value=${zoom} onInput=${(e) => setZoom(Number(e.target.value))} /></label></div>
    <div class="scroll graph-place" ref=${view}><svg id="graph-svg" class="graph" width=${width * zoom} height=${height * zoom} viewBox="0 0 ${width} ${height}" role="img" aria-label="state graph" data-testid="graph">
    <defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 0 L 8 4 L 0 8 Z" /></marker><marker id="head-marked" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 0 L 8 4 L 0 8 Z" /></marker></defs>
    ${graph.edges.map((edge) => {
      const title = edge.actions.slice(0, 12).join("\n");
      const head = edge.marked ? "url(#head-marked)" : "url(#head)";
      if (edge.source === edge.target) {
        const { x, y, width: w } = placed.nodes[edge.source];
        return html`<path class="edge ${edge.marked ? "marked" : ""}" d="M ${x + w / 2} ${y - 5} c 26 -12, 26 22, 0 10" marker-end=${head}><title>${title}</title></path>`;
      }
      return html`<path class="edge ${edge.marked ? "marked" : ""}" d=${curve(lines.next().value)} marker-end=${head}><title>${title}</title></path>`;
    })}
    ${graph.nodes.map((node, i) => {
      const { x, y, width: w, height: h } = placed.nodes[i];
      return html`<g class="node ${kind(node, i)}" transform="translate(${x - w / 2} ${y - h / 2})" onClick=${() => onSelect(i)} tabindex="0" role="button" aria-label=${`state ${i}`} data-node=${i} onKeyDown=${(e) => e.key === "Enter" && onSelect(i)}>
        <rect width=${w} height=${h} rx="5" />${texts[i].map((line, k) => html`<text x="7" y=${k * LINE + 15}>${line}</text>`)}<title>${graph.names.map((name, k) => `${name} = ${text(node.values[k])}`).join("\n")}${node.error ? `\n${node.error}` : ""}</title></g>`;
    })}</svg></div>`;
}

function stepInto(node) {
  const choices = node.start === null ? [...state.choices, ...node.choices] : node.choices;
  set({ view: "simulate", start: node.start ?? state.start, choices, future: [], sim: null });
  simulate();
}

export function Graph() {
  const [selected, setSelected] = useState(-1);
  const graph = state.graph;
  const names = state.names ?? graph?.names ?? [];
  const stale = graph && graph.key !== textKey();
  useEffect(() => setSelected(-1), [graph]);
  const choose = (keep) => (set({ keep }), draw());
  const toggle = (name) => {
    const now = state.keep ?? names;
    const next = now.includes(name) ? now.filter((other) => other !== name) : names.filter((other) => other === name || now.includes(other));
    choose(next.length === names.length ? null : next);
  };
  const node = graph?.nodes[selected];
  return html`<main class="graph-view">
    <div class="controls">
      <button class=${state.around ? "" : "current"} onClick=${() => (set({ around: false }), draw())}>From the start</button>
      <button class=${state.around ? "current" : ""} onClick=${() => (set({ around: true }), draw())} data-testid="around">Around the simulated state</button>
      <button onClick=${draw} class=${stale ? "primary" : ""}>Draw again${stale ? ": the text has changed" : ""}</button>
      <button onClick=${() => exportElement("graph-svg", "graph")} disabled=${!graph}>SVG</button>
      ${graph && html`<span class="muted" data-testid="graph-size">${graph.nodes.length} nodes, ${graph.edges.length} edges${graph.complete ? "" : `; not everything: ${graph.states} states were visited, dashed nodes have further steps`}</span>`}
    </div>
    ${state.graphError && html`<p class="wrong">${state.graphError}</p>`}
    <details class="projection" open=${names.length <= 12}><summary>Show and tell apart by</summary>
      <button class="small" onClick=${() => choose(null)} disabled=${!state.keep}>everything</button>
      ${names.map((name) => html`<label key=${name}><input type="checkbox" checked=${(state.keep ?? names).includes(name)} onChange=${() => toggle(name)} data-keep=${name} /> ${name}</label>`)}</details>
    <p class="legend"><span class="key initial">initial</span><span class="key recurrent">in a loop</span><span class="key fair">in a component with a fair loop</span><span class="key deadlock">deadlock</span><span class="key marked">on the run</span><span class="key frontier">more steps</span></p>
    ${graph && html`<${Drawing} graph=${graph} onSelect=${setSelected} selected=${selected} />`}
    ${node && html`<div class="banner"><b>state ${selected}</b> ${graph.names.map((name, k) => `${name} = ${text(node.values[k])}`).join(", ")} <button onClick=${() => stepInto(node)} data-testid="node-simulate">Simulate from here</button></div>`}
  </main>`;
}
