// The state of the page: one object, changed by `set`, with what belongs into the address kept there.

import { htm, h, useEffect, useReducer } from "/vendor/vendor.js";
import { ask, setToken, tab, Refused } from "/server.js";

export const html = htm.bind(h);

export const state = {
  view: "start", // start, model, simulate, trace, graph
  folder: "", files: [], examples: [], notions: [], version: "",
  path: "", text: "", hash: null, saved: "", // the open file, its text, what the disk has
  defines: "", // as in `N=3 M=2`
  changed: null, // the text on the disk, if it has become another one
  diagnostics: [], model: null, analysed: "", analysing: 0,
  results: new Map(), // `property\nasked` -> result
  resultsFor: "", // the text that they are about
  fairness: "default", running: null, plot: [],
  trace: null, traceOf: null, step: 0, traceTab: "steps", full: false, process: "", variable: "",
  sim: null, start: 0, choices: [], future: [], simFairness: "", breakpoint: "", simError: "",
  graph: null, keep: null, around: false, marked: false, graphError: "",
  message: "", connected: false, refused: false, theme: "", document: null,
};

const listeners = new Set();

/** Changes the state and shows it. */
export function set(changes) {
  Object.assign(state, changes);
  writeAddress();
  for (const listener of listeners) listener();
}

/** Shows the state again whenever it changes. */
export function useStore() {
  const [, update] = useReducer((n) => n + 1, 0);
  useEffect(() => {
    listeners.add(update);
    return () => listeners.delete(update);
  }, []);
  return state;
}

/** Says what went wrong, for a while. */
let timer;
export function complain(error) {
  if (error?.name === "AbortError") return;
  clearTimeout(timer);
  set({ message: error instanceof Error ? error.message : String(error) });
  timer = setTimeout(() => set({ message: "" }), 8000);
}

/** The model as the server wants it. */
export function modelRequest() {
  return { path: state.path, text: state.text, defines: definesOf(state.defines) };
}

export function definesOf(text) {
  return text.split(/[\s,]+/).filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
  });
}

/** Tells texts (with their definitions) apart. */
export function textKey() {
  return `${state.path}\n${state.defines}\n${state.text}`;
}

export const resultKey = (property, asked) => `${property}\n${asked}`;

// The address: what a link or a reload brings back.

let frozen = true;
let written = "";

function writeAddress() {
  if (frozen) return;
  const fields = new URLSearchParams();
  const put = (name, value) => value !== "" && value !== null && value !== undefined && fields.set(name, value);
  put("token", sessionToken);
  put("file", state.path);
  put("view", state.view);
  put("define", state.defines);
  if (state.fairness !== "default") put("fairness", state.fairness);
  if (state.view === "trace" && state.traceOf) {
    const of = state.traceOf;
    if (of.file) put("trace", of.file);
    else put("property", of.property), put("asked", of.asked), put("branch", of.branch);
    put("step", state.step);
    if (state.traceTab !== "steps") put("part", state.traceTab);
    if (state.full) put("full", 1);
  }
  if (state.view === "simulate" || (state.view === "graph" && state.around)) {
    if (state.start) put("start", state.start);
    put("walk", packChoices(state.choices));
    put("fair", state.simFairness);
    put("break", state.breakpoint);
  }
  if (state.view === "graph") {
    if (state.keep) put("keep", state.keep.join("|"));
    if (state.around) put("around", 1);
  }
  const address = `#${fields}`;
  if (address !== written) {
    written = address;
    history.replaceState(null, "", address);
  }
}

let sessionToken = "";

/** Reads the address; the rest of the fields are returned for whoever restores the view. */
export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  sessionToken = fields.get("token") ?? sessionToken;
  setToken(sessionToken);
  return fields;
}

/** An address that was put into the tab by hand is another visit. */
export function followLink() {
  if (location.hash !== written) location.reload();
}

export function thawAddress() {
  frozen = false;
  set({});
}

