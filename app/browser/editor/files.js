// Files that are added to the text as further documents.

export const MAX_FILE_BYTES = 1024 * 1024;
const NAME = /\.(ya?ml|json)$/i;

/** Returns why a file is not accepted, or undefined. */
function refusal(name, bytes) {
  if (!NAME.test(name)) return `${name} was not added: only .yaml, .yml and .json files are accepted.`;
  if (bytes > MAX_FILE_BYTES) return `${name} was not added: it is larger than 1 MiB.`;
  return undefined;
}

function notText(name) {
  return `${name} was not added: it is not UTF-8 text.`;
}

/** Checks text that was read from a file; returns `{ text }` or `{ message }`. */
export function checkText(name, text) {
  const message = refusal(name, new TextEncoder().encode(text).length);
  if (message) return { message };
  // a decoder that does not fail puts U+FFFD for what is not UTF-8
  if (/[\0\uFFFD]/.test(text)) return { message: notText(name) };
  return { text: text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n") };
}

/** Reads a file; returns `{ text }` or `{ message }`. */
export async function readFile(file) {
  const message = refusal(file.name, file.size);
  if (message) return { message };
  try {
    return checkText(file.name, new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch (error) {
    // a folder, or a file that has been removed since, cannot be read
    return { message: error instanceof TypeError ? notText(file.name) : `${file.name} was not added: it could not be read.` };
  }
}

/** Returns the change that adds texts as further documents to a text, and replaces an empty one. */
export function addition(current, texts) {
  const documents = texts.map((text) => text.replace(/^---[ \t]*\n/, "").trimEnd()).filter((text) => text !== "");
  const added = documents.join("\n---\n");
  if (added === "") return undefined;
  const kept = current.trimEnd();
  const insert = kept === "" ? `${added}\n` : `\n---\n${added}\n`;
  return { from: kept.length, to: current.length, insert, start: kept === "" ? 0 : kept.length + "\n---\n".length };
}

/** Returns the files of a drop or paste, without those of a paste that has text as well. */
export function filesOf(transfer) {
  const files = [...(transfer?.files ?? [])];
  // copied cells of a spreadsheet are text with a picture of it
  const isPicture = transfer?.types.includes("text/plain") && !files.some(({ name }) => NAME.test(name));
  return isPicture ? [] : files;
}
