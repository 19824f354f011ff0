// A walk through the model, step by step.

import { html, state, set, complain, modelRequest, textKey, jump } from "/store.js";
import { ask, tab } from "/server.js";
import { StateTree, Changes } from "/values.js";
import { Picture } from "/picture.js";

let request;

/** Asks where the way leads; `more` may go on at random. */
export async function simulate(more = {}) {
  request?.abort();
  request = new AbortController();
  const key = textKey();
  const known = state.sim && state.sim.key === key && state.sim.start === state.start ? state.sim : null;
  let since = 0;
  if (known) while (since < known.choices.length && known.choices[since] === state.choices[since]) since++;
  try {
    const answer = await ask("simulate", {
      tab, ...modelRequest(), start: state.start, choices: state.choices, since,
      fairness: state.simFairness || null, breakpoint: state.breakpoint || null, ...more,
    }, request.signal);
    const history = [...(known?.history.slice(0, answer.since) ?? []), ...answer.history];
    set({ sim: { ...answer, history, key, start: state.start }, choices: answer.choices, simError: "" });
    if (answer.stopped) set({ message: { breakpoint: "the breakpoint was reached", deadlock: "no step is possible any more", error: "the model fails here" }[answer.stopped] });
  } catch (error) {
    if (error.name === "AbortError") return;
    set({ simError: error.message });
    complain(error);
  }
}

function take(choice) {
  const future = state.future[0] === choice ? state.future.slice(1) : [];
  set({ choices: [...state.choices, choice], future });
  return simulate();
}

export function goTo(length) {
  const all = [...state.choices, ...state.future];
  const n = Math.max(0, Math.min(length, all.length));
  set({ choices: all.slice(0, n), future: all.slice(n) });
  return simulate();
}

function wander(steps) {
  set({ future: [] });
  return simulate({ random: { steps, seed: Math.floor(Math.random() * 2 ** 32) } });
}

export function simulateKey(key) {
  if (!state.sim) return false;
  if (key === "ArrowLeft") goTo(state.choices.length - 1);
  else if (key === "ArrowRight") goTo(state.choices.length + 1);
  else if (key === "Home") goTo(0);
  else if (key === "End") goTo(Infinity);
  else if (key === "r" || key === "R") wander(1);
  else if (/^[1-9]$/.test(key) && Number(key) <= state.sim.enabled.length) take(Number(key) - 1);
  else return false;
  return true;
}

/** The possible steps, by who takes them. */
function Enabled({ sim }) {
  const groups = new Map();
  sim.enabled.forEach((step, choice) => {
    const owner = step.movers.join(" & ") || "the system";
    if (!groups.has(owner)) groups.set(owner, []);
    groups.get(owner).push([choice, step]);
  });
  return html`<section aria-label="possible steps"><h3>Possible steps</h3>
    ${sim.here === "deadlock" && html`<p class="wrong" data-testid="deadlock">Deadlock: no step is possible.</p>`}
    ${sim.here === "error" && html`<p class="wrong">Run-time error: ${sim.message}</p>`}
    ${[...groups].map(([owner, steps]) => html`<div class="group" key=${owner}><h4>${owner}</h4>${steps.map(([choice, step]) => html`<div class="row">
      <button class="step" onClick=${() => take(choice)} data-choice=${choice}>${step.actions.join(" & ")}</button>
      <span class="changes"><${Changes} changes=${step.changes} /></span>
      ${step.places[0] && html`<button class="small" onClick=${() => jump(step.places[0])} title="where it is written">line ${step.places[0].line}</button>`}
    </div>`)}</div>`)}
    ${sim.n_enabled > sim.enabled.length && html`<p class="muted">and ${sim.n_enabled - sim.enabled.length} more</p>`}
  </section>`;
}

/** What each fairness condition still demands. */
function Obligations({ sim }) {
  const judged = new Map((sim.loop?.reasons ?? []).map((reason) => [reason.condition, reason]));
  return html`<section aria-label="fairness"><h3>Fairness obligations
      <select value=${state.simFairness} onChange=${(e) => (set({ simFairness: e.target.value }), simulate())} data-testid="sim-fairness">
        <option value="">of the model (${sim.fairness})</option>${state.notions.map((n) => html`<option value=${n}>${n}</option>`)}</select></h3>
    ${sim.loop
      ? html`<p class=${sim.loop.fair ? "good" : "wrong"} data-testid="loop">This state was visited at step ${sim.loop.start}. Repeating forever what happened since would be
        <b> ${sim.loop.fair ? "fair" : "unfair"}</b>${sim.loop.missing ? html`: <code>${sim.loop.missing}</code> is never taken` : "."}</p>`
      : html`<p class="muted">This state is new: there is no loop yet.</p>`}
    ${sim.obligations.length === 0 && html`<p class="muted">This fairness demands nothing here.</p>`}
    ${sim.obligations.length > 0 && html`<div class="scroll"><table class="obligations" data-testid="obligations"><thead><tr><th>condition</th><th>enabled</th><th>last taken</th><th>pending</th><th>if repeated</th></tr></thead>
    <tbody>${sim.obligations.map((o) => {
      const reason = judged.get(o.condition);
      return html`<tr class=${o.pending ? "pending" : ""} data-condition=${o.condition}><th>${o.condition}</th>
        <td>${o.enabled ? html`since ${o.since}` : "no"}</td><td>${o.taken === null ? "never" : html`step ${o.taken}`}</td>
        <td>${o.pending ? o.text : "–"}</td><td class=${reason?.because === "unfair" ? "bad" : ""}>${reason ? `${reason.because}${reason.at !== null ? ` at ${reason.at}` : ""}` : ""}</td></tr>`;
    })}</tbody></table></div>`}
    ${sim.assumed.map((assumption) => html`<p class="muted">assumed of every run: <code>${assumption}</code></p>`)}
  </section>`;
}

