// Runs in one plot: the reader chooses the axes, their scales and which runs are shown.

const AGAINST = { rounds: "rounds", projections: "projections", passes: "passes over the data", seconds: "seconds" };
const MEASURES = {
  gap: "certified gap", excess: "F(x) − F*", value: "F(x)", slope: "‖P∇F(x)‖", residual: "‖Ax − b‖",
};
const SHORT = { gap: "gap", excess: "F − F*", value: "loss", slope: "slope", residual: "residual" };
const FLOOR = 1e-17; // where zeros are drawn on a logarithmic axis
const DASHES = ["solid", "dash", "dot", "dashdot"];
const COLOURS = 8;

function drawCurves(place) {
  const given = data.figures[place.dataset.key];
  const runs = given.runs.map((each, number) => ({ ...each, number, columns: data.runs[each.run].columns, on: true }));
  const lowest = given.best ?? Math.min(...runs.flatMap((run) => run.columns.value.filter((v) => v !== null)));
  const measured = (run, name) => (name === "excess"
    ? run.columns.value.map((v) => (v === null ? null : v - lowest)) : run.columns[name]);
  const has = (name) => runs.some((run) => measured(run, name)?.filter((v) => v !== null).length > 1);
  const offered = Object.keys(MEASURES).filter(has);
  if (!offered.length) {
    place.append(element("p", { class: "quiet" }, "There is no curve to draw: F was measured only once."));
    return;
  }
  const view = {
    x: given.against, y: offered.includes(given.show) ? given.show : offered[0], xscale: "linear", yscale: "log",
  };
  const plot = element("div", { class: "plot" });
  const set = (name) => (value) => { view[name] = value; draw(); };
  const scales = [["log", "log"], ["linear", "linear"]];
  place.append(
    element("div", { class: "controls" },
      choice("y", offered.map((name) => [name, name === "excess" && given.best === null ? "F − lowest" : SHORT[name]]), view.y, set("y")),
      choice("y scale", scales, view.yscale, set("yscale")),
      choice("x", Object.keys(AGAINST).map((name) => [name, name]), view.x, set("x")),
      choice("x scale", scales, view.xscale, set("xscale"))),
    plot);
  if (runs.length > 1) place.append(chips(runs, () => draw()));

  function trace(run) {
    const y = measured(run, view.y);
    const kept = y.map((v, k) => k).filter((k) => y[k] !== null);
    const lifted = (v) => (view.yscale === "log" && v < FLOOR ? FLOOR : v);
    return {
      x: kept.map((k) => run.columns[view.x][k]), y: kept.map((k) => lifted(y[k])), customdata: kept.map((k) => y[k]),
      name: run.name, visible: run.on, mode: kept.length > 80 ? "lines" : "lines+markers",
      line: { color: colour(`series-${run.number % COLOURS}`), width: 2, dash: DASHES[Math.floor(run.number / COLOURS) % 4] },
      marker: { size: 5 },
      hovertemplate: `%{x:,.4~g} ${view.x}<br>${MEASURES[view.y]} %{customdata:.4~g}<extra>%{fullData.name}</extra>`,
    };
  }

  function draw() {
    const layout = commonLayout();
    const word = view.y === "excess" && given.best === null ? "F(x) − lowest F seen" : MEASURES[view.y];
    Object.assign(layout.xaxis, { type: view.xscale, title: { text: AGAINST[view.x] }, rangemode: "tozero" });
    Object.assign(layout.yaxis, { type: view.yscale, title: { text: word }, exponentformat: "power" });
    if (view.y === "value" && given.best !== null) {
      layout.shapes = [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: given.best, y1: given.best,
        line: { color: colour("quiet"), width: 1, dash: "dot" } }];
    }
    Plotly.react(plot, runs.map(trace), layout, plotSettings);
  }
  redraws.push(draw);
  draw();
}

/** Buttons that show and hide runs. */
function chips(runs, changed) {
  const row = element("div", { class: "chips", role: "group", "aria-label": "runs" });
  runs.forEach((run) => {
    const swatch = element("i", { style: `background: var(--series-${run.number % COLOURS})` });
    const chip = element("button", { type: "button", "aria-pressed": "true" }, swatch, run.name);
    chip.addEventListener("click", () => {
      run.on = !run.on;
      chip.setAttribute("aria-pressed", String(run.on));
      changed();
    });
    row.append(chip);
  });
  return row;
}

document.querySelectorAll(".curves").forEach(drawCurves);
