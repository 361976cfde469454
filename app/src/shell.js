((document) => {
  const theme = /(?:^|; )portico-theme=(light|dark)(?:;|$)/.exec(document.cookie);
  if (theme) document.documentElement.setAttribute("data-theme", theme[1]);
  const early = new AbortController();
  const listen = (type, call) => addEventListener(type, call, { signal: early.signal });
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
  listen("DOMContentLoaded", () => (timer = setTimeout(fail, 30000)));
  listen("error", fail);
  listen("unhandledrejection", fail);
  listen("portico:hydrated", () => {
    early.abort();
    clearTimeout(timer);
    notice?.remove();
  });
})(document);
