// Help for the field under the pointer or at the cursor.
import { EditorView, activateHover, closeHoverTooltips, hasHoverTooltips, hoverTooltip } from "@codemirror/view";
import { parsed } from "./documents.js";
import { helpAt, identityAround } from "./help.js";

/** Returns the extension, and the command that shows the same at the cursor. */
export function hover(remote) {
  const help = (state, offset) => helpAt(parsed(state.doc), offset, (identity) => remote().schemaOf(identity));
  const tooltip = hoverTooltip((view, offset) => {
    const found = help(view.state, offset);
    return found ? { pos: found.from, end: found.to, above: true, create: () => ({ dom: element(found) }) } : null;
  });
  const showHelp = (view) => {
    show(view, { remote: remote(), help, tooltip });
    return true;
  };
  return { extension: tooltip, showHelp };
}

async function show(view, { remote, help, tooltip }) {
  const { state } = view;
  const offset = fieldOffset(state);
  await remote.loaded(identityAround(parsed(state.doc), offset));
  if (view.state.doc !== state.doc) return;
  const found = help(view.state, offset);
  view.dispatch({ effects: EditorView.announce.of(found ? text(found) : "No help is available here.") });
  if (!found) return;
  activateHover(view, offset, 1, { tooltip, until: (tr) => tr.docChanged || Boolean(tr.selection) });
}

/** Closes the help, also that of the pointer, so that the text below can be read. */
export function closeHelp(view) {
  if (!hasHoverTooltips(view.state)) return false;
  view.dispatch({ effects: closeHoverTooltips });
  return true;
}

// in the indentation, the field of the line is meant
function fieldOffset({ doc, selection }) {
  const { head } = selection.main;
  const line = doc.lineAt(head);
  return Math.max(head, line.from + /^\s*(?:-\s+)*/.exec(line.text)[0].length);
}

function text({ path, type, required, values, description }) {
  const allowed = values.length > 0 ? ` Allowed: ${values.join(", ")}.` : "";
  return `${path}, ${type}${required ? ", required" : ""}. ${description}${allowed}`;
}

function element({ path, type, required, values, description }) {
  const parts = [
    ["code", path],
    ["span", required ? `${type}, required` : type],
    ["p", description],
    ["p", values.length > 0 ? `Allowed: ${values.join(", ")}` : ""],
  ];
  const dom = document.createElement("div");
  dom.className = "help";
  for (const [name, content] of parts) {
    if (!content) continue;
    const part = document.createElement(name);
    part.textContent = content;
    dom.append(part);
  }
  return dom;
}
