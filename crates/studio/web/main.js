// The page: header, views, and what restores them from the address.

import { render, useEffect } from "/vendor/vendor.js";
import {
  html, state, set, useStore, complain, readAddress, followLink, thawAddress, unpackChoices, openFile, save, resolveChange,
  isDirty, jump, edit,
} from "/store.js";
import { ask, connection, listen, tab } from "/server.js";
import { Editor } from "/editor.js";
import { Start, open } from "/start.js";
import { FileTree } from "/files.js";
import { Properties, hearSearch, verify } from "/verify.js";
import { Simulate, simulate, simulateKey } from "/simulate.js";
import { Trace, showTrace, openStored, traceKey } from "/trace.js";
import { Graph, draw } from "/graph.js";

const VIEWS = [["start", "Start"], ["model", "Model"], ["simulate", "Simulate"], ["trace", "Trace"], ["graph", "Graph"]];

/** Goes to another view, if there is something to see. */
export function visit(view) {
  if (view !== "start" && !state.path && !(view === "trace" && state.trace)) return;
  set({ view, document: null });
  if (view === "simulate" && !state.sim) simulate();
  if (view === "graph" && !state.graph) draw();
}

function Header() {
  const dirty = isDirty();
  return html`<header>
    <img src="/icon.svg" alt="" width="24" height="24" />
    <nav aria-label="views">${VIEWS.map(([view, title], i) => html`<button key=${view} class=${state.view === view ? "current" : ""}
      aria-current=${state.view === view ? "page" : undefined} title=${`Alt+${i + 1}`} disabled=${view !== "start" && !state.path && !(view === "trace" && state.trace)}
      onClick=${() => visit(view)}>${title}</button>`)}</nav>
    <span class="file" title=${state.path} data-testid="file">${state.path}${dirty && html`<b title="not saved"> ●</b>`}</span>
    ${state.path && html`<button onClick=${() => save()} disabled=${!dirty} title="Ctrl+S" data-testid="save">Save</button>`}
    <span class="spacer"></span>
    <span class="message" role="status" aria-live="polite" data-testid="message">${state.message}</span>
    <span class="connection ${state.connected ? "on" : "off"}" title=${state.connected ? "connected" : "the server does not answer"}></span>
    <button onClick=${switchTheme} title="light or dark" aria-label="light or dark" data-testid="theme">◐</button>
  </header>`;
}

const wantsDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

