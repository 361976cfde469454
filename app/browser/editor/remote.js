// What the page's server knows: the kinds of the cluster and their schemas.
import { Schema } from "./schema.js";

const RETRY_MS = 30_000;

/** Loads and keeps JSON by address. A failure is forgotten after 30 s. */
class Cache {
  #entries = new Map();
  #abort = new AbortController();

  /** `changed` is called when an answer has arrived, and when a failed address may be asked for again. */
  constructor(changed) {
    this.changed = changed;
  }

  /** Returns what is known about an address now, and asks for it if nothing is. */
  get(url, read) {
    let entry = this.#entries.get(url);
    if (!entry) {
      entry = { state: "loading" };
      entry.loaded = this.#load(url, entry, read);
      this.#entries.set(url, entry);
    }
    return entry;
  }

  async #load(url, entry, read) {
    const { signal } = this.#abort;
    try {
      const response = await fetch(url, { credentials: "same-origin", headers: { accept: "application/json" }, signal });
      if (response.ok) Object.assign(entry, { state: "ready", ...read(await response.json()) });
      else entry.state = response.status === 404 ? "missing" : "failed";
    } catch {
      entry.state = "failed";
    }
    if (signal.aborted) return;
    // a kind that is missing now may be created at any time
    if (entry.state !== "ready") setTimeout(() => this.#forget(url, entry), RETRY_MS);
    this.changed();
  }

  #forget(url, { state }) {
    if (this.#abort.signal.aborted) return;
    this.#entries.delete(url);
    if (state === "failed") this.changed();
  }

  close() {
    this.#abort.abort();
  }
}

/** What an editor can ask for. Without addresses it knows nothing. */
export class Remote {
  #cache;
  #schemas;
  #kinds;

  constructor({ schemas, kinds }, changed) {
    this.#schemas = schemas;
    this.#kinds = kinds;
    this.#cache = new Cache(changed);
  }

  /** Returns `{ state, schema }` of a kind, or undefined without an address. */
  schemaOf({ group, version, kind }) {
    if (!this.#schemas) return undefined;
    const url = new URL(this.#schemas, document.baseURI);
    for (const [name, value] of Object.entries({ group, version, kind })) url.searchParams.set(name, value);
    return this.#cache.get(url.href, (json) => ({ schema: new Schema(json) }));
  }

  /** Returns the kinds of the cluster; none until they are loaded. */
  kinds() {
    return this.#kindList()?.kinds ?? [];
  }

  /** Resolves when what completion needs has been loaded, or has failed. */
  async loaded(identity) {
    await Promise.all([this.#kindList()?.loaded, identity && this.schemaOf(identity)?.loaded]);
  }

  close() {
    this.#cache.close();
  }

  #kindList() {
    if (!this.#kinds) return undefined;
    return this.#cache.get(new URL(this.#kinds, document.baseURI).href, (kinds) => ({ kinds }));
  }
}
