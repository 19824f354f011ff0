// The text, with what the library says about it.

import {
  EditorState, Compartment, StateEffect, StateField, EditorView, Decoration, keymap, lineNumbers, highlightActiveLine,
  highlightActiveLineGutter, highlightSpecialChars, drawSelection, defaultKeymap, history, historyKeymap, indentWithTab,
  syntaxHighlighting, HighlightStyle, bracketMatching, indentUnit, setDiagnostics, lintGutter, lintKeymap, searchKeymap,
  highlightSelectionMatches, autocompletion, completionKeymap, completeAnyWord, tags, useEffect, useRef,
} from "/vendor/vendor.js";
import { languageOf } from "/languages.js";
import { html, state, edit, save, goTo, arrived } from "/store.js";
import { verify } from "/verify.js";

const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: tags.operatorKeyword, class: "tok-temporal" },
  { tag: tags.typeName, class: "tok-type" },
  { tag: tags.className, class: "tok-process" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: [tags.number, tags.atom], class: "tok-number" },
  { tag: tags.operator, class: "tok-operator" },
  { tag: tags.meta, class: "tok-meta" },
]);

const language = new Compartment();
const flash = StateEffect.define();
const flashed = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    marks = marks.map(change.changes);
    for (const effect of change.effects) {
      if (effect.is(flash)) {
        marks = effect.value === null ? Decoration.none : Decoration.set([Decoration.line({ class: "flashed" }).range(effect.value)]);
      }
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** A diagnostic as the editor wants it; those about other texts are shown at the start. */
function lint(diagnostic, length) {
  const label = diagnostic.labels[0] ?? {};
  const inside = label.source === 0;
  const from = inside ? Math.min(label.from, length) : 0;
  const to = inside ? Math.min(Math.max(label.to, from), length) : 0;
  const more = [
    inside ? "" : `in ${label.file ?? "another text"}, line ${label.line ?? "?"}`,
    label.text, ...diagnostic.help.map((help) => `help: ${help}`),
  ].filter(Boolean);
  return {
    from, to, severity: diagnostic.severity, source: diagnostic.code,
    message: [diagnostic.message, ...more].join("\n"),
    actions: diagnostic.fixes.filter((fix) => fix.source === 0).map((fix) => ({
      name: fix.title,
      apply: (view) => view.dispatch({ changes: { from: fix.from, to: fix.to, insert: fix.text } }),
    })),
  };
}

export function Editor() {
  const place = useRef(null);
  const view = useRef(null);
  const path = useRef("");

  useEffect(() => {
    const listener = EditorView.updateListener.of((change) => {
      if (change.docChanged) edit(change.state.doc.toString());
    });
    view.current = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: state.text,
        extensions: [
          EditorView.cspNonce.of(document.documentElement.dataset.nonce),
          lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(),
          indentUnit.of("    "), bracketMatching(), highlightActiveLine(), highlightSelectionMatches(),
          autocompletion({ override: [completeAnyWord] }), lintGutter(), flashed,
          syntaxHighlighting(colours), language.of(languageOf(state.path)), listener,
          EditorView.contentAttributes.of({ "aria-label": "model text", "data-testid": "editor" }),
          keymap.of([
            { key: "Mod-s", run: () => (save(), true), preventDefault: true },
            { key: "Mod-Enter", run: () => (verify(), true), preventDefault: true },
            ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
          ]),
        ],
      }),
    });
    path.current = state.path;
    return () => view.current.destroy();
  }, []);

  // What was changed elsewhere: another file, a change on the disk.
  useEffect(() => {
    const editor = view.current;
    if (editor.state.doc.toString() !== state.text) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: state.text } });
    }
    if (path.current !== state.path) {
      path.current = state.path;
      editor.dispatch({ effects: language.reconfigure(languageOf(state.path)) });
    }
  }, [state.text, state.path]);

  useEffect(() => {
    const editor = view.current;
    const length = editor.state.doc.length;
    editor.dispatch(setDiagnostics(editor.state, state.diagnostics.map((d) => lint(d, length))));
  }, [state.diagnostics]);

  useEffect(() => {
    if (!goTo) return;
    const editor = view.current;
    const line = editor.state.doc.line(Math.min(goTo.line, editor.state.doc.lines));
    const at = Math.min(line.from + goTo.column - 1, line.to);
    arrived();
    editor.dispatch({ selection: { anchor: at }, effects: [EditorView.scrollIntoView(at, { y: "center" }), flash.of(line.from)] });
    editor.focus();
    setTimeout(() => editor.dispatch({ effects: flash.of(null) }), 1600);
  });

  return html`<div class="editor" ref=${place}></div>`;
}
