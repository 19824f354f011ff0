// What the studio takes from other projects; nothing else gets into the bundle.
export { h, render, Fragment } from "preact";
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useReducer } from "preact/hooks";
export { default as htm } from "htm";
export * as dagre from "@dagrejs/dagre";
export { EditorState, Compartment, StateEffect, StateField, Prec } from "@codemirror/state";
export {
  EditorView, Decoration, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter,
  highlightSpecialChars, drawSelection, GutterMarker, gutter,
} from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab, toggleComment } from "@codemirror/commands";
export { StreamLanguage, syntaxHighlighting, HighlightStyle, bracketMatching, indentUnit, LanguageSupport } from "@codemirror/language";
export { setDiagnostics, lintGutter, lintKeymap, forceLinting } from "@codemirror/lint";
export { searchKeymap, highlightSelectionMatches } from "@codemirror/search";
export { completeAnyWord, autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { tags } from "@lezer/highlight";
