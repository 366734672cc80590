// The raw history as a table, to read and to copy.

const AT_ONCE = 200; // rows that are shown before a reader asks for more

class RawHistory {
  constructor(place) {
    this.runs = data.figures[place.dataset.key].runs.map(({ name, run }) => ({ name, ...data.runs[run] }));
    this.frame = element("div", { class: "frame tall", tabindex: "0" });
    this.more = element("button", { type: "button", class: "more" });
    this.more.addEventListener("click", () => this.show(this.run, Infinity));
    const copy = element("button", { type: "button", class: "copy" }, "Copy table");
    copy.addEventListener("click", async () => {
      copy.textContent = (await copied(this.text())) ? "Copied" : "Could not copy";
      setTimeout(() => { copy.textContent = "Copy table"; }, 2000);
    });
    const bar = element("div", { class: "controls" });
    if (this.runs.length > 1) {
      const options = this.runs.map((run, k) => [String(k), run.name]);
      bar.append(choice("run", options, "0", (k) => this.show(this.runs[Number(k)])));
    }
    bar.append(copy);
    place.append(bar, this.frame, this.more);
    this.show(this.runs[0]);
  }

  /** The columns that say something: those without any number are left out. */
  columns() {
    return Object.entries(this.run.columns).filter(([, column]) => column.some((value) => value));
  }

  show(run, most = AT_ONCE) {
    this.run = run;
    const columns = this.columns();
    const count = run.requests.length;
    const head = element("tr", {}, element("th", { class: "number" }, "request"),
      ...columns.map(([name]) => element("th", { class: "number" }, name.replaceAll("_", " "))));
    const rows = run.requests.slice(0, most).map((request, k) => element("tr", {},
      element("td", { class: "number" }, String(request + 1)),
      ...columns.map(([, column]) => element("td", { class: "number" }, rounded(column[k], 6)))));
    this.frame.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    this.more.hidden = count <= most;
    this.more.textContent = `Show all ${count.toLocaleString("en")} rows`;
    if (run.rows > count) {
      this.frame.prepend(element("p", { class: "quiet" }, `${count} of ${run.rows} rows, spread evenly.`));
    }
  }

  /** All rows with all digits, for a spreadsheet. */
  text() {
    const columns = this.columns();
    const lines = this.run.requests.map((request, k) => [request + 1, ...columns.map(([, column]) => column[k] ?? "")]);
    return [["request", ...columns.map(([name]) => name)], ...lines].map((line) => line.join("\t")).join("\n");
  }
}

/** Copy a text; pages from a disk may not use the clipboard's own interface. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { readonly: "", class: "aside" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

document.querySelectorAll(".history").forEach((place) => new RawHistory(place));
