// Moving between the problems of the text.
import { forEachDiagnostic, nextDiagnostic, openLintPanel, previousDiagnostic } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";

// the tooltip that these commands open is not read aloud
function announced(command) {
  return (view) => {
    if (!command(view)) return false;
    const { from, to } = view.state.selection.main;
    const messages = [];
    forEachDiagnostic(view.state, ({ message }, start, end) => start === from && end === to && messages.push(message));
    view.dispatch({ effects: EditorView.announce.of(messages.join(" ")) });
    return true;
  };
}

export const problemKeys = [
  { key: "F8", run: announced(nextDiagnostic) },
  { key: "Shift-F8", run: announced(previousDiagnostic) },
  { key: "Mod-Shift-m", run: openLintPanel, preventDefault: true },
];
