// The terminal tab's custom element: xterm.js over a WebSocket.
//
// Frames to the server: bytes are standard input; text is JSON, {"type":"resize",columns,rows}.
// Frames from the server: bytes are output; text is JSON, {"type":"started"} or
// {"type":"ended",reason,missing,who_can}, where `missing` is the permission that was refused, if one was,
// and `who_can` the address of the page that shows who has it.
import { Terminal } from "@xterm/xterm";
import { FitAddon } from "@xterm/addon-fit";

// xterm.js writes its measures into <style> elements, which `style-src 'self'` blocks. A
// constructed style sheet does the same and is not subject to that rule.
function withConstructedStyles(work) {
  const create = document.createElement;
  document.createElement = function (name, options) {
    return String(name).toLowerCase() === "style" ? styleStandIn() : create.call(document, name, options);
  };
  try {
    return work();
  } finally {
    document.createElement = create;
  }
}

function styleStandIn() {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = document.createElementNS("http://www.w3.org/1999/xhtml", "template");
  let text = "";
  Object.defineProperty(element, "textContent", {
    get: () => text,
    set: (value) => {
      text = value;
      sheet.replaceSync(value);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((known) => known !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

// xterm.js colours single cells (24-bit colours, and those it shifts for contrast) by a style attribute,
// which the same rule blocks; the object model is not subject to it.
HTMLSpanElement.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};

// The style sheet's tokens, by xterm's names. The bright colours are the plain ones: xterm shifts
// each to 4.5:1 on its background anyway.
const TOKENS = {
  background: "terminal-bg",
  foreground: "terminal-text",
  cursor: "accent",
  cursorAccent: "terminal-bg",
  selectionBackground: "selection",
};
for (const name of ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]) {
  TOKENS[name] = `terminal-${name}`;
  TOKENS[`bright${name[0].toUpperCase()}${name.slice(1)}`] = `terminal-${name}`;
}

// A custom property keeps its text, `light-dark(…)` here; a colour that uses it is computed.
function theme(host) {
  const probe = document.createElement("span");
  host.append(probe);
  const colours = Object.entries(TOKENS).map(([name, token]) => {
    probe.style.setProperty("color", `var(--${token})`);
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours);
}

// Why the gateway closed a terminal, with what to do: 1008 says that the session has ended, 1012
// that the terminal may be opened again.
const ENDED = {
  signed_out: "Closed: you signed out in another tab. Sign in again to open a terminal.",
  replaced: "Closed: you signed in again in this browser. Reload this page to open a terminal.",
  revoked: "Closed: this session was ended from another browser or device. Sign in again to open a terminal.",
  ended_by_administrator: "Closed: an administrator of your cloud ended this session. Sign in again, or ask them why.",
  expired: "Closed: your session has expired. Sign in again to open a terminal.",
  refused_by_keystone: "Closed: Keystone has ended your session. Sign in again; if that fails, ask the administrators of your cloud.",
  refused_by_provider: "Closed: your identity provider has ended your session. Sign in again; if that fails, ask its administrators.",
  ended_by_provider: "Closed: you were signed out at your identity provider. Sign in again to open a terminal.",
};

function whyClosed(code, word) {
  if (code === 1008) return ENDED[word] ?? "Closed: your session has ended. Sign in again to open a terminal.";
  if (code !== 1012) return word;
  if (word === "renewed") return "Closed: your sign-in was renewed. Connect again to continue.";
  return "Closed: the server is restarting. Connect again in a moment.";
}

/** A shell in a container: a terminal with its connection. It can be moved from one place of the page to another. */
class TerminalSession {
  constructor(path) {
    this.path = path;
    this.status = "";
    /** The permission that is missing, if that is why the terminal is not open. */
    this.missing = null;
    /** The address of the page that shows who has that permission. */
    this.whoCan = null;
    this.onstatus = () => {};
    this.onleave = () => {};
  }

  /** Shows the terminal in an element; the first time, it connects. */
  attach(host) {
    if (this.terminal) {
      host.append(this.terminal.element);
    } else {
      this.open(host);
    }
    this.observer?.disconnect();
    this.observer = new ResizeObserver(() => this.fit.fit());
    this.observer.observe(host);
    this.fit.fit();
    this.terminal.focus();
  }

  open(host) {
    this.terminal = new Terminal({
      fontFamily: getComputedStyle(host).getPropertyValue("--font-code") || "monospace",
      fontSize: 13,
      scrollback: 5000,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      screenReaderMode: true,
      minimumContrastRatio: 4.5,
      theme: theme(host),
    });
    this.fit = new FitAddon();
    this.terminal.loadAddon(this.fit);
    withConstructedStyles(() => this.terminal.open(host));
    this.terminal.textarea?.setAttribute("aria-label", "Terminal input");
    this.terminal.attachCustomKeyEventHandler((event) => {
      const leave = event.ctrlKey && event.shiftKey && event.key === "Escape";
      if (leave && event.type === "keydown") {
        this.terminal.blur();
        this.onleave();
      }
      return !leave;
    });
    this.terminal.onData((text) => this.send(new TextEncoder().encode(text)));
    this.terminal.onBinary((text) => this.send(Uint8Array.from(text, (c) => c.charCodeAt(0))));
    this.terminal.onResize(() => this.resized());
    this.fit.fit();
    this.followTheme();
    this.connect();
  }

  dispose() {
    this.observer?.disconnect();
    this.unfollowTheme?.();
    this.close();
    this.terminal?.dispose();
    this.terminal = undefined;
  }

  /** Takes the colours again when the chosen appearance or the system's changes. */
  followTheme() {
    const update = () => {
      this.terminal.options.theme = theme(this.terminal.element.parentElement);
    };
    const chosen = new MutationObserver(update);
    chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const queries = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((query) => matchMedia(query));
    for (const query of queries) query.addEventListener("change", update);
    this.unfollowTheme = () => {
      chosen.disconnect();
      for (const query of queries) query.removeEventListener("change", update);
    };
  }

  connect() {
    this.close();
    this.terminal.reset();
    this.report("Connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.path}`);
    let reason = "";
    let missing = null;
    let whoCan = null;
    let opened = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      opened = true;
      this.report("Connected");
      this.resized();
    };
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") {
        this.terminal.write(new Uint8Array(data));
        return;
      }
      const message = parsed(data);
      if (message.type === "ended") ({ reason, missing = null, who_can: whoCan = null } = message);
    };
    socket.onclose = ({ code, reason: closing }) => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      const refused = "No terminal was opened. The container may not run, or your rights may have changed.";
      this.report(reason || whyClosed(code, closing) || (opened ? "The connection ended." : refused), missing, whoCan);
    };
    this.socket = socket;
  }

  close() {
    const socket = this.socket;
    this.socket = undefined;
    // closing a connection that is being made is an error in the browser's console
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  send(bytes) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  resized() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const { cols: columns, rows } = this.terminal;
    this.socket.send(JSON.stringify({ type: "resize", columns, rows }));
  }

  report(text, missing = null, whoCan = null) {
    this.status = text;
    this.missing = missing;
    this.whoCan = whoCan;
    this.onstatus(text);
  }
}

/** The terminal of an object's page. It ends with the page, unless it was moved to the dock. */
class PorticoTerminal extends HTMLElement {
  connectedCallback() {
    if (this.session) return;
    this.session = new TerminalSession(this.dataset.path);
    this.session.onstatus = (text) => {
      const status = document.getElementById(this.dataset.status);
      if (status) status.textContent = text;
      this.dataset.state = text === "Connected" ? "connected" : "off";
      const { missing } = this.session;
      this.dispatchEvent(new CustomEvent("missing", { bubbles: true, detail: missing && JSON.stringify(missing) }));
    };
    this.session.onleave = () => document.getElementById("terminal-container")?.focus();
    this.session.attach(this);
  }

  disconnectedCallback() {
    this.session?.dispose();
    this.session = undefined;
  }

  connect() {
    this.session?.connect();
  }

  /** Moves the terminal, with its shell, to the dock. */
  dock(name) {
    const session = this.session;
    this.session = undefined;
    if (session) dock().add(session, name);
  }
}

/** The dock at the foot of the window, which is outside of the pages and stays when one leaves them. */
function dock() {
  let found = document.querySelector("portico-terminal-dock");
  if (!found) {
    found = document.createElement("portico-terminal-dock");
    document.body.append(found);
  }
  return found;
}

function button(text, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "btn btn-small";
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}

class TerminalDock extends HTMLElement {
  sessions = [];

  connectedCallback() {
    if (this.tabs) return;
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Terminals");
    const head = document.createElement("div");
    head.className = "dock-head";
    this.tabs = document.createElement("div");
    this.tabs.className = "dock-tabs";
    this.tabs.setAttribute("role", "group");
    this.tabs.setAttribute("aria-label", "Open terminals");
    this.state = document.createElement("span");
    this.state.className = "dock-status";
    this.state.setAttribute("role", "status");
    this.whoCan = document.createElement("a");
    this.whoCan.className = "btn btn-small";
    this.whoCan.textContent = "Who can?";
    this.minimize = button("Minimize", () => this.fold(!this.classList.contains("is-minimized")));
    this.maximize = button("Full screen", () => this.fill(!this.classList.contains("is-fullscreen")));
    head.append(
      this.tabs,
      this.state,
      button("Connect again", () => this.shown?.session.connect()),
      this.maximize,
      this.minimize,
      button("Close terminal", () => this.shown && this.drop(this.shown)),
    );
    this.host = document.createElement("div");
    this.host.className = "terminal-host";
    this.append(head, this.host);
  }

  add(session, name) {
    const tab = button(name, () => this.show(entry));
    const entry = { session, tab };
    session.onstatus = () => this.update();
    session.onleave = () => tab.focus();
    this.sessions.push(entry);
    this.tabs.append(tab);
    this.show(entry);
  }

  show(entry) {
    this.shown = entry;
    this.fold(false);
    this.host.replaceChildren();
    entry.session.attach(this.host);
    this.update();
  }

  drop(entry) {
    entry.session.dispose();
    entry.tab.remove();
    this.sessions = this.sessions.filter((one) => one !== entry);
    const next = this.sessions.at(-1);
    this.shown = undefined;
    if (next) this.show(next);
    else this.remove();
  }

  fold(on) {
    this.classList.toggle("is-minimized", on);
    if (on) this.fill(false);
    this.minimize.textContent = on ? "Restore" : "Minimize";
    this.minimize.setAttribute("aria-expanded", String(!on));
  }

  fill(on) {
    this.classList.toggle("is-fullscreen", on);
    this.maximize.setAttribute("aria-pressed", String(on));
    this.maximize.textContent = on ? "Leave full screen" : "Full screen";
  }

  update() {
    const { status = "", whoCan } = this.shown?.session ?? {};
    this.state.textContent = status;
    if (whoCan) {
      this.whoCan.href = whoCan;
      this.state.after(this.whoCan);
    } else {
      this.whoCan.remove();
    }
    for (const { tab } of this.sessions) tab.setAttribute("aria-pressed", String(tab === this.shown?.tab));
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

if (!customElements.get("portico-terminal")) {
  customElements.define("portico-terminal", PorticoTerminal);
  customElements.define("portico-terminal-dock", TerminalDock);
}
