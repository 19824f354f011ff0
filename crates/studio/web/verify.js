// Properties, verdicts, progress.

import { html, state, set, complain, modelRequest, textKey, resultKey, isStale, jump, analyse } from "/store.js";
import { ask, tab } from "/server.js";
import { showTrace } from "/trace.js";

const SIGN = { holds: "✓", violated: "✗", unknown: "?" };

/** Checks some properties, or all. */
export async function verify(questions = null, fairness = state.fairness) {
  if (state.running) return;
  const key = textKey();
  const kept = state.resultsFor === key ? state.results : new Map();
  set({ running: { key, property: "", asked: "", progress: null, cancelling: false }, plot: [], results: new Map(kept), resultsFor: key });
  try {
    await ask("check", { tab, ...modelRequest(), questions, fairness });
  } catch (error) {
    set({ running: null });
    if (error.body?.diagnostics) set({ diagnostics: error.body.diagnostics });
    complain(error);
  }
}

export function cancel() {
  if (!state.running) return;
  set({ running: { ...state.running, cancelling: true } });
  ask("cancel", { tab }).catch(complain);
}

/** What the server tells about a search. */
export function hearSearch(event) {
  const running = state.running;
  switch (event.kind) {
    case "begin":
      if (running) set({ running: { ...running, property: event.property, asked: event.asked, progress: null }, plot: [] });
      break;
    case "progress":
      if (running) set({ running: { ...running, progress: event }, plot: [...state.plot, event].slice(-400) });
      break;
    case "result": {
      if (!running || running.key !== state.resultsFor) break;
      const results = new Map(state.results);
      results.set(resultKey(event.result.property, event.result.asked), event.result);
      set({ results });
      break;
    }
    case "done":
      set({ running: null });
      if (event.error) complain(event.error);
      break;
  }
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const unit = bytes < 1 << 20 ? ["KiB", 1 << 10] : bytes < 1 << 30 ? ["MiB", 1 << 20] : ["GiB", 1 << 30];
  return `${(bytes / unit[1]).toFixed(1)} ${unit[0]}`;
}

const number = (n) => (n ?? 0).toLocaleString("en");
const time = (seconds) => (seconds < 0.01 ? "< 0.01 s" : seconds < 10 ? `${seconds.toFixed(2)} s` : `${seconds.toFixed(0)} s`);

function Verdict({ result, stale }) {
  if (!result) return html`<span class="verdict none">not checked</span>`;
  return html`<span class="verdict ${result.verdict} ${stale ? "stale" : ""}" title=${stale ? "the text has changed since" : ""}>
    ${SIGN[result.verdict]} ${result.verdict}${result.reason && html` <small>(${result.reason})</small>`}${stale && html` <small>stale</small>`}</span>`;
}

/** States over time, as a small line. */
function Plot() {
  const points = state.plot;
  if (points.length < 2) return html`<svg class="plot" viewBox="0 0 200 40" role="img" aria-label="states over time"></svg>`;
  const last = points[points.length - 1];
  const x = (p) => (200 * p.seconds) / (last.seconds || 1);
  const y = (p) => 38 - (36 * p.states) / (last.states || 1);
  const line = points.map((p) => `${x(p).toFixed(1)},${y(p).toFixed(1)}`).join(" ");
  return html`<svg class="plot" viewBox="0 0 200 40" preserveAspectRatio="none" role="img" aria-label="states over time"><polyline points=${line} /></svg>`;
}

function Progress() {
  const { property, asked, progress, cancelling } = state.running;
  return html`<div class="progress" role="status" data-testid="progress">
    <div class="row"><b>${property || "starting"}</b> <span class="muted">${asked === "default" ? "" : asked}</span>
      <button onClick=${cancel} disabled=${cancelling} data-testid="cancel">${cancelling ? "stopping" : "Cancel"}</button></div>
    <${Plot} />
    <div class="figures">${progress
      ? html`<span>${progress.phase}</span><span>${number(progress.states)} states</span>
        <span>${number(Math.round(progress.states / (progress.seconds || 1)))}/s</span><span>depth ${number(progress.depth)}</span>
        <span>${size(progress.memory)}</span><span>${time(progress.seconds)}</span>`
      : html`<span class="muted">…</span>`}</div>
  </div>`;
}

