// Runs before every page's own scripts: finds out when something is on the screen. Times are those of performance.now().
(() => {
  const probe = { longTasks: [], lastEvent: 0, memories: new Set() };
  window.__probe = probe;

  new PerformanceObserver((entries) => probe.longTasks.push(...entries.getEntries())).observe({ type: "longtask", buffered: true });

  for (const type of ["input", "click"]) {
    window.addEventListener(type, (event) => (probe.lastEvent = event.timeStamp), { capture: true });
  }

  // a module's memory is among its exports
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...values) => {
      const made = await original.apply(WebAssembly, values);
      for (const value of Object.values((made.instance ?? made).exports)) {
        if (value instanceof WebAssembly.Memory) probe.memories.add(value);
      }
      return made;
    };
  }

  /** Calls back after the frame that shows what is in the document now. */
  const painted = (done) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done(performance.now());
      channel.port2.postMessage(undefined);
    });

  /** Resolves with the time at which `condition` was first true on the screen. */
  probe.when = (condition) =>
    new Promise((resolve) => {
      let observer;
      const look = () => {
        if (!condition()) return false;
        observer?.disconnect();
        painted(resolve);
        return true;
      };
      if (look()) return;
      observer = new MutationObserver(look);
      observer.observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
    });

  probe.rows = () => [...document.querySelectorAll("main [data-row]")];
  probe.rowOf = (link) => link.closest("tr, [role=row]") ?? link.parentElement;
  probe.names = () => probe.rows().map((link) => link.textContent.trim());

  probe.firstRows = probe.when(() => probe.rows().length > 0);
  probe.firstPaint = new Promise((resolve) => {
    new PerformanceObserver((entries) => {
      for (const entry of entries.getEntries()) if (entry.name === "first-contentful-paint") resolve(entry.startTime);
    }).observe({ type: "paint", buffered: true });
  });

  /**
   * Resolves once scripts have taken the page over: what only they can open opens. `probe.clicked` is the time of the click
   * that opened it: what is requested later belongs to the dialog.
   */
  probe.interactive = () =>
    new Promise((resolve) => {
      const isOpen = () => document.querySelector("dialog[open]") !== null;
      const timer = setInterval(() => {
        if (!isOpen()) {
          probe.clicked = performance.now();
          const help = [...document.querySelectorAll("button")].find((button) => button.textContent.trim() === "Keyboard shortcuts");
          if (help) help.click();
          else document.body?.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
        }
        if (isOpen()) {
          clearInterval(timer);
          painted(resolve);
        }
      }, 25);
    });
})();