/** `0.0.0.1` as `0*3.1`, short enough for addresses. */
export function packChoices(choices) {
  const parts = [];
  for (let i = 0; i < choices.length;) {
    let n = 1;
    while (choices[i + n] === choices[i]) n++;
    parts.push(n > 1 ? `${choices[i]}*${n}` : `${choices[i]}`);
    i += n;
  }
  const packed = parts.join(".");
  return packed.length <= 6000 ? packed : "";
}

export function unpackChoices(text) {
  const choices = [];
  for (const part of (text ?? "").split(".").filter(Boolean)) {
    const [choice, n = 1] = part.split("*").map(Number);
    if (!Number.isInteger(choice) || !(n >= 1 && n <= 100000)) return [];
    for (let i = 0; i < n; i++) choices.push(choice);
  }
  return choices;
}

// Files.

const draftKey = (path) => `draft:${path}`;

export async function openFile(path, view = "model") {
  try {
    const { text, hash } = await ask("open", { tab, path });
    const draft = sessionStorage.getItem(draftKey(path));
    show({ path, text: draft ?? text, saved: text, hash, view });
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** A text without a file: an example, or something new. */
export function openText(path, text) {
  show({ path, text, saved: "", hash: null, view: "model" });
}

function show(fields) {
  set({
    ...fields, changed: null, diagnostics: [], model: null, analysed: "", results: new Map(), resultsFor: "",
    trace: null, traceOf: null, sim: null, start: 0, choices: [], future: [], graph: null, keep: null, document: null,
    message: "", step: 0,
  });
  analyse();
}

export const isDirty = () => state.path !== "" && (state.text !== state.saved || state.hash === null);

export async function save(path = state.path, base = state.hash) {
  if (!path) return;
  const text = state.text;
  try {
    const { hash, files } = await ask("save", { tab, path, text, base });
    sessionStorage.removeItem(draftKey(path));
    set({ path, hash, files, saved: text, changed: null, message: `saved ${path}` });
  } catch (error) {
    if (error instanceof Refused && error.status === 409) set({ changed: error.body.text, message: error.message });
    else complain(error);
  }
}

/** Keeps what is on the disk, or what is in the editor. */
export function resolveChange(keepMine) {
  const theirs = state.changed;
  ask("open", { tab, path: state.path }).then(({ text, hash }) => {
    if (keepMine) set({ saved: text, hash, changed: null });
    else edit(text, { saved: text, hash, changed: null });
  }, complain);
  return theirs;
}

/** The text has changed in the editor. */
export function edit(text, more = {}) {
  set({ text, ...more });
  if (isDirty()) sessionStorage.setItem(draftKey(state.path), text);
  else sessionStorage.removeItem(draftKey(state.path));
  analyseSoon();
}

let soon;
function analyseSoon() {
  clearTimeout(soon);
  soon = setTimeout(analyse, 60);
}

let analysis;
/** Asks what is to be said about the text. */
export async function analyse() {
  if (!state.path || state.path.endsWith(".itf.json")) return;
  analysis?.abort();
  analysis = new AbortController();
  const key = textKey();
  const began = performance.now();
  try {
    const { diagnostics, model } = await ask("analyse", modelRequest(), analysis.signal);
    if (key !== textKey()) return;
    set({
      diagnostics, model: model ?? state.model, analysed: key, valid: model !== null,
      analysing: performance.now() - began,
    });
    if (model) loadResults();
  } catch (error) {
    complain(error);
  }
}

async function loadResults() {
  const key = textKey();
  const { results } = await ask("results", modelRequest()).catch(() => ({ results: [] }));
  if (key !== textKey() || results.length === 0) return;
  const known = new Map(state.resultsFor === key ? state.results : []);
  for (const result of results) known.set(resultKey(result.property, result.asked), result);
  set({ results: known, resultsFor: key });
}

export const isStale = () => state.results.size > 0 && state.resultsFor !== textKey();

/** Goes to a line of the text. */
export let goTo = null;
export function jump(position) {
  if (!position) return;
  if (position.file && position.file !== state.path) return complain(`this is written in ${position.file}`);
  goTo = { line: position.line, column: position.column ?? 1 };
  set({ view: "model" });
}
export function arrived() {
  goTo = null;
}
