// Message sequence chart: processes side by side, time downwards.

import { html } from "/store.js";

const GAP = 130;
const ROW = 28;
const HEAD = 34;
/** Longer charts are cut: a drawing of everything would freeze the page. */
const MAX_STEPS = 1000;

/** Where everything stands; plain data, so that exports draw the same. */
export function layout(trace) {
  const steps = trace.steps.slice(0, MAX_STEPS);
  const moving = new Set(steps.flatMap((step) => step.movers));
  const columns = [...trace.processes.filter((name) => moving.has(name)), ...[...moving].filter((name) => !trace.processes.includes(name))];
  const x = (name) => 70 + columns.indexOf(name) * GAP;
  const inFlight = new Map();
  const rows = steps.map((step, at) => {
    const y = HEAD + at * ROW + ROW / 2;
    const name = step.actions?.join(" & ") || "idle";
    const sent = step.communication;
    if (sent?.from && sent.to) return { at, y, kind: "rendezvous", from: x(sent.from), to: x(sent.to), text: `${sent.channel}: ${sent.message}` };
    if (sent?.from) {
      if (!inFlight.has(sent.channel)) inFlight.set(sent.channel, []);
      inFlight.get(sent.channel).push(sent.from);
      return { at, y, kind: "send", from: x(sent.from), text: `${sent.channel} ! ${sent.message}` };
    }
    if (sent?.to) {
      const sender = inFlight.get(sent.channel)?.shift();
      return { at, y, kind: "receive", from: sender ? x(sender) : null, to: x(sent.to), text: `${sent.channel} ? ${sent.message}` };
    }
    const movers = step.movers.map(x).sort((a, b) => a - b);
    return { at, y, kind: movers.length > 1 ? "event" : movers.length === 1 ? "step" : "idle", movers, text: name };
  });
  return {
    columns: columns.map((name) => ({ name, x: x(name) })), rows, loop: trace.loop !== null && trace.loop < MAX_STEPS ? HEAD + trace.loop * ROW : null,
    width: 70 + columns.length * GAP + 60, height: HEAD + steps.length * ROW + 14, cut: trace.steps.length - steps.length,
  };
}

function Row({ row, selected }) {
  const { y, text } = row;
  const label = (at) => html`<text x=${at} y=${y - 4} class="label">${text}</text>`;
  switch (row.kind) {
    case "rendezvous":
      return html`<line class="message" x1=${row.from} y1=${y} x2=${row.to} y2=${y} /><path class="arrow" d=${arrow(row.to, y, row.to > row.from)} /><text x=${(row.from + row.to) / 2} y=${y - 4} text-anchor="middle" class="label">${text}</text>`;
    case "send":
      return html`<circle class="send" cx=${row.from} cy=${y} r="4" />${label(row.from + 8)}`;
    case "receive":
      return html`${row.from !== null && row.from !== row.to && html`<line class="message late" x1=${row.from} y1=${y} x2=${row.to} y2=${y} />`}<path class="arrow" d=${arrow(row.to, y, row.from === null || row.to >= row.from)} />${label(row.to + 8)}`;
    case "event":
      return html`<line class="event" x1=${row.movers[0]} y1=${y} x2=${row.movers.at(-1)} y2=${y} />${row.movers.map((x) => html`<circle class="joined" cx=${x} cy=${y} r="4" />`)}${label(row.movers[0] + 8)}`;
    case "step":
      return html`<rect class="local" x=${row.movers[0] - 5} y=${y - 5} width="10" height="10" />${label(row.movers[0] + 10)}`;
    default:
      return html`<text x="40" y=${y + 4} class="label">${text}</text>`;
  }
}

const arrow = (x, y, right) => (right ? `M ${x - 8} ${y - 4} L ${x} ${y} L ${x - 8} ${y + 4} Z` : `M ${x + 8} ${y - 4} L ${x} ${y} L ${x + 8} ${y + 4} Z`);

export function Chart({ trace, selected = -1, onSelect }) {
  const { columns, rows, loop, width, height, cut } = layout(trace);
  if (columns.length === 0) return html`<p class="muted">No process moves in this run.</p>`;
  return html`<svg class="chart" width=${width} height=${height} viewBox="0 0 ${width} ${height}" id="chart-svg" role="img" aria-label="message sequence chart" data-testid="chart">
    ${columns.map(({ name, x }) => html`<g key=${name}><text class="process" x=${x} y="16" text-anchor="middle">${name}</text><line class="lifeline" x1=${x} y1="22" x2=${x} y2=${height} /></g>`)}
    ${loop !== null && html`<g class="loop-frame"><rect x="8" y=${loop} width=${width - 16} height=${height - loop - 6} rx="6" /><text x="14" y=${loop + 14}>loop</text></g>`}
    ${rows.map((row) => html`<g key=${row.at} class="chart-row ${row.at === selected ? "current" : ""}" onClick=${() => onSelect?.(row.at)}>
      <rect class="hit" x="0" y=${row.y - ROW / 2} width=${width} height=${ROW} /><text class="at" x="30" y=${row.y + 4} text-anchor="end">${row.at}</text><${Row} row=${row} /></g>`)}
  </svg>${cut > 0 && html`<p class="muted">${cut} more steps are not drawn.</p>`}`;
}
