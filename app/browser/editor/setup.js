// CodeMirror as both elements use it.
import { acceptCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { completion } from "./completion.js";
import { highlighting } from "./highlight.js";
import { closeHelp, hover } from "./hover.js";
import { newline } from "./newline.js";
import { problemKeys } from "./problems.js";
import { theme } from "./theme.js";

const PHRASES = {
  next: "Next",
  previous: "Previous",
  "match case": "Match case",
  "by word": "Whole words",
  regexp: "Regular expression",
  replace: "Replace",
  "replace all": "Replace all",
  close: "Close",
  Diagnostics: "Problems",
  "No diagnostics": "No problems",
};

/** What a text that is only shown needs as well. */
export const display = [
  yaml(),
  highlighting,
  theme,
  lineNumbers(),
  highlightSpecialChars(),
  EditorState.tabSize.of(2),
  EditorState.phrases.of(PHRASES),
  search({ top: true }),
  keymap.of(searchKeymap),
];

/** The editor's extensions. `remote` returns its `Remote`. */
export function editing(remote) {
  const { extension, showHelp } = hover(remote);
  return [
    lintGutter(),
    display,
    foldGutter(),
    history(),
    indentUnit.of("  "),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    completion(remote),
    extension,
    // without Prec.high, Mod-i selects the surrounding syntax
    Prec.high(
      keymap.of([
        { key: "F1", run: showHelp, preventDefault: true },
        { key: "Mod-i", run: showHelp, preventDefault: true },
        { key: "Tab", run: acceptCompletion },
        { key: "Escape", run: closeHelp },
      ]),
    ),
    keymap.of([
      { key: "Enter", run: newline },
      ...foldKeymap,
      ...problemKeys,
      ...historyKeymap,
      ...completionKeymap,
      indentWithTab,
      ...defaultKeymap,
    ]),
  ];
}

export function wrapping(wraps) {
  return wraps ? EditorView.lineWrapping : [];
}
