// The state graph, or a part of it that can be looked at.

import { dagre, useMemo, useRef, useEffect, useState } from "/vendor/vendor.js";
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

function place(graph) {
  const layout = new dagre.graphlib.Graph({ multigraph: false });
  layout.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 46, marginx: 20, marginy: 20 });
  layout.setDefaultEdgeLabel(() => ({}));
  const texts = labels(graph);
  texts.forEach((lines, i) => layout.setNode(String(i), { width: Math.max(60, ...lines.map((line) => line.length * 6.4 + 14)), height: lines.length * LINE + 10 }));
  for (const { source, target } of graph.edges) if (source !== target) layout.setEdge(String(source), String(target));
  dagre.layout(layout);
  const { width, height } = layout.graph();
  return { layout, texts, width: Math.max(width || 0, 200), height: Math.max(height || 0, 120) };
}

const curve = (points) => points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"} ${x.toFixed(1)} ${y.toFixed(1)}`).join(" ");

function Drawing({ graph, onSelect, selected }) {
  const { layout, texts, width, height } = useMemo(() => place(graph), [graph]);
  const view = useRef(null);
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    const available = view.current.clientWidth - 10;
    setZoom(Math.max(0.25, Math.min(1, available / width)));
  }, [graph]);
  const sizes = new Map();
  for (const node of graph.nodes) sizes.set(node.component, (sizes.get(node.component) ?? 0) + 1);
  const loops = new Set(graph.edges.filter((edge) => edge.source === edge.target).map((edge) => edge.source));
  const kind = (node, i) => [
    node.initial && "initial", node.deadlock && "deadlock", node.error && "failing", node.frontier && "frontier", node.marked && "marked",
    (sizes.get(node.component) > 1 || loops.has(i)) && "recurrent", node.fair === true && (sizes.get(node.component) > 1 || loops.has(i) || node.deadlock) && "fair", i === selected && "selected",
  ].filter(Boolean).join(" ");
  return html`<div class="controls"><label>zoom <input type="range" min="0.2" max="2" step="0.05" value=${zoom} onInput=${(e) => setZoom(Number(e.target.value))} /></label></div>
    <div class="scroll graph-place" ref=${view}><svg id="graph-svg" class="graph" width=${width * zoom} height=${height * zoom} viewBox="0 0 ${width} ${height}" role="img" aria-label="state graph" data-testid="graph">
    <defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M 0 0 L 8 4 L 0 8 Z" /></marker></defs>
    ${graph.edges.map((edge) => {
      const title = edge.actions.slice(0, 12).join("\n");
      if (edge.source === edge.target) {
        const { x, y, width: w } = layout.node(String(edge.source));
        return html`<path class="edge ${edge.marked ? "marked" : ""}" d="M ${x + w / 2} ${y - 5} c 26 -12, 26 22, 0 10" marker-end="url(#head)"><title>${title}</title></path>`;
      }
      return html`<path class="edge ${edge.marked ? "marked" : ""}" d=${curve(layout.edge(String(edge.source), String(edge.target)).points)} marker-end="url(#head)"><title>${title}</title></path>`;
    })}
    ${graph.nodes.map((node, i) => {
      const { x, y, width: w, height: h } = layout.node(String(i));
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
