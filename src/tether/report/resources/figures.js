// Figures of plotly's, in the colours of the page.

document.querySelectorAll("figure.plotly").forEach((place) => {
  const { data: traces, layout } = data.figures[place.dataset.key];
  const plot = element("div", { class: "plot" });
  place.prepend(plot);
  const draw = () => {
    const common = commonLayout();
    const merged = { ...common, ...layout, font: common.font, template: undefined };
    ["xaxis", "yaxis"].forEach((axis) => { merged[axis] = { ...common[axis], ...layout?.[axis] }; });
    Plotly.react(plot, traces, merged, plotSettings);
  };
  redraws.push(draw);
  draw();
});
redrawAll();
