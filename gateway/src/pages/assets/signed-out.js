// Removes what the panel has stored in this tab of the user's unsaved work.
const PREFIXES = ["portico-draft:", "portico-form:"];
try {
  const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index));
  for (const key of keys) {
    if (PREFIXES.some((prefix) => key.startsWith(prefix))) sessionStorage.removeItem(key);
  }
} catch {
  // storage is turned off: nothing is stored
}
