// Light or dark: as the reader's system has it, until the button says otherwise. Plots follow.

const COLOURS = 12; // of lines, before dashes tell them apart
const redraws = new Map(); // of each plot that was drawn: how to draw it anew, in the colours of the moment
const root = document.documentElement;
const themeButton = document.getElementById("theme");

const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

function setTheme(theme) {
  root.dataset.theme = theme;
  themeButton.textContent = theme === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `switch to ${theme === "dark" ? "light" : "dark"} colours`);
  redraws.forEach((draw) => draw());
}

themeButton.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (now) => setTheme(now.matches ? "dark" : "light"));

/** Return the part of a layout that all plots have in common. */
function commonLayout() {
  const axis = {
    gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("grid"), tickcolor: colour("line"),
    ticks: "outside", ticklen: 4, automargin: true, showline: true, title: { standoff: 12 },
  };
  const touched = matchMedia("(pointer: coarse)").matches;
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, autosize: true,
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("quiet") },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("line"), activecolor: colour("accent") },
    colorway: Array.from({ length: COLOURS }, (_, k) => colour(`series-${k}`)),
    margin: { l: 4, r: 12, t: 12, b: 4 }, hovermode: "closest", dragmode: touched ? false : "zoom",
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("text"), size: 13 } },
    xaxis: { ...axis }, yaxis: { ...axis },
  };
}

const plotSettings = {
  displaylogo: false, responsive: true, modeBarButtons: [["toImage", "resetScale2d"]],
};

const waiting = new Map(); // of each plot that nobody has come near: how to draw it
const watch = new IntersectionObserver((seen) => {
  seen.filter((entry) => entry.isIntersecting).forEach((entry) => begin(entry.target));
}, { rootMargin: "800px" });

function begin(plot) {
  const draw = waiting.get(plot);
  watch.unobserve(plot);
  waiting.delete(plot);
  redraws.set(plot, draw);
  draw();
}

/** Have a plot drawn once a reader comes near it, and again whenever the colours change. */
function drawn(plot, draw) {
  waiting.set(plot, draw);
  watch.observe(plot);
}

window.addEventListener("beforeprint", () => [...waiting.keys()].forEach(begin));
