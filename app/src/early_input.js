{
  const entered = new Map();
  const note = ({ target }) => entered.set(target, [target.value, target.checked]);
  addEventListener("input", note);
  addEventListener("portico:hydrated", () => {
    removeEventListener("input", note);
    for (const [field, [value, checked]] of entered) {
      if (field.type !== "file") field.value = value;
      field.checked = checked;
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
    entered.clear();
  });
}