const TRUTH = (value) => (value === null || value === undefined ? html`<span class="truth open" title="depends on how the run goes on">?</span>`
  : value ? html`<span class="truth yes">true</span>` : html`<span class="truth no">false</span>`);

function PropertiesHere({ sim }) {
  if (sim.properties.length === 0) return null;
  return html`<section aria-label="properties along the way"><h3>Properties</h3>${sim.properties.map((property) => html`<details key=${property.name} class="entry">
    <summary><b>${property.name}</b> ${property.error ? html`<span class="wrong">${property.error}</span>` : html`of this run: ${TRUTH(property.whole)}`}</summary>
    <table class="parts">${(property.parts ?? []).map((part) => html`<tr><td><code class="indent" style=${{ paddingLeft: `${part.depth * 12}px` }}>${part.text}</code></td><td>${TRUTH(part.now)}</td></tr>`)}</table></details>`)}</section>`;
}

function History({ sim }) {
  const all = sim.history;
  const from = Math.max(0, all.length - 200);
  return html`<section aria-label="history"><h3>Way so far <small class="muted">${all.length} steps</small></h3>
    <ol class="plain history"><li><button class="link ${all.length === 0 ? "current" : ""}" onClick=${() => goTo(0)}>0 start</button></li>
    ${from > 0 && html`<li class="muted">… ${from} steps</li>`}
    ${all.slice(from).map((step, i) => html`<li key=${from + i}><button class="link ${from + i + 1 === all.length ? "current" : ""}" onClick=${() => goTo(from + i + 1)}>
      ${from + i + 1} ${step.actions.join(" & ")}</button> <span class="changes"><${Changes} changes=${step.changes} /></span></li>`)}
    ${state.future.length > 0 && html`<li class="muted">${state.future.length} steps ahead (→)</li>`}</ol></section>`;
}

export function Simulate() {
  const sim = state.sim;
  if (!sim) return html`<main class="simulate"><p class=${state.simError ? "wrong" : "muted"} data-testid="sim-error">${state.simError || "…"}</p></main>`;
  const stale = sim.key !== textKey();
  const n = state.choices.length;
  return html`<main class="simulate">
    <div class="controls">
      <button onClick=${() => goTo(0)} disabled=${n === 0} title="Home">|◀ Start</button>
      <button onClick=${() => goTo(n - 1)} disabled=${n === 0} title="←" data-testid="back">◀ Back</button>
      <button onClick=${() => goTo(n + 1)} disabled=${state.future.length === 0} title="→" data-testid="forward">Forward ▶</button>
      <label>step <input type="number" min="0" max=${n + state.future.length} value=${n} onChange=${(e) => goTo(Number(e.target.value))} data-testid="goto" /></label>
      <button onClick=${() => wander(1)} title="R" disabled=${sim.here !== "steps"}>Random step</button>
      <button onClick=${() => wander(100)} disabled=${sim.here !== "steps"} data-testid="walk">Random walk</button>
      <label>stop when <input class="breakpoint" placeholder="x == 3" value=${state.breakpoint} onChange=${(e) => (set({ breakpoint: e.target.value }), simulate())} data-testid="breakpoint" /></label>
      ${sim.n_starts > 1 && html`<label>start in <select value=${state.start} onChange=${(e) => (set({ start: Number(e.target.value), choices: [], future: [], sim: null }), simulate())}>
        ${sim.starts.map((words, i) => html`<option value=${i}>${i}: ${words.slice(0, 80)}</option>`)}</select></label>`}
      ${stale && html`<button class="primary" onClick=${() => (set({ sim: null, choices: [], future: [] }), simulate())} data-testid="stale-sim">The text has changed: start again</button>`}
    </div>
    ${state.simError && html`<p class="wrong" data-testid="sim-error">${state.simError}</p>`}
    <div class="columns three">
      <div class="column"><${Enabled} sim=${sim} /><${History} sim=${sim} /></div>
      <div class="column"><section aria-label="current state"><h3>State <small class="muted">after ${n} steps</small></h3><${StateTree} vars=${sim.vars} values=${sim.values} before=${sim.before} /></section>
        ${sim.picture && html`<${Picture} picture=${sim.picture} />`}</div>
      <div class="column"><${Obligations} sim=${sim} /><${PropertiesHere} sim=${sim} /></div>
    </div></main>`;
}
