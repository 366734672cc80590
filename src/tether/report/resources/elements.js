// What the page was written with, and the elements that plots and tables are made of.

const data = JSON.parse(document.getElementById("data").textContent);

/** Return an element with attributes and children. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
}

/** Return a row of buttons of which one is pressed: options are pairs of a value and its words. */
function choice(label, options, chosen, changed) {
  const buttons = options.map(([value, words]) => element("button", { type: "button", "data-value": value }, words));
  const press = (value) => buttons.forEach((button) => {
    button.setAttribute("aria-pressed", String(button.dataset.value === value));
  });
  buttons.forEach((button) => button.addEventListener("click", () => {
    press(button.dataset.value);
    changed(button.dataset.value);
  }));
  press(chosen);
  const row = element("div", { class: "buttons" }, ...buttons);
  return element("div", { class: "choice", role: "group", "aria-label": label }, element("span", {}, label), row);
}

/** Return a number with a few digits. */
function rounded(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e7 || size < 1e-3 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}
