// The workers of a federation, a line each.

const REPORTS = {
  value: ["loss", "each worker's loss", "log"], slope: ["gradient", "norm of each worker's gradient", "log"],
  seconds: ["time", "seconds of work so far", "linear"], sent: ["bytes", "bytes sent so far", "linear"],
};

class Workers {
  constructor(place) {
    this.metrics = data.figures[place.dataset.key].metrics;
    const offered = Object.keys(REPORTS).filter((name) => this.metrics[name]);
    this.view = { y: offered[0], x: "rounds", scale: REPORTS[offered[0]][2] };
    this.plot = element("div", { class: "plot" });
    const controls = element("div", { class: "controls" });
    const build = () => controls.replaceChildren(
      choice("vertical axis", offered.map((name) => [name, REPORTS[name][0]]), this.view.y, (y) => {
        Object.assign(this.view, { y, scale: REPORTS[y][2] });
        build();
        this.draw();
      }),
      choice("vertical scale", [["log", "log"], ["linear", "linear"]], this.view.scale, (scale) => this.set({ scale })),
      choice("horizontal axis", Object.keys(AGAINST).map((name) => [name, name]), this.view.x, (x) => this.set({ x })));
    build();
    place.append(controls, this.plot);
    drawn(this.plot, () => this.draw());
  }

  set(change) {
    Object.assign(this.view, change);
    this.draw();
  }

  draw() {
    const { x, lines } = this.metrics[this.view.y];
    const layout = commonLayout();
    Object.assign(layout.xaxis, { rangemode: "tozero" });
    Object.assign(layout.yaxis, axisOf(this.view.scale, lines.flat()));
    layout.xaxis.title.text = AGAINST[this.view.x];
    layout.yaxis.title = { ...layout.yaxis.title, text: REPORTS[this.view.y][1] };
    const traces = lines.map((line, k) => ({
      x: x[this.view.x], y: line, name: `worker ${k}`, mode: "lines", connectgaps: true,
      opacity: lines.length > 8 ? 0.65 : 1, line: { width: 1.5, color: colour(seriesColour(k)) },
      hovertemplate: `worker ${k}<br>%{x:,.4~g} ${this.view.x}<br>%{y:.4~g}<extra></extra>`,
    }));
    Plotly.react(this.plot, traces, layout, plotSettings);
  }
}

document.querySelectorAll(".workers").forEach((place) => new Workers(place));
