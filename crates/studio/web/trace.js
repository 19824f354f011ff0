// A counterexample: its steps, its loop, where the formula holds, why it is fair, and its messages.

import { useRef, useMemo, useState, useEffect } from "/vendor/vendor.js";
import { html, state, set, complain, modelRequest, jump, openFile } from "/store.js";
import { ask } from "/server.js";
import { StateTree, Changes, ownerOf } from "/values.js";
import { Chart } from "/chart.js";
import { Timeline } from "/timeline.js";
import { useWindow } from "/window.js";
import { Picture } from "/picture.js";
import { exportHtml, exportSvg, exportItf } from "/export.js";
import { simulate } from "/simulate.js";

const ROW = 26;

/** Shows the trace of a result. */
export async function showTrace(of, more = {}) {
  try {
    const trace = prepare(await ask("trace", { ...modelRequest(), ...of }));
    set({ view: "trace", trace, traceOf: of, step: 0, process: "", variable: "", ...more });
  } catch (error) {
    complain(error);
    return false;
  }
  return true;
}

/** Shows a trace that was stored in a file; nothing is checked again. */
export async function openStored(path, step = 0) {
  try {
    const bare = await ask("stored", { trace: path });
    const source = bare.meta.source;
    const candidates = source ? [source, source.split("/").pop()] : [];
    const model = state.files.find((file) => candidates.includes(file)) ?? state.files.find((file) => candidates.some((c) => file.endsWith(`/${c}`)));
    if (model && model !== state.path) await openFile(model, "model");
    const trace = model ? await ask("stored", { ...modelRequest(), trace: path }) : bare;
    set({ view: "trace", trace: prepare(trace), traceOf: { file: path }, step, process: "", variable: "" });
  } catch (error) {
    complain(error);
  }
}

/** Adds the values of every hundredth state, so that any state is quickly made. */
function prepare(trace) {
  trace.n = trace.steps.length + (trace.loop === null ? 1 : 0);
  trace.marks = [];
  let values = trace.first;
  for (let at = 0; at < trace.n; at++) {
    if (at % 100 === 0) trace.marks.push(values);
    values = after(values, trace.steps[at]);
  }
  trace.processes = trace.meta.processes ?? [];
  return trace;
}

function after(values, step) {
  if (!step || step.changes.length === 0) return values;
  const next = values.slice();
  for (const [index, value] of step.changes) next[index] = value;
  return next;
}

export function valuesAt(trace, at) {
  let values = trace.marks[Math.floor(at / 100)];
  for (let i = at - (at % 100); i < at; i++) values = after(values, trace.steps[i]);
  return values;
}

const clamp = (at) => Math.max(0, Math.min(at, state.trace.n - 1));

export function select(at) {
  set({ step: clamp(at) });
}

export function traceKey(key) {
  if (!state.trace) return false;
  if (key === "ArrowLeft" || key === "ArrowUp") select(state.step - 1);
  else if (key === "ArrowRight" || key === "ArrowDown") {
    // The last state of a loop is followed by its first.
    const { trace, step } = state;
    select(step === trace.n - 1 && trace.loop !== null ? trace.loop : step + 1);
  } else if (key === "Home") select(0);
  else if (key === "End") select(state.trace.n - 1);
  else if (key === "PageUp") select(state.step - 20);
  else if (key === "PageDown") select(state.step + 20);
  else return false;
  return true;
}

/** Goes on from here in the simulator. */
async function stepInto() {
  const of = state.traceOf;
  try {
    const { start, choices } = of.file
      ? await ask("stored", { ...modelRequest(), trace: of.file, step: state.step })
      : await ask("follow", { ...modelRequest(), ...of, step: state.step });
    set({ view: "simulate", start, choices, future: [], sim: null, simFairness: state.trace.meta.fairness ?? "" });
    simulate();
  } catch (error) {
    complain(error);
  }
}

/** Which steps are shown. */
function shownSteps(trace) {
  const variable = state.variable.trim().toLowerCase();
  const shown = [];
  for (let at = 0; at < trace.steps.length; at++) {
    const step = trace.steps[at];
    if (state.process && !step.movers.includes(state.process)) continue;
    if (variable && !step.changes.some(([index]) => trace.vars[index].toLowerCase().includes(variable))) continue;
    shown.push(at);
  }
  return shown;
}

