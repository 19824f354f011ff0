// The start page: files, examples, the tutorial.

import { html, state, set, openFile, openText, complain } from "/store.js";
import { ask } from "/server.js";
import { openStored } from "/trace.js";
import { FileTree } from "/files.js";

async function openExample(name) {
  try {
    const { text } = await ask("example", { name });
    openText(name.split("/").pop(), text);
  } catch (error) {
    complain(error);
  }
}

async function openTutorial() {
  try {
    const { text } = await ask("example", { name: "tutorial" });
    set({ document: { title: "Tutorial", text } });
  } catch (error) {
    complain(error);
  }
}

const EMPTY = `// A new model.
var x : 0..3 = 0

process P {
    step when x < 3 { x := x + 1 }
}

property top: eventually x == 3
`;

export function open(path) {
  return path.endsWith(".itf.json") ? openStored(path) : openFile(path);
}

export function Start() {
  if (state.document) return html`<${Document} ...${state.document} />`;
  return html`<main class="start">
    <h1>Fairground Studio</h1>
    <p>Write models, verify them under fairness, walk through them, and look at counterexamples.</p>
    <div class="columns">
      <section><h2>Files in <span class="path">${state.folder}</span></h2>
        ${state.files.length === 0 && html`<p class="muted">There are no models in this folder.</p>`}
        <${FileTree} open=${open} />
        <button onClick=${() => openText("new.fair", EMPTY)}>New model</button>
      </section>
      <section><h2>Examples</h2>
        <ul class="plain">${state.examples.map(({ name, title }) => html`<li><button class="link" onClick=${() => openExample(name)}>${title}</button> <small class="muted">${name}</small></li>`)}</ul>
        <h2>Learn</h2><button class="link" onClick=${openTutorial}>Tutorial: a first model</button>
      </section>
      <section><h2>Keys</h2><dl class="keys">
        <dt>Ctrl+S</dt><dd>save</dd><dt>Ctrl+Enter</dt><dd>verify all properties</dd>
        <dt>Alt+1 … Alt+5</dt><dd>start, model, simulate, trace, graph</dd>
        <dt>← →</dt><dd>step back and forward in a trace or simulation</dd>
        <dt>Home End</dt><dd>first and last step</dd><dt>R</dt><dd>a random step</dd></dl></section>
    </div></main>`;
}

/** A text with headings, paragraphs, lists and blocks of code. */
function Document({ title, text }) {
  const blocks = [];
  for (const [i, part] of text.split(/^```.*$/m).entries()) {
    if (i % 2) blocks.push(html`<pre>${part.replace(/^\n/, "")}</pre>`);
    else for (const block of part.split(/\n\s*\n/)) blocks.push(prose(block.trim()));
  }
  return html`<main class="document"><button onClick=${() => set({ document: null })}>Back</button><article aria-label=${title}>${blocks}</article></main>`;
}

function prose(block) {
  if (!block) return null;
  const heading = /^(#{1,4}) (.*)$/.exec(block);
  if (heading) return heading[1].length === 1 ? html`<h1>${inline(heading[2])}</h1>` : html`<h2>${inline(heading[2])}</h2>`;
  if (/^[-*] /.test(block)) return html`<ul>${block.split(/\n(?=[-*] )/).map((item) => html`<li>${inline(item.slice(2))}</li>`)}</ul>`;
  return html`<p>${inline(block)}</p>`;
}

/** Code, emphasis, and links as their texts. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**")) return html`<b>${part.slice(2, -2)}</b>`;
    if (part.startsWith("*") && part.length > 2) return html`<em>${part.slice(1, -1)}</em>`;
    const link = /^\[([^\]]+)\]/.exec(part);
    return link ? link[1] : part;
  });
}
