// Figures of plotly's own making, in the colours of the page.

document.querySelectorAll("figure.plotly").forEach((place) => {
  const { data: traces, layout = {} } = data.figures[place.dataset.key];
  const plot = element("div", { class: "plot" });
  place.prepend(plot);
  drawn(plot, () => {
    const common = commonLayout();
    const merged = { ...common, showlegend: traces.length > 1, ...layout, font: common.font };
    delete merged.template;
    ["xaxis", "yaxis"].forEach((axis) => {
      const title = { ...common[axis].title, ...(layout[axis]?.title ?? {}) };
      merged[axis] = { ...common[axis], ...(layout[axis] ?? {}), title };
    });
    Plotly.react(plot, traces, merged, plotSettings);
  });
});

setTheme(root.dataset.theme);
