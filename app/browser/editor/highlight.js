// Colours of the syntax, from the page's tokens.
import { HighlightStyle, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { Decoration, ViewPlugin } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const style = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--syntax-key)" },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--syntax-string)" },
  { tag: tags.lineComment, color: "var(--syntax-comment)", fontStyle: "italic" },
  { tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], color: "var(--syntax-keyword)" },
]);

// the parser does not distinguish plain scalars
const NUMBER = /^[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?$/i;
const KEYWORD = /^(true|false|null|~)$/i;
const number = Decoration.mark({ class: "cm-number" });
const keyword = Decoration.mark({ class: "cm-keyword" });

function decorate(view) {
  const found = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter({ name, from, to, node }) {
        if (name !== "Literal" || node.parent?.name === "Key") return;
        const text = view.state.sliceDoc(from, Math.min(to, from + 40));
        if (NUMBER.test(text)) found.push(number.range(from, to));
        else if (KEYWORD.test(text)) found.push(keyword.range(from, to));
      },
    });
  }
  return Decoration.set(found, true);
}

const plainScalars = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = decorate(view);
    }

    update({ docChanged, viewportChanged, startState, state, view }) {
      if (docChanged || viewportChanged || syntaxTree(startState) !== syntaxTree(state)) this.decorations = decorate(view);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

export const highlighting = [syntaxHighlighting(style), plainScalars];
