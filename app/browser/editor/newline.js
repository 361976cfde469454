// Enter: starts a line with the indentation that YAML needs there.
import { insertNewlineAndIndent } from "@codemirror/commands";
import { syntaxTree } from "@codemirror/language";

/** Returns the column of the next line after the text of a line up to the cursor. */
export function nextColumn(before) {
  const [, lead, rest] = /^(\s*(?:-\s+)*)(.*)$/.exec(before);
  const opens = !rest.startsWith("#") && /:(\s+[&!]\S+)*(\s+[|>][-+\d]*)?\s*$/.test(rest.replace(/\s+#.*$/, ""));
  return lead.length + (opens ? 2 : 0);
}

function isIn(state, offset, names) {
  for (let node = syntaxTree(state).resolveInner(offset, -1); node; node = node.parent) {
    if (names.includes(node.name)) return true;
  }
  return false;
}

export function newline(view) {
  const { state } = view;
  if (state.readOnly) return false;
  const { from, to } = state.selection.main;
  if (isIn(state, from, ["FlowMapping", "FlowSequence"])) return insertNewlineAndIndent(view);
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  // a line of text like "note:" in a block of text does not open anything
  const isText = isIn(state, from, ["BlockLiteralContent"]);
  const column = isText ? /^\s*/.exec(before)[0].length : nextColumn(before);
  const after = state.doc.lineAt(to);
  const spaces = /^ */.exec(after.text.slice(to - after.from))[0].length;
  // an indentation without text would stay behind as trailing spaces
  const start = /^\s+$/.test(before) && line.to === from ? line.from : from;
  const insert = `\n${" ".repeat(column)}`;
  view.dispatch({
    changes: { from: start, to: to + spaces, insert },
    selection: { anchor: start + insert.length },
    scrollIntoView: true,
    userEvent: "input",
  });
  return true;
}