function switchTheme() {
  const now = document.documentElement.dataset.theme || (wantsDark() ? "dark" : "light");
  const theme = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

function Files() {
  const groups = [["process", "Processes"], ["variable", "Variables"], ["channel", "Channels"], ["event", "Events"], ["property", "Properties"]];
  const outline = state.model?.outline ?? [];
  return html`<aside class="panel sidebar" aria-label="files and outline">
    <details open><summary>Files</summary><${FileTree} open=${open} /></details>
    <details open><summary>Outline</summary>${groups.map(([kind, title]) => {
      const entries = outline.filter((entry) => entry.kind === kind);
      return entries.length > 0 && html`<h4>${title}</h4><ul class="plain">${entries.map((entry) => html`<li>
        <button class="link" onClick=${() => jump(entry.position)} title=${entry.detail}>${entry.name}</button>
        ${kind !== "property" && html` <small class="muted">${entry.detail}</small>`}</li>`)}</ul>`;
    })}</details>
  </aside>`;
}

function Problems() {
  if (state.diagnostics.length === 0) return null;
  return html`<ul class="plain problems" data-testid="problems">${state.diagnostics.map((d) => {
    const label = d.labels[0] ?? {};
    return html`<li class=${d.severity}><button class="link" onClick=${() => jump({ file: label.file, line: label.line ?? 1, column: label.column })}>
      <b>${d.severity}</b> ${label.line}:${label.column} ${d.message}</button>
      ${d.help.map((help) => html`<div class="help">help: ${help}</div>`)}
      ${d.fixes.filter((fix) => fix.source === 0).map((fix) => html`<button class="small fix" onClick=${() =>
        edit(state.text.slice(0, fix.from) + fix.text + state.text.slice(fix.to))}>${fix.title}</button>`)}</li>`;
  })}</ul>`;
}

function Changed() {
  if (state.changed === null) return null;
  return html`<div class="banner" role="alert" data-testid="changed">The file has changed on the disk.
    <button onClick=${() => resolveChange(false)}>Take the file</button>
    <button onClick=${() => resolveChange(true)}>Keep my text</button></div>`;
}

function Model() {
  return html`<div class="model"><${Files} /><main class="text"><${Changed} /><${Editor} /><${Problems} /></main><${Properties} /></div>`;
}

function App() {
  useStore();
  useEffect(() => {
    const key = (event) => {
      if (event.altKey && /^[1-5]$/.test(event.key)) event.preventDefault(), visit(VIEWS[event.key - 1][0]);
      else if ((event.ctrlKey || event.metaKey) && event.key === "s") event.preventDefault(), save();
      else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") event.preventDefault(), verify();
      else if (!/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !event.target.closest?.(".cm-editor")) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (state.view === "trace" && traceKey(event.key)) event.preventDefault();
        if (state.view === "simulate" && simulateKey(event.key)) event.preventDefault();
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  if (state.refused) return html`<main class="start"><h1>Fairground Studio</h1>
    <p class="wrong" data-testid="refused">This address has no valid token. Open the one that <code>fair studio</code> has printed.</p></main>`;
  const view = { start: Start, model: Model, simulate: Simulate, trace: Trace, graph: Graph }[state.view];
  return html`<${Header} /><${view} />`;
}

function hear(event) {
  if (event.kind === "hello") {
    set({ connected: true });
    // From now on the server can say when the file changes.
    if (state.path && state.hash !== null) ask("open", { tab, path: state.path }).catch(() => {});
  }
  else if (event.kind === "changed") {
    if (event.path !== state.path || event.hash === state.hash) return;
    // A text that was not touched follows the disk by itself.
    if (!isDirty()) edit(event.text, { saved: event.text, hash: event.hash, message: "the file has changed on the disk and was read again" });
    else set({ changed: event.text });
  } else hearSearch(event);
}

/** Brings back what the address says. */
async function restore(fields, hello) {
  const file = fields.get("file") ?? hello.file;
  const view = fields.get("view") ?? (hello.file ? "model" : "start");
  set({ defines: fields.get("define") ?? "", fairness: fields.get("fairness") ?? "default" });
  if (file && file.endsWith(".itf.json")) await openStored(file);
  else if (file) await openFile(file, "model");
  if (fields.get("trace")) await openStored(fields.get("trace"), Number(fields.get("step") ?? 0));
  else if (view === "trace" && fields.get("property")) {
    const branch = fields.get("branch");
    await showTrace({ property: fields.get("property"), asked: fields.get("asked") ?? "default", branch: branch === null ? undefined : Number(branch) }, {
      step: Number(fields.get("step") ?? 0), traceTab: fields.get("part") ?? "steps", full: fields.get("full") === "1",
    });
  } else if (view === "simulate" || view === "graph") {
    set({
      start: Number(fields.get("start") ?? 0), choices: unpackChoices(fields.get("walk")), simFairness: fields.get("fair") ?? "",
      breakpoint: fields.get("break") ?? "", keep: fields.get("keep")?.split("|") ?? null, around: fields.get("around") === "1",
    });
    if (state.path) {
      set({ view });
      await (view === "simulate" ? simulate() : draw());
    }
  }
  thawAddress();
}

async function begin() {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  const fields = readAddress();
  addEventListener("hashchange", followLink);
  const place = document.getElementById("app");
  place.textContent = "";
  render(html`<${App} />`, place);
  try {
    const hello = await ask("hello");
    set({ folder: hello.folder, files: hello.files, examples: hello.examples, notions: hello.notions, version: hello.version });
    listen(hear, (why) => {
      set({ connected: false, running: null });
      if (why === "refused") set({ refused: true });
    });
    // The server looks after the file of a tab that it knows.
    await Promise.race([connection, new Promise((resolve) => setTimeout(resolve, 2000))]);
    await restore(fields, hello);
  } catch (error) {
    if (error.status === 403) set({ refused: true });
    else complain(error);
  }
}

begin();
