{
  const entered = new Map();
  const note = ({ target }) => entered.set(target, [target.value, target.checked]);
  const restore = () => {
    removeEventListener("input", note);
    for (const [field, [value, checked]] of entered) {
      if (field.type !== "file") field.value = value;
      field.checked = checked;
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
  };
  addEventListener("input", note);
  addEventListener("portico:hydrated", restore, { once: true });
}
