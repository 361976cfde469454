// Completion of fields, values and kinds.
import { autocompletion, pickedCompletion, startCompletion } from "@codemirror/autocomplete";
import { candidates, fieldText, identityAt, valueText } from "./candidates.js";
import { placeAt } from "./place.js";

// parsing on each key would be felt; Ctrl-Space still completes
const MAX_LENGTH_WHILE_TYPING = 200_000;

/** `remote` returns the editor's `Remote`. */
export function completion(remote) {
  return autocompletion({
    override: [(context) => complete(context, remote())],
    icons: false,
    positionInfo: beside,
    optionClass: ({ boost }) => (boost ? "required" : ""),
  });
}

const MIN_INFO_WIDTH_PX = 220;

/** Places the description of an option beside the list, or below it if there is no room. */
function beside(view, list, option, info, space) {
  const right = space.right - list.right;
  const left = list.left - space.left;
  if (Math.max(left, right) < MIN_INFO_WIDTH_PX) return { style: "top: 100%; left: 0; right: 0; width: auto", class: "" };
  const top = Math.max(space.top, Math.min(option.top, space.bottom - (info.bottom - info.top))) - list.top;
  const side = right >= MIN_INFO_WIDTH_PX || right >= left ? "right" : "left";
  return { style: `top: ${top}px; max-width: ${Math.min(384, side === "right" ? right : left)}px`, class: `cm-completionInfo-${side}` };
}

async function complete(context, remote) {
  if (!context.explicit && context.state.doc.length > MAX_LENGTH_WHILE_TYPING) return null;
  const place = placeAt(context.state.doc.toString(), context.pos);
  if (!place) return null;
  // an empty line is most often the end of what the user writes
  if (!context.explicit && place.position === "key" && place.from === context.pos) return null;
  const identity = identityAt(place);
  await remote.loaded(identity);
  if (context.aborted) return null;
  const schema = identity && remote.schemaOf(identity)?.schema;
  const options = candidates(place, schema, remote.kinds()).map((candidate) => ({
    label: candidate.label,
    detail: candidate.detail,
    info: candidate.info || undefined,
    boost: candidate.required ? 10 : 0,
    apply: (view, option, from, to) => apply(view, option, { candidate, place, from, to }),
  }));
  return options.length > 0 ? { from: place.from, to: place.to, options, validFor: /^[\w./$-]*$/ } : null;
}

function apply(view, option, { candidate, place, from, to }) {
  const { doc } = view.state;
  const start = from - place.quote.length;
  const end = place.quote && doc.sliceString(to, to + 1) === place.quote ? to + 1 : to;
  const text = candidate.type ? fieldText(candidate, place) : { insert: valueText(candidate, place), isOpen: candidate.label === "- " };
  const changes = [{ from: start, to: end, insert: text.insert }];
  let cursor = start + (text.cursor ?? text.insert.length);
  if (candidate.apiVersion) {
    const line = versionLine(candidate.apiVersion, place, doc);
    changes.unshift({ from: place.keyFrom, insert: line });
    cursor += line.length;
  }
  view.dispatch({
    changes,
    selection: { anchor: cursor },
    scrollIntoView: true,
    userEvent: "input.complete",
    annotations: pickedCompletion.of(option),
  });
  if (text.isOpen) startCompletion(view);
}

function versionLine(apiVersion, { keyFrom, isJson, isFlow }, doc) {
  if (isFlow) return isJson ? `"apiVersion": "${apiVersion}", ` : `apiVersion: ${apiVersion}, `;
  const column = keyFrom - doc.lineAt(keyFrom).from;
  return `apiVersion: ${apiVersion}\n${" ".repeat(column)}`;
}
