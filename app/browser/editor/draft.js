// Stores unsaved text for as long as the tab lives, so that a reload or a crash does not lose it: for one
// user, and never the text of a Secret.
import { mayHoldSecret } from "./secrets.js";

const PREFIX = "portico-draft:";
const DELAY_MS = 300;

export class Draft {
  #timer;
  #pending;
  #withheld;

  /**
   * Takes a key, and remembers what an earlier page has left under it: `{ text, base }` or null. `base` is the text on which
   * the changes were made. A key begins with the ID of its user and a colon; what the tab has of other users is removed.
   * `withheld` is called with true when a text is not stored because of a Secret, and with false when the next one is.
   */
  constructor(key, withheld = () => {}) {
    this.key = PREFIX + key;
    this.#withheld = withheld;
    removeOthers(key.slice(0, key.indexOf(":") + 1));
    this.found = this.#read();
    this.flush = this.flush.bind(this);
    addEventListener("pagehide", this.flush);
  }

  /** Stores a text and its base soon, or removes what is stored if `text` is null. */
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
    const isWithheld = text !== null && holdsSecret({ text, base });
    try {
      if (text === null || isWithheld) sessionStorage.removeItem(this.key);
      else sessionStorage.setItem(this.key, JSON.stringify({ text, base }));
    } catch {
      // storage is full or turned off: editing works without it
    }
    this.#withheld(isWithheld);
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
      if (typeof found?.text !== "string") return null;
      if (!holdsSecret(found)) return found;
      sessionStorage.removeItem(this.key);
      return null;
    } catch {
      return null;
    }
  }
}

function holdsSecret({ text, base }) {
  return mayHoldSecret(text) || (typeof base === "string" && mayHoldSecret(base));
}

/** Removes the drafts of other users, and those of versions whose keys name no user. */
function removeOthers(owner) {
  try {
    const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index));
    for (const key of keys) {
      if (key.startsWith(PREFIX) && !key.startsWith(PREFIX + owner)) sessionStorage.removeItem(key);
    }
  } catch {
    // storage is turned off: there are no drafts
  }
}
