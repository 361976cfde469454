// The look of the editors, from the page's tokens.
import { EditorView } from "@codemirror/view";

/** Styles of the elements themselves; a page's own rules for them come first. */
export const hostStyles = new CSSStyleSheet();
hostStyles.replaceSync(`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 8rem;
    color: var(--text);
    background: var(--surface);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-sm);
  }
  :host([hidden]) { display: none; }
  :host([data-dropping]) { outline: 2px dashed var(--focus); outline-offset: 2px; }
  .cm-editor, .cm-mergeView { flex: 1; min-height: 0; border-radius: inherit; }
  .hint {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    * { caret-animation: manual; animation: none !important; transition: none !important; scroll-behavior: auto !important; }
  }
`);

const focusRing = { outline: "var(--focus-width) solid var(--focus)", outlineOffset: "1px" };

const text = {
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "var(--size-small)" },
  "&.cm-focused": focusRing,
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: 1.55 },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  // the colours of the syntax are too faint on the background of a selection
  ".cm-content ::selection": { backgroundColor: "var(--selection)", color: "var(--text)" },
  ".cm-number": { color: "var(--syntax-number)", "& span": { color: "inherit" } },
  ".cm-keyword": { color: "var(--syntax-keyword)", "& span": { color: "inherit" } },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-gutters.cm-gutters-before": {
    color: "var(--text-faint)",
    backgroundColor: "var(--surface)",
    borderRight: "1px solid var(--line)",
    borderRadius: "var(--radius-sm) 0 0 var(--radius-sm)",
  },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--text)" },
  ".cm-foldGutter span": { padding: "0 3px" },
  ".cm-foldPlaceholder": {
    color: "var(--text-muted)",
    backgroundColor: "var(--idle-bg)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-xs)",
    margin: "0 var(--space-1)",
    padding: "0 var(--space-1)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--line-strong)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--bad)" },
};

const tooltips = {
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-sm)",
    boxShadow: "var(--shadow-lg)",
    overflow: "hidden",
  },
  ".cm-tooltip-hover": { maxWidth: "min(36rem, calc(100vw - 2rem))" },
  // the description of the selected option is placed beside the list
  ".cm-tooltip.cm-tooltip-autocomplete": { overflow: "visible" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--font-code)",
    minWidth: "min(16rem, 90vw)",
    maxHeight: "15em",
    padding: "var(--space-1)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px var(--space-2)", borderRadius: "var(--radius-xs)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--text)", backgroundColor: "var(--selection)" },
  ".cm-tooltip-autocomplete .required .cm-completionLabel": { fontWeight: "var(--weight-strong)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "var(--weight-strong)", color: "var(--accent)" },
  "li[aria-selected] .cm-completionMatchedText": { color: "inherit", textDecoration: "underline" },
  ".cm-completionDetail": { color: "var(--text-muted)", fontStyle: "normal", marginLeft: "var(--space-3)" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-tooltip.cm-completionInfo": {
    fontFamily: "var(--font-text)",
    padding: "var(--space-2) var(--space-3)",
    maxWidth: "min(24rem, 90vw)",
    lineHeight: 1.45,
  },
  ".help": {
    display: "grid",
    gap: "var(--space-1)",
    maxHeight: "16rem",
    overflowY: "auto",
    padding: "var(--space-2) var(--space-3)",
    fontFamily: "var(--font-text)",
    lineHeight: 1.45,
  },
  ".help code": { fontFamily: "var(--font-code)", fontWeight: "var(--weight-strong)", overflowWrap: "anywhere" },
  ".help span": { color: "var(--text-muted)" },
  ".help p": { margin: 0, whiteSpace: "pre-line", overflowWrap: "anywhere" },
};

// the shape tells an error from a warning without colour
function marker(colour, shape) {
  return { content: "normal", backgroundColor: `var(--${colour})`, clipPath: shape };
}

function underlined(colour) {
  return { backgroundImage: "none", textDecoration: `underline wavy var(--${colour}) 1px`, textUnderlineOffset: "3px", textDecorationSkipInk: "none" };
}

const diagnostics = {
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-gutter-lint .cm-gutterElement": { padding: ".35em .1em" },
  ".cm-lint-marker": { width: ".8em", height: ".8em", margin: "auto" },
  ".cm-lint-marker-error": marker("bad-solid", "circle(50%)"),
  ".cm-lint-marker-warning": marker("warn-solid", "polygon(50% 0, 100% 100%, 0 100%)"),
  ".cm-lintRange-error": underlined("bad"),
  ".cm-lintRange-warning": underlined("warn"),
  ".cm-lintRange-active": { backgroundColor: "var(--selected)" },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--bad)" },
  ".cm-lintPoint-warning:after": { borderBottomColor: "var(--warn)" },
  ".cm-diagnostic": { fontFamily: "var(--font-text)", padding: "var(--space-1) var(--space-3)", lineHeight: 1.45 },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad-solid)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn-solid)" },
  ".cm-diagnosticSource": { color: "var(--text-muted)", fontSize: "var(--size-tiny)", opacity: 1 },
  ".cm-panel.cm-panel-lint ul": { maxHeight: "8rem" },
  ".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]": {
    color: "var(--text)",
    backgroundColor: "var(--selection)",
    "& *": { color: "inherit" },
  },
  ".cm-panel.cm-panel-lint ul:focus-visible": { outlineOffset: "-2px" },
};

const control = {
  font: "inherit",
  color: "var(--text)",
  background: "var(--surface)",
  border: "1px solid var(--line-strong)",
  borderRadius: "var(--radius-xs)",
  minHeight: "1.75rem",
  padding: "0 var(--space-2)",
};

const panels = {
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)", zIndex: 10 },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search, .cm-panel.cm-gotoLine": {
    fontFamily: "var(--font-text)",
    fontSize: "var(--size-small)",
    padding: "var(--space-2) var(--space-6) var(--space-2) var(--space-2)",
  },
  ".cm-textfield": { ...control, fontFamily: "var(--font-code)", maxWidth: "100%" },
  ".cm-button": { ...control, backgroundImage: "none", cursor: "pointer" },
  ".cm-button:active": { backgroundImage: "none", background: "var(--selected)" },
  ".cm-button:hover": { background: "var(--hover)" },
  ".cm-panel.cm-search label": { fontSize: "inherit", verticalAlign: "middle" },
  // there is one selection only
  ".cm-panel.cm-search [name=select]": { display: "none" },
  ".cm-panel.cm-search input[type=checkbox]": { verticalAlign: "text-bottom" },
  ".cm-panel [name=close]": { color: "var(--text)", width: "1.75rem", height: "1.75rem", cursor: "pointer", fontSize: "1rem" },
  ".cm-panels :focus-visible": focusRing,
  ".cm-searchMatch": { backgroundColor: "var(--warn-bg)", outline: "1px solid var(--warn-line)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--selection)", color: "var(--text)", outline: "2px solid var(--focus)" },
  ".cm-searchMatch-selected span": { color: "inherit" },
};

const forcedColours = {
  "@media (forced-colors: active)": {
    "&.cm-focused": { outlineColor: "Highlight" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { forcedColorAdjust: "none", color: "HighlightText", backgroundColor: "Highlight" },
    ".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]": { forcedColorAdjust: "none", color: "HighlightText", backgroundColor: "Highlight" },
    ".cm-lint-marker": { forcedColorAdjust: "none", backgroundColor: "CanvasText" },
    ".cm-searchMatch-selected": { outlineColor: "Highlight" },
  },
};

export const theme = EditorView.theme({ ...text, ...tooltips, ...diagnostics, ...panels, ...forcedColours });
