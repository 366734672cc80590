// Runs in one plot: the reader chooses the axes, their scales and which runs are shown.

const AGAINST = { rounds: "rounds", projections: "projections", passes: "passes over the data", seconds: "seconds" };
const MEASURES = {
  gap: ["gap", "certified gap"], excess: ["F − F*", "F(x) − F*"], value: ["loss", "F(x)"],
  slope: ["slope", "‖P∇F(x)‖"], residual: ["residual", "‖Ax − b‖"],
};
const LOWEST = ["F − lowest", "F(x) − lowest F seen"]; // where F* is not known
const FLOOR = 1e-17; // where zeros are drawn on a logarithmic axis
const ROUNDING = 2.2e-16; // of F, below which a difference is none
const SPREAD = 20; // of the ends of runs, beyond which the x axis is logarithmic at first
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MANY = 40; // points of a line that needs no markers

const present = (values) => (values ?? []).filter((value) => value !== null);
const seriesColour = (number) => `series-${number % COLOURS}`;

/** The scale of an axis: powers of ten alone are named where there are enough of them. */
function axisOf(type, values) {
  const positive = values.filter((value) => value > 0);
  const [least, most] = positive.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, 0]);
  const decades = Math.log10(most / least);
  const dtick = type === "log" && decades >= 1.5 ? Math.max(1, Math.ceil(decades / 8)) : undefined;
  return { type, dtick, exponentformat: "power" };
}

class Curves {
  constructor(place) {
    const given = data.figures[place.dataset.key];
    this.best = given.best;
    this.runs = given.runs.map(({ name, run, colour: number }) => ({ name, number, on: true, ...data.runs[run] }));
    const values = this.runs.flatMap((run) => present(run.columns.value));
    this.lowest = this.best ?? values.reduce((one, other) => Math.min(one, other), Infinity);
    this.offered = Object.keys(MEASURES).filter((name) => this.has(name) && (given.comparable || name !== "excess"));
    this.plot = element("div", { class: "plot" });
    if (!this.offered.length) {
      place.append(element("p", { class: "quiet" }, "There is no curve to draw: F was measured only once."));
      return;
    }
    const ends = this.runs.map((run) => run.columns[given.against].at(-1)).filter((end) => end > 0);
    this.view = {
      x: given.against, y: this.offered.includes(given.show) ? given.show : this.offered[0],
      xscale: Math.max(...ends) > SPREAD * Math.min(...ends) ? "log" : "linear", yscale: "log",
    };
    place.append(this.controls(), this.plot);
    if (this.runs.length > 1) place.append(this.chips());
    drawn(this.plot, () => this.draw());
  }

  /** Whether there is a curve of something to draw; a residual that is zero all along is none. */
  has(measure) {
    const columns = this.runs.map((run) => present(this.measured(run, measure))).filter((each) => each.length > 1);
    return columns.length > 0 && (measure !== "residual" || columns.flat().some((value) => value > 0));
  }

  measured(run, measure) {
    if (measure !== "excess") return run.columns[measure];
    return run.columns.value.map((value) => (value === null ? null : value - this.lowest));
  }

  words(measure) { return measure === "excess" && this.best === null ? LOWEST : MEASURES[measure]; }

  controls() {
    const set = (name) => (value) => { this.view[name] = value; this.draw(); };
    const scales = [["log", "log"], ["linear", "linear"]];
    return element("div", { class: "controls" },
      element("div", { class: "pair" },
        choice("vertical axis", this.offered.map((name) => [name, this.words(name)[0]]), this.view.y, set("y")),
        choice("vertical scale", scales, this.view.yscale, set("yscale"))),
      element("div", { class: "pair" },
        choice("horizontal axis", Object.keys(AGAINST).map((name) => [name, name]), this.view.x, set("x")),
        choice("horizontal scale", scales, this.view.xscale, set("xscale"))));
  }

  chips() {
    const row = element("div", { class: "chips", role: "group", "aria-label": "runs" });
    this.runs.forEach((run) => {
      const swatch = element("i", { style: `background: var(--${seriesColour(run.number)})` });
      const chip = element("button", { type: "button", "aria-pressed": "true" }, swatch, run.name);
      chip.addEventListener("click", () => {
        run.on = !run.on;
        chip.setAttribute("aria-pressed", String(run.on));
        this.draw();
      });
      row.append(chip);
    });
    return row;
  }

  /** The height of a value: on a logarithmic axis zeros stay in sight, but for the lowest F less itself. */
  height(value) {
    if (this.view.yscale !== "log") return value;
    if (this.view.y !== "excess") return Math.max(value, FLOOR);
    return value === 0 && this.best === null ? null : Math.max(value, ROUNDING * Math.abs(this.lowest), FLOOR);
  }

  trace(run) {
    const y = this.measured(run, this.view.y);
    const kept = y.map((_, k) => k).filter((k) => y[k] !== null);
    const words = MEASURES[this.view.y][1];
    return {
      x: kept.map((k) => run.columns[this.view.x][k]), y: kept.map((k) => this.height(y[k])),
      customdata: kept.map((k) => rounded(y[k])), name: run.name, visible: run.on,
      mode: kept.length > MANY ? "lines" : "lines+markers", marker: { size: 5 },
      line: { color: colour(seriesColour(run.number)), width: 2, dash: DASHES[Math.floor(run.number / COLOURS) % 4] },
      hovertemplate: `%{x:,.4~g} ${this.view.x}<br>${words} %{customdata}<extra>%{fullData.name}</extra>`,
    };
  }

  /** Diamonds where something else was chosen to run. */
  turns(run) {
    const y = this.measured(run, this.view.y);
    const seen = run.decisions.filter(([request]) => request > 0).flatMap(([request, words, reason]) => {
      const k = run.requests.findLastIndex((row, place) => row < request && y[place] !== null);
      return k < 0 ? [] : [{ k, text: `from here on ${words}:<br>${reason}` }];
    });
    return {
      x: seen.map(({ k }) => run.columns[this.view.x][k]), y: seen.map(({ k }) => this.height(y[k])),
      text: seen.map(({ text }) => text), name: run.name, visible: run.on, mode: "markers",
      marker: { symbol: "diamond", size: 13, color: colour("page"), line: { color: colour(seriesColour(run.number)), width: 2 } },
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
    };
  }

  draw() {
    const layout = commonLayout();
    const traces = this.runs.flatMap((run) => [this.trace(run), this.turns(run)]).filter((trace) => trace.x.length);
    const shown = traces.filter((trace) => trace.visible);
    Object.assign(layout.xaxis, axisOf(this.view.xscale, shown.flatMap((trace) => trace.x)), { rangemode: "tozero" });
    Object.assign(layout.yaxis, axisOf(this.view.yscale, shown.flatMap((trace) => trace.y)));
    layout.xaxis.title.text = AGAINST[this.view.x];
    layout.yaxis.title = { ...layout.yaxis.title, text: this.words(this.view.y)[1] };
    if (this.view.y === "value" && this.best !== null) {
      layout.shapes = [{
        type: "line", xref: "paper", x0: 0, x1: 1, y0: this.best, y1: this.best,
        line: { color: colour("quiet"), width: 1, dash: "dot" }, label: { text: "F*", textposition: "end" },
      }];
    }
    Plotly.react(this.plot, traces, layout, plotSettings);
  }
}

document.querySelectorAll(".curves").forEach((place) => new Curves(place));
