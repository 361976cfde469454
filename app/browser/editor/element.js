// <portico-editor>: edits Kubernetes manifests in YAML or JSON.
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { Diagnostics } from "./diagnostics.js";
import { Draft } from "./draft.js";
import { addition, checkText, filesOf, readFile } from "./files.js";
import { Remote } from "./remote.js";
import { editing, wrapping } from "./setup.js";
import { hostStyles } from "./theme.js";
import { hint, stopPlainKeys, takeProperties } from "./host.js";

const HINT =
  "Tab indents. To leave the editor press Escape, then Tab. Control and Space completes, F1 shows help for the field at the cursor, F8 goes to the next problem.";

export class PorticoEditor extends HTMLElement {
  static observedAttributes = ["data-label", "readonly", "data-wrap", "data-schemas", "data-kinds", "data-draft"];

  #view;
  #state;
  #text = "";
  /** The text that the page has set last. */
  #set = "";
  #base = "";
  #problems = [];
  #draft;
  #remote;
  #diagnostics;
  #attributes = new Compartment();
  #wrap = new Compartment();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [hostStyles];
    root.append(hint(HINT));
    // the browser's own events come from single keys, also from the fields of the search
    root.addEventListener("input", (event) => event.stopPropagation());
    stopPlainKeys(root);
    this.addEventListener("dragover", (event) => this.#dragged(event));
    this.addEventListener("dragleave", () => delete this.dataset.dropping);
    // before CodeMirror, which would insert the text of any file
    this.addEventListener("drop", (event) => this.#received(event, event.dataTransfer), true);
    this.addEventListener("paste", (event) => this.#received(event, event.clipboardData), true);
  }

  connectedCallback() {
    if (this.#view) return;
    takeProperties(this, ["value", "problems"]);
    this.#openDraft();
    this.#openRemote();
    this.#view = new EditorView({ state: this.#state ?? this.#newState(this.#text), parent: this.shadowRoot, root: this.shadowRoot });
    this.#diagnostics = new Diagnostics(this.#view, {
      schemaOf: (identity) => this.#remote.schemaOf(identity),
      validated: (detail) => this.#emit("validated", detail),
    });
    this.#reconfigure();
    this.#diagnostics.problems = this.#problems;
    this.#diagnostics.schedule(0);
    if (this.draft !== null) this.#emit("draft");
  }

  disconnectedCallback() {
    // an element that is moved keeps its text and its undo history
    this.#state = this.#view?.state;
    this.#text = this.value;
    this.#problems = this.problems;
    this.#diagnostics?.close();
    this.#remote?.close();
    this.#draft?.close();
    this.#draft = undefined;
    this.#view?.destroy();
    this.#view = undefined;
  }

  attributeChangedCallback(name) {
    if (!this.#view) return;
    if (name === "data-draft") {
      this.#openDraft();
    } else if (name === "data-schemas" || name === "data-kinds") {
      this.#openRemote();
      this.#diagnostics.schedule(0);
    } else {
      this.#reconfigure();
    }
  }

  get value() {
    return this.#view ? this.#view.state.doc.toString() : this.#text;
  }

  set value(value) {
    const text = String(value ?? "").replace(/\r\n?/g, "\n");
    this.#set = text;
    this.#base = text;
    if (text === this.value) return;
    this.#text = text;
    this.#state = undefined;
    this.#problems = [];
    if (!this.#view) return;
    this.#view.setState(this.#newState(text));
    this.#reconfigure();
    this.#diagnostics.textChanged(0);
  }

  get problems() {
    return this.#view ? this.#diagnostics.problems : this.#problems;
  }

  set problems(problems) {
    this.#problems = [...(problems ?? [])];
    if (this.#view) this.#diagnostics.problems = this.#problems;
  }

  /** The text on which the changes of the user are made: the one of the page, or the one of the page that left the draft. */
  get base() {
    return this.#base;
  }

  set base(text) {
    this.#base = String(text ?? "");
  }

  /** The text that an earlier page has left, until it is restored or cleared; otherwise null. */
  get draft() {
    const found = this.#draft?.found?.text ?? null;
    return found === this.#set ? null : found;
  }

  /** Replaces the text by the draft, as a change of the user that can be undone. */
  restoreDraft() {
    const { draft } = this;
    if (draft === null || !this.#view) return;
    this.#base = this.#draft.found.base ?? this.#set;
    this.#draft.found = null;
    this.#replace({ from: 0, to: this.#view.state.doc.length, insert: draft }, 0, "input.restore");
  }

  /** Replaces the text as a change of the user, which can be undone. */
  replaceText(text) {
    if (this.#view) this.#replace({ from: 0, to: this.#view.state.doc.length, insert: text }, 0, "input.replace");
  }

  clearDraft() {
    this.#draft?.clear();
  }

  /** Adds the text of a file as further documents. */
  addText(name, text) {
    this.#add([checkText(name, text)]);
  }

  /** Adds files, such as those of an input, as further documents. */
  async addFiles(files) {
    this.#add(await Promise.all([...files].map(readFile)));
  }

  focus(options) {
    if (this.#view) this.#view.focus();
    else super.focus(options);
  }

  #newState(doc) {
    return EditorState.create({
      doc,
      extensions: [
        editing(() => this.#remote),
        this.#attributes.of([]),
        this.#wrap.of([]),
        EditorView.updateListener.of(({ docChanged }) => docChanged && this.#changed()),
      ],
    });
  }

  #reconfigure() {
    const isReadOnly = this.hasAttribute("readonly");
    // checkers of accessibility do not take contenteditable for focusable
    const attributes = { tabindex: "0", "aria-label": this.dataset.label ?? "YAML", "aria-describedby": "hint" };
    if (isReadOnly) attributes["aria-readonly"] = "true";
    const extensions = [EditorState.readOnly.of(isReadOnly), EditorView.contentAttributes.of(attributes)];
    this.#view.dispatch({
      effects: [this.#attributes.reconfigure(extensions), this.#wrap.reconfigure(wrapping(this.hasAttribute("data-wrap")))],
    });
  }

  #openDraft() {
    this.#draft?.close();
    const { draft } = this.dataset;
    // closing stores as well, when the element is no longer on the page
    const withheld = (isWithheld) => this.isConnected && this.#emit("withheld", isWithheld);
    this.#draft = draft ? new Draft(draft, withheld) : undefined;
  }

  #openRemote() {
    this.#remote?.close();
    const { schemas, kinds } = this.dataset;
    this.#remote = new Remote({ schemas, kinds }, () => this.#diagnostics?.schedule(0));
  }

  #changed() {
    this.#diagnostics.textChanged();
    const { value } = this;
    this.#draft?.save(value === this.#set ? null : value, this.#base);
    this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }));
  }

  #replace(changes, anchor, userEvent) {
    this.#view.dispatch({ changes, selection: { anchor }, scrollIntoView: true, userEvent });
  }

  #add(results) {
    if (!this.#view || this.#view.state.readOnly) return;
    const change = addition(this.value, results.flatMap(({ text }) => text ?? []));
    if (change) this.#replace(change, change.start, "input.drop");
    // after the change: the page takes the message away with the next input
    const messages = results.flatMap(({ message }) => message ?? []);
    if (messages.length > 0) this.#emit("refused", { message: messages.join(" ") });
  }

  #dragged(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const isReadOnly = this.hasAttribute("readonly");
    event.dataTransfer.dropEffect = isReadOnly ? "none" : "copy";
    if (!isReadOnly) this.dataset.dropping = "";
  }

  /** Takes the files of a drop or paste; text is CodeMirror's. */
  #received(event, transfer) {
    delete this.dataset.dropping;
    const files = filesOf(transfer);
    if (files.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.addFiles(files);
  }
}
