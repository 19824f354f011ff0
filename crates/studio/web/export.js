// Pictures and pages that need no server. All texts go in as text: names in models never become markup.

import { render } from "/vendor/vendor.js";
import { html, state, complain, modelRequest } from "/store.js";
import { ask } from "/server.js";
import { Chart } from "/chart.js";
import { WholeTimeline } from "/timeline.js";
import { text } from "/values.js";

/** Colours of their own, because exported files have no style sheet of ours. */
const STYLE = `text{font:11px sans-serif;fill:#1f2937}.process{font-weight:bold}.lifeline{stroke:#9ca3af;stroke-dasharray:3 3}.message,.event,.axis{stroke:#1d4ed8;stroke-width:1.5}
.event{stroke-width:3}.late{stroke-dasharray:5 3}.arrow,.send,.joined{fill:#1d4ed8}.local{fill:#e5e7eb;stroke:#6b7280}.hit{fill:transparent}.loop-frame rect{fill:none;stroke:#b45309;stroke-dasharray:6 4}
.loop-frame text{fill:#b45309}.loop-arc{fill:none;stroke:#b45309;stroke-width:1.5}.loop-head{fill:#b45309}circle{fill:#93c5fd;stroke:#1d4ed8}.looping circle{fill:#fde68a;stroke:#b45309}
.truth-yes{fill:#86efac}.truth-no{fill:#fca5a5}.truth-open{fill:#e5e7eb}.edge{fill:none;stroke:#6b7280}.edge.marked{stroke:#dc2626;stroke-width:2}.node rect{fill:#fff;stroke:#6b7280}.node.initial rect{stroke-width:2.5}
.node.recurrent rect{fill:#dbeafe}.node.fair rect{fill:#dcfce7}.node.deadlock rect{stroke:#d97706;stroke-width:2.5}.node.marked rect{stroke:#dc2626;stroke-width:2}.node.frontier rect{stroke-dasharray:4 3}`;

/** An SVG element with its colours, as text. */
function serialize(element) {
  const copy = element.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = STYLE;
  copy.insertBefore(style, copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}

export function download(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function exportElement(id, name) {
  const element = document.getElementById(id);
  if (element) download(`${name}.svg`, "image/svg+xml", serialize(element));
}

/** A drawing apart from the page, whatever the page shows. */
function drawn(drawing) {
  const place = document.createElement("div");
  render(drawing, place);
  const svg = place.querySelector("svg");
  return svg ? serialize(svg) : "";
}

const chartOf = (trace) => drawn(html`<${Chart} trace=${trace} />`);
const timelineOf = (trace) => drawn(html`<${WholeTimeline} trace=${trace} />`);

const baseName = (trace) => (trace.meta.property ?? "run").replace(/[^\w-]+/g, "_");

export function exportSvg(trace) {
  const svg = state.traceTab === "messages" ? chartOf(trace) : timelineOf(trace);
  if (svg) download(`${baseName(trace)}.svg`, "image/svg+xml", svg);
  else complain("no process moves in this run");
}

export async function exportItf() {
  try {
    const { text: itf } = await ask("itf", { ...modelRequest(), ...state.traceOf });
    download(`${baseName(state.trace)}.itf.json`, "application/json", itf);
  } catch (error) {
    complain(error);
  }
}

const escape = (value) => String(value ?? "").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const PAGE_STYLE = `body{font:14px/1.5 system-ui,sans-serif;color:#1f2937;background:#fff;max-width:75rem;margin:2rem auto;padding:0 1rem}code,td{font-family:ui-monospace,monospace;font-size:12px}
table{border-collapse:collapse}td,th{border:1px solid #d1d5db;padding:2px 6px;text-align:left;vertical-align:top}.loop td:first-child{border-left:4px solid #b45309}.t{background:#86efac}.f{background:#fca5a5}.q{background:#e5e7eb}.wide{overflow-x:auto}`;

/** A page with everything about a run: steps, loop, formula, reasons, messages. */
export function page(trace) {
  const meta = trace.meta;
  const rows = (trace.rows ?? []).slice(0, 40);
  const limit = 10000;
  const line = (step, at) => `<tr class="${trace.loop !== null && at >= trace.loop ? "loop" : ""}"><td>${at}</td><td>${escape(step.actions?.join(" & ") || "idle")}</td><td>${escape(step.movers.join(", "))}</td><td>${step.changes
    .map(([index, value]) => `${escape(trace.vars[index])} = ${escape(text(value))}`).join(", ")}</td>${rows.map((row) => `<td class="${{ t: "t", f: "f" }[row.at[at]] ?? "q"}">${row.at[at]}</td>`).join("")}</tr>`;
  const list = (title, items) => (items.length > 0 ? `<h2>${title}</h2><ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>` : "");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${escape(meta.property ?? "run")}</title><style>${PAGE_STYLE}</style></head><body>
<h1>${escape(meta.property ?? "run")}</h1><p><code>${escape(meta.formula)}</code></p><p>${escape(meta.kind)} under fairness ${escape(meta.fairness)}, ${trace.steps.length} steps${trace.loop !== null ? `, loop from state ${trace.loop}` : ""}; model ${escape(meta.source)}</p>
<h2>Start</h2><p>${trace.vars.map((name, i) => `<code>${escape(name)} = ${escape(text(trace.first[i]))}</code>`).join(", ")}</p>
<h2>Time</h2><div class="wide">${timelineOf(trace)}</div>
<h2>Steps</h2><div class="wide"><table><tr><th>state</th><th>step</th><th>by</th><th>changes</th>${rows.map((row) => `<th>${escape(row.text)}</th>`).join("")}</tr>${trace.steps.slice(0, limit).map(line).join("\n")}</table></div>
${trace.loop !== null ? `<p>After the last step the run is in state ${trace.loop} again, forever.</p>` : ""}
${list("Why it is fair", (meta.conditions ?? []).map((c) => `<code>${escape(c.condition)}</code>: ${escape(c.fair_because)}${c.at !== null && c.at !== undefined ? ` at ${c.at}` : ""}`))}
${list("What would exclude it", (meta.excluded_by ?? []).map((e) => `${escape(e.fairness)}: <code>${escape(e.subject)}</code> is enabled at ${e.at} and not taken`))}
<h2>Messages</h2><div class="wide">${chartOf(trace)}</div></body></html>`;
}

export function exportHtml(trace) {
  download(`${baseName(trace)}.html`, "text/html", page(trace));
}
