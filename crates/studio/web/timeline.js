// Time from left to right: a column for each state, a row for each part of the formula.

import { useEffect, useRef } from "/vendor/vendor.js";
import { html, state } from "/store.js";
import { useWindow } from "/window.js";

const CELL = 22;
const HEAD = 34;
const ROW = 20;
/** More states than these are not drawn at once. */
const MAX_DRAWN = 2000;

const WORD = { t: "true", f: "false" };
const CLASS = { t: "truth-yes", f: "truth-no" };

/** The states `from..to`, moved to the right to make room for names. */
function Columns({ trace, from, to, margin = 0, onSelect }) {
  const rows = trace.rows ?? [];
  const x = (at) => margin + at * CELL + CELL / 2;
  const height = HEAD + rows.length * ROW + 4;
  const { loop } = trace;
  const columns = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  return html`<line class="axis" x1=${x(0)} y1="22" x2=${x(trace.n - 1)} y2="22" />
    ${loop !== null && html`<path class="loop-arc" d="M ${x(trace.n - 1)} 17 C ${x(trace.n - 1)} 2, ${x(loop)} 2, ${x(loop)} 14" /><path class="loop-head" d="M ${x(loop) - 4} 9 L ${x(loop)} 16 L ${x(loop) + 4} 9 Z" />`}
    ${columns.map((at) => html`<g key=${at} class="moment ${onSelect && at === state.step ? "current" : ""} ${loop !== null && at >= loop ? "looping" : ""}" onClick=${() => onSelect?.(at)} data-at=${at}>
      <rect class="hit" x=${x(at) - CELL / 2} y="0" width=${CELL} height=${height} />
      <circle cx=${x(at)} cy="22" r="5" />${(at % 5 === 0 || at === loop) && html`<text x=${x(at)} y="33" text-anchor="middle">${at}</text>`}
      ${rows.map((row, i) => html`<rect class=${CLASS[row.at[at]] ?? "truth-open"} x=${x(at) - CELL / 2 + 2} y=${HEAD + i * ROW + 3} width=${CELL - 4} height="15" rx="3"><title>${row.text}: ${WORD[row.at[at]] ?? "not decided"} at ${at}</title></rect>`)}</g>`)}`;
}

/** All of it with the names of the rows, for exports. */
export function WholeTimeline({ trace }) {
  const rows = trace.rows ?? [];
  const margin = 20 + Math.max(0, ...rows.map((row) => row.text.length * 6.5 + row.depth * 10));
  const n = Math.min(trace.n, MAX_DRAWN);
  const width = margin + n * CELL + 20;
  const height = HEAD + rows.length * ROW + 4;
  return html`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}">
    ${rows.map((row, i) => html`<text x=${8 + row.depth * 10} y=${HEAD + i * ROW + 15}>${row.text}</text>`)}
    <${Columns} trace=${trace} from=${0} to=${n} margin=${margin} /></svg>`;
}

/** The timeline in the page; only the columns in sight exist. */
export function Timeline({ trace, onSelect }) {
  const place = useRef(null);
  const { left, width } = useWindow(place);
  const rows = trace.rows ?? [];
  const from = Math.max(0, Math.floor(left / CELL) - 4);
  const to = Math.min(trace.n, Math.ceil((left + width) / CELL) + 4);
  useEffect(() => {
    const element = place.current;
    const x = state.step * CELL;
    if (x < element.scrollLeft) element.scrollLeft = x - 2 * CELL;
    else if (x + CELL > element.scrollLeft + element.clientWidth) element.scrollLeft = x - element.clientWidth + 3 * CELL;
  }, [state.step, trace]);
  return html`<div class="timeline"><div class="row-names" style=${{ paddingTop: `${HEAD}px` }}>${rows.map((row) => html`<div key=${row.text} title=${row.text}><code style=${{ paddingLeft: `${row.depth * 10}px` }}>${row.text}</code></div>`)}
    ${rows.length === 0 && html`<div class="muted">states</div>`}</div>
    <div class="columns-of-time" ref=${place} tabindex="0" aria-label="timeline" data-testid="timeline">
    <svg width=${trace.n * CELL} height=${HEAD + rows.length * ROW + 4} role="img" aria-label="states of the run"><${Columns} trace=${trace} from=${from} to=${to} onSelect=${onSelect} /></svg></div></div>`;
}
