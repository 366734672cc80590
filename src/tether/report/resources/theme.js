// Light or dark: as the reader's system has it, until the button says otherwise. Plots follow.

const data = JSON.parse(document.getElementById("data").textContent);
const redraws = []; // functions that draw a plot anew, in the colours of the moment

const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

function redrawAll() {
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  redraws.forEach((draw) => draw());
}

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  redrawAll();
});
system.addEventListener("change", redrawAll);

/** The part of a plot's layout that all plots have in common. */
function commonLayout() {
  const axis = {
    gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("grid"), automargin: true,
    tickfont: { size: 12 },
  };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("text") },
    margin: { l: 8, r: 8, t: 12, b: 8 }, hovermode: "closest", autosize: true,
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("text") } },
    xaxis: { ...axis }, yaxis: { ...axis },
  };
}

const plotSettings = { displaylogo: false, responsive: true, displayModeBar: false };

/** An element with attributes and children. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
}

/** A row of buttons of which one is pressed. */
function choice(label, options, chosen, changed) {
  const group = element("div", { class: "choice", role: "group", "aria-label": label }, element("span", {}, label));
  const buttons = options.map(([value, words]) => {
    const button = element("button", { type: "button", "data-value": value }, words);
    button.addEventListener("click", () => { press(value); changed(value); });
    group.append(button);
    return button;
  });
  const press = (value) => buttons.forEach((button) => {
    button.setAttribute("aria-pressed", String(button.dataset.value === value));
  });
  press(chosen);
  return group;
}