/** The steps from top to bottom; only those in sight exist. */
function Steps({ trace }) {
  const place = useRef(null);
  const { top, height } = useWindow(place);
  const shown = useMemo(() => shownSteps(trace), [trace, state.process, state.variable]);
  const filtered = shown.length < trace.steps.length;
  useEffect(() => {
    const row = shown.indexOf(state.step);
    const element = place.current;
    if (row < 0 || !element) return;
    if (row * ROW < element.scrollTop) element.scrollTop = row * ROW;
    else if ((row + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (row + 1) * ROW - element.clientHeight;
  }, [state.step, trace]);

  const from = Math.max(0, Math.floor(top / ROW) - 8);
  const to = Math.min(shown.length, Math.ceil((top + height) / ROW) + 8);
  const loopRow = trace.loop === null ? -1 : shown.findIndex((at) => at >= trace.loop);
  const visible = state.variable.trim().toLowerCase();
  return html`<div class="steps" ref=${place} tabindex="0" role="listbox" aria-label="steps" data-testid="steps">
    <div class="tall" style=${{ height: `${shown.length * ROW}px` }}>
      ${loopRow >= 0 && html`<div class="loop-line" style=${{ top: `${loopRow * ROW + ROW / 2}px`, height: `${Math.max(0, (shown.length - loopRow - 1) * ROW)}px` }} title="the loop"></div>`}
      ${shown.slice(from, to).map((at, i) => {
        const step = trace.steps[at];
        const changes = step.changes.map(([index, value]) => [trace.vars[index], value]).filter(([name]) => !visible || name.toLowerCase().includes(visible));
        return html`<div key=${at} role="option" aria-selected=${at === state.step} class="trace-row ${at === state.step ? "current" : ""} ${trace.loop !== null && at >= trace.loop ? "looping" : ""}"
          style=${{ top: `${(from + i) * ROW}px` }} onClick=${() => select(at)}>
          <span class="at">${at}</span><b>${step.actions?.join(" & ") || (step.actions ? "idle" : "?")}</b>
          <span class="movers muted">${step.movers.join(", ")}</span><span class="changes"><${Changes} changes=${changes} /></span></div>`;
      })}
    </div></div>
    ${filtered && html`<p class="muted">${shown.length} of ${trace.steps.length} steps</p>`}`;
}

/** Why the loop is fair, and what would exclude it; each reason leads to its step. */
function Reasons({ trace }) {
  const meta = trace.meta;
  const why = { taken: "is taken", disabled: "is not enabled", "never-enabled": "is never enabled in the loop", holds: "holds", "holds-throughout": "holds throughout the loop" };
  const at = (step) => step !== null && step !== undefined && html` <button class="link" onClick=${() => select(step)}>at ${step}</button>`;
  return html`<div class="reasons">
    ${meta.component && html`<p>The loop lies in a closed component of ${meta.component.states} states and ${meta.component.steps} steps.</p>`}
    ${meta.endless && html`<p>The run never returns to a state: rounds of ${meta.endless.length} steps from state ${meta.endless.start} go on forever. ${meta.endless.changes.join(", ")}</p>`}
    ${meta.conditions?.length > 0 && html`<h4>Why it is fair <small class="muted">under ${meta.fairness}</small></h4><ul>${meta.conditions.map((c) => html`<li><code>${c.condition}</code> ${why[c.fair_because] ?? c.fair_because}${at(c.at)}</li>`)}</ul>`}
    ${meta.assumptions?.length > 0 && html`<h4>Assumptions</h4><ul>${meta.assumptions.map((c) => html`<li><code>${c.condition}</code> ${why[c.fair_because] ?? c.fair_because}${at(c.at)}</li>`)}</ul>`}
    ${meta.excluded_by?.length > 0 && html`<h4>What would exclude it</h4><ul>${meta.excluded_by.map((e) => html`<li><b>${e.fairness}</b> fairness: <code>${e.subject}</code> is enabled${at(e.at)} and not taken</li>`)}</ul>`}
    ${meta.error && html`<p class="wrong">${meta.error.message}${meta.error.line && html` <button class="link" onClick=${() => jump({ file: meta.error.file, line: meta.error.line, column: meta.error.column })}>line ${meta.error.line}</button>`}</p>`}
    ${trace.misfit && html`<p class="wrong" data-testid="misfit">The trace does not fit the model: ${trace.misfit}</p>`}
  </div>`;
}

/** The picture that the model draws of the state. */
function StatePicture({ trace, at }) {
  const [picture, show] = useState(null);
  useEffect(() => {
    const controller = new AbortController();
    const asked = ask("picture", { ...modelRequest(), ...state.traceOf, step: at }, controller.signal);
    asked.then((answer) => show(answer.picture), () => {});
    return () => controller.abort();
  }, [trace, at]);
  return picture && html`<${Picture} picture=${picture} />`;
}

const KINDS = {
  "fair-loop": "a fair loop that violates the property", "endless-loop": "rounds that go on forever", "zero-time": "a loop in which time stops",
  "bad-prefix": "a run to a state that breaks the invariant", deadlock: "a run to a deadlock", "run-time-error": "a run to an error of the model",
  witness: "a run to what the property asks for", branch: "a run for a part of the formula",
};

export function Trace() {
  const trace = state.trace;
  if (!trace) return html`<main class="trace"><p class="muted">No run is open. Verify a property and show its counterexample, or open a stored trace.</p></main>`;
  const at = clamp(state.step);
  const values = valuesAt(trace, at);
  const before = at > 0 ? valuesAt(trace, at - 1) : undefined;
  const step = trace.steps[at];
  const places = trace.places?.[at] ?? [];
  const owns = (name) => !state.process || ownerOf(name, trace.processes) === state.process || !ownerOf(name, trace.processes);
  const wanted = trace.vars.map((name, i) => [name, i]).filter(([name]) => owns(name) && name.toLowerCase().includes(state.variable.trim().toLowerCase()));
  const different = wanted.filter(([, i]) => state.full || at === 0 || before[i] !== values[i]);
  const last = at + 1 < trace.n ? at + 1 : trace.loop;
  return html`<main class="trace">
    <div class="title"><h2>${trace.meta.property ?? "Run"} <small class="muted">${KINDS[trace.meta.kind] ?? ""}</small></h2><code class="formula">${trace.meta.formula}</code></div>
    <div class="controls">
      <button onClick=${() => traceKey("ArrowLeft")} disabled=${at === 0} title="←">◀</button>
      <button onClick=${() => traceKey("ArrowRight")} disabled=${last === null} title="→" data-testid="next">▶</button>
      <label>state <input type="number" min="0" max=${trace.n - 1} value=${at} onChange=${(e) => select(Number(e.target.value))} data-testid="trace-step" /></label>
      <label>process <select value=${state.process} onChange=${(e) => set({ process: e.target.value })}><option value="">all</option>${trace.processes.map((name) => html`<option>${name}</option>`)}</select></label>
      <label>variable <input value=${state.variable} onInput=${(e) => set({ variable: e.target.value })} placeholder="part of a name" data-testid="variable" /></label>
      <span class="tabs" role="tablist">${[["steps", "Steps"], ["messages", "Messages"]].map(([tab, title]) => html`<button role="tab" aria-selected=${state.traceTab === tab} class=${state.traceTab === tab ? "current" : ""} onClick=${() => set({ traceTab: tab })}>${title}</button>`)}</span>
      <button onClick=${stepInto} disabled=${!trace.simulable} data-testid="step-into">Simulate from here</button>
      <span class="menu"><button onClick=${() => exportHtml(trace)} data-testid="export-html">HTML</button><button onClick=${() => exportSvg(trace)} title=${state.traceTab === "messages" ? "the chart" : "the timeline"} data-testid="export-svg">SVG</button>
        ${state.traceOf && !state.traceOf.file && html`<button onClick=${() => exportItf()} title="a file that fair explain and fair replay read" data-testid="export-itf">ITF</button>`}</span>
    </div>
    <${Timeline} trace=${trace} onSelect=${select} />
    <div class="columns two">
      <div class="column wide">${state.traceTab === "messages" ? html`<div class="scroll chart-place"><${Chart} trace=${trace} selected=${at} onSelect=${select} /></div>` : html`<${Steps} trace=${trace} />`}</div>
      <div class="column">
        <section aria-label="state"><h3>State ${at} <label class="inline"><input type="checkbox" checked=${state.full} onChange=${(e) => set({ full: e.target.checked })} data-testid="full" /> everything</label></h3>
          ${step && html`<p>next: <b>${step.actions?.join(" & ") || "idle"}</b> ${places.map((place) => html`<button class="small" onClick=${() => jump(place)} data-testid="line">line ${place.line}</button>`)}</p>`}
          <${StateTree} vars=${different.map(([name]) => name)} values=${different.map(([, i]) => values[i])} before=${before && different.map(([, i]) => before[i])} />
        </section>
        ${trace.picture && html`<${StatePicture} trace=${trace} at=${at} />`}
        <${Reasons} trace=${trace} />
      </div>
    </div></main>`;
}
