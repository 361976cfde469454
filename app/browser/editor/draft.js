// Keeps unsaved text for as long as the tab lives, so that a reload or a crash does not lose it.

const PREFIX = "portico-draft:";
const DELAY_MS = 300;

export class Draft {
  #timer;
  #pending;

  /** Takes a key, and remembers the text that an earlier page has left under it. */
  constructor(key) {
    this.key = PREFIX + key;
    this.found = this.#read();
    this.flush = this.flush.bind(this);
    addEventListener("pagehide", this.flush);
  }

  /** Keeps a text soon, or removes what is kept if `text` is null. */
  save(text) {
    this.#pending = { text };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.flush, DELAY_MS);
  }

  flush() {
    clearTimeout(this.#timer);
    if (!this.#pending) return;
    const { text } = this.#pending;
    this.#pending = undefined;
    try {
      if (text === null) sessionStorage.removeItem(this.key);
      else sessionStorage.setItem(this.key, text);
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
      return sessionStorage.getItem(this.key);
    } catch {
      return null;
    }
  }
}
