// Shows the problems of the text: those that the browser finds, and those that the page reports.
import { setDiagnostics } from "@codemirror/lint";
import { parsed } from "./documents.js";
import { locate, parsePath } from "./paths.js";
import { validate } from "./validation.js";

const DELAY_MS = 400;
// drawing more would be felt at each key
const MAX_SHOWN = 500;

export class Diagnostics {
  #timer;
  #problems = [];
  #own = [];

  /** `validated` is called with `{ errors, warnings, documents }` after each validation. */
  constructor(view, { schemaOf, validated }) {
    this.view = view;
    this.schemaOf = schemaOf;
    this.validated = validated;
  }

  /** Validates when the user pauses, or soon: never during the caller's own work. */
  schedule(delay = DELAY_MS) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), delay);
  }

  #run() {
    const trees = parsed(this.view.state.doc);
    this.#own = validate(trees, this.schemaOf);
    this.#show();
    const count = (severity) => this.#own.filter((problem) => problem.severity === severity).length;
    this.validated({ errors: count("error"), warnings: count("warning"), documents: trees.documents.length });
  }

  get problems() {
    return this.#problems;
  }

  /** Shows what the API server found, until the text changes. */
  set problems(problems) {
    this.#problems = problems;
    this.#show();
  }

  textChanged(delay) {
    this.#problems = [];
    this.schedule(delay);
  }

  #show() {
    const { state } = this.view;
    const own = this.#own.map((problem) => ({ ...problem, to: Math.min(problem.to, state.doc.length) }));
    const all = [...own.filter(({ from, to }) => from <= to), ...this.#problems.map((problem) => this.#located(problem))];
    this.view.dispatch(setDiagnostics(state, all.slice(0, MAX_SHOWN)));
  }

  #located({ document: index, path, message, severity }) {
    const document = parsed(this.view.state.doc).documents[index];
    const range = document?.root ? locate(document, parsePath(path ?? "")) : { from: 0, to: 0 };
    return { ...range, message, severity: severity === "warning" ? "warning" : "error", source: "API server" };
  }

  close() {
    clearTimeout(this.#timer);
  }
}