function Property({ question }) {
  const asked = state.fairness === "all" ? "default" : state.fairness;
  const result = state.results.get(resultKey(question.name, asked));
  const stale = isStale();
  const warnings = result?.warnings ?? [];
  return html`<li class="property" data-property=${question.name}>
    <div class="row">
      <button class="link name" onClick=${() => jump(question.position)} title="go to where it is written">${question.name}</button>
      <${Verdict} result=${result} stale=${stale} />
      <button class="small" disabled=${!!state.running || !state.valid} onClick=${() => verify([question.name])} title="check this property">Run</button>
    </div>
    <code class="formula">${question.text}</code>
    ${result && html`<div class="figures"><span>fairness ${result.fairness}</span><span>${result.route}</span>
      <span>${number(result.states)} states</span><span>${time(result.seconds)}</span></div>`}
    ${result?.steps != null && html`<button class="evidence" disabled=${stale} onClick=${() => showTrace({ property: question.name, asked })}>
      ${result.verdict === "holds" ? "Show the witness" : "Show the counterexample"}
      <small class="below">${result.steps} steps${result.loop != null ? `, loop from ${result.loop}` : ""}</small></button>`}
    ${result?.shows?.map((shows, branch) => html`<button class="evidence" disabled=${stale}
      onClick=${() => showTrace({ property: question.name, asked, branch })}>Show a run for <code>${shows}</code></button>`)}
    ${result?.expected && html`<p class="remark ${result.expected === result.verdict ? "" : "warning"}">${result.expected === result.verdict ? "as expected" : `expected: ${result.expected}`}</p>`}
    ${(result?.remarks ?? []).map((remark) => html`<p class="remark">${remark}</p>`)}
    ${warnings.map((warning) => html`<p class="remark warning">${warning.message}</p>`)}
  </li>`;
}

/** Verdicts under all notions of fairness. */
function Table() {
  const notions = state.notions.filter((name) => name !== "annotated");
  const any = [...state.results.values()].some((result) => result.asked !== "default");
  if (!any || !state.model) return null;
  const stale = isStale();
  return html`<section><h3>Under all notions of fairness</h3>
    <div class="scroll"><table class="notions" data-testid="notions"><thead><tr><th>property</th>${notions.map((n) => html`<th>${n}</th>`)}</tr></thead>
    <tbody>${state.model.questions.map((q) => html`<tr><th>${q.name}</th>${notions.map((n) => {
      const result = state.results.get(resultKey(q.name, n));
      const open = result?.steps != null && !stale;
      return html`<td>${result
        ? html`<button class="cell ${result.verdict} ${stale ? "stale" : ""}" disabled=${!open} title=${`${result.verdict} under ${n}`}
            onClick=${() => showTrace({ property: q.name, asked: n })}>${SIGN[result.verdict]}</button>`
        : html`<span class="muted">·</span>`}</td>`;
    })}</tr>`)}</tbody></table></div></section>`;
}

export function Properties() {
  const model = state.model;
  const counts = state.diagnostics.reduce((n, d) => ({ ...n, [d.severity]: (n[d.severity] ?? 0) + 1 }), {});
  return html`<aside class="panel properties" aria-label="properties">
    <div class="controls">
      <label>fairness <select value=${state.fairness} onChange=${(e) => set({ fairness: e.target.value })} data-testid="fairness">
        <option value="default">as written</option>
        ${state.notions.map((n) => html`<option value=${n}>${n}</option>`)}
        <option value="all">all notions</option></select></label>
      <label>values <input class="defines" placeholder="N=3" value=${state.defines} title="values for constants and parameters"
        onChange=${(e) => (set({ defines: e.target.value.trim() }), analyse())} data-testid="defines" /></label>
      <button class="primary" disabled=${!!state.running || !state.valid} onClick=${() => verify()} title="Ctrl+Enter" data-testid="verify">Verify all</button>
    </div>
    ${!state.valid && state.analysed && html`<p class="wrong" data-testid="wrong">${counts.error ?? 0} ${counts.error === 1 ? "error" : "errors"} in the text</p>`}
    ${state.running && html`<${Progress} />`}
    ${model?.family && html`<p class="muted">Checked for all values of its parameter; give it a value to simulate.</p>`}
    ${model && model.questions.length === 0 && html`<p class="muted">The model has no properties.</p>`}
    <ul class="plain">${model?.questions.map((question) => html`<${Property} key=${question.name} question=${question} />`)}</ul>
    <${Table} />
  </aside>`;
}
