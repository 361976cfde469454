// Keeps unsaved text for as long as the tab lives, so that a reload or a crash does not lose it.

const PREFIX = "portico-draft:";
const DELAY_MS = 300;

export class Draft {
  #timer;
  #pending;

  /**
   * Takes a key, and remembers what an earlier page has left under it: `{ text, base }` or null. `base` is the text on which
   * the changes were made.
   */
  constructor(key) {
    this.key = PREFIX + key;
    this.found = this.#read();
    this.flush = this.flush.bind(this);
    addEventListener("pagehide", this.flush);
  }

  /** Keeps a text and its base soon, or removes what is kept if `text` is null. */
  save(text, base) {
    this.#pending = { text, base };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.flush, DELAY_MS);
  }

  flush() {
    clearTimeout(this.#timer);
    if (!this.#pending) return;
    const { text, base } = this.#pending;
    this.#pending = undefined;
    try {
      if (text === null) sessionStorage.removeItem(this.key);
      else sessionStorage.setItem(this.key, JSON.stringify({ text, base }));
    } catch {
      // storage is full or turned off: editing works without it
    }
  }

  clear() {
    this.found = null;
    this.save(null);
    this.flush();
  }

  close() {
    this.flush();
    removeEventListener("pagehide", this.flush);
  }

  #read() {
    try {
      const found = JSON.parse(sessionStorage.getItem(this.key));
      return typeof found?.text === "string" ? found : null;
    } catch {
      return null;
    }
  }
}
