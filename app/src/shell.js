((document) => {
  const theme = /(?:^|; )portico-theme=(light|dark)(?:;|$)/.exec(document.cookie);
  if (theme) document.documentElement.setAttribute("data-theme", theme[1]);
  const typed = new Map();
  const early = new AbortController();
  const listen = (type, call) => addEventListener(type, call, { signal: early.signal });
  const property = (field) => (/checkbox|radio/.test(field.type) ? "checked" : "value");
  const keep = (field) => {
    typed.delete(field);
    if (!/file|hidden/.test(field.type)) typed.set(field, field[property(field)]);
  };
  let notice, timer;
  const fail = () => {
    if (notice) return;
    notice = document.createElement("div");
    notice.className = "notice-bar";
    notice.role = "alert";
    notice.innerHTML = 'The scripts of this page could not start. <a rel="external">Reload the page</a>';
    notice.lastChild.href = "";
    document.documentElement.append(notice);
  };
  listen("input", ({ target }) => keep(target));
  listen("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll("input,textarea")) {
      if (property(field) === "value" && field.value && field.value !== field.defaultValue) keep(field);
    }
    timer = setTimeout(fail, 30000);
  });
  listen("error", fail);
  listen("unhandledrejection", fail);
  listen("portico:hydrated", () => {
    early.abort();
    clearTimeout(timer);
    notice?.remove();
    for (const [field, value] of typed) {
      const now = field.isConnected ? field : document.getElementById(field.id);
      if (!now || now[property(now)] === value) continue;
      now[property(now)] = value;
      for (const type of ["input", "change"]) now.dispatchEvent(new Event(type, { bubbles: true }));
    }
  });
})(document);
