// What connects the custom element with the page around it.

/** Takes properties that the page has set before the element was defined. */
export function takeProperties(element, names) {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const value = element[name];
    delete element[name];
    element[name] = value;
  }
}

/** Returns a text for assistive technology; `aria-describedby` finds it by the ID "hint". */
export function hint(text) {
  const element = document.createElement("p");
  element.id = "hint";
  element.className = "hint";
  element.textContent = text;
  return element;
}

/**
 * Keeps keys from the page: outside of the shadow root they seem to come from the element, which
 * the page does not know as a field, so that "/" would move the focus. What the editor does not use
 * passes on: combinations such as Ctrl-K, and Escape, with which the page closes what is around the editor.
 */
export function stopPlainKeys(root) {
  root.addEventListener("keydown", (event) => {
    const isCombination = event.ctrlKey || event.metaKey || event.altKey;
    const passes = !event.defaultPrevented && (isCombination || event.key === "Escape");
    if (!passes) event.stopPropagation();
  });
}
