"""Pages in a real browser: they load without errors and without a network, and answer to their reader."""

import json
import shutil

import numpy as np
import pytest

from tether.report import Curves, Figure, Section, Table, Text, write_report

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
WIDE, NARROW, NARROWEST = 1280, 390, 320
LOUD = ("SEVERE", "WARNING")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program, driver = next(filter(None, map(shutil.which, PROGRAMS)), None), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium here; as root: apt-get install -y chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory, solutions, mixed, federated, switching):
    folder = tmp_path_factory.mktemp("pages")
    bars = {"data": [{"type": "bar", "x": ["a", "b"], "y": [1, 3]}], "layout": {"title": {"text": "Bars"}}}
    words = Table(["claim", "verdict"], [["a long claim " * 20, "holds"]])
    section = Section(
        "More", [Text("Words."), words, Curves(solutions, show="value"), Figure(bars, "A figure.")]
    )
    long = {f"{name}, a run with a name that is long": sol for name, sol in solutions.items()}
    return {
        "several": write_report(folder / "several.html", long, best=mixed.fun - 1.0, sections=[section]),
        "mixed": mixed.report(folder / "mixed.html"),
        "federated": federated.report(folder / "federated.html"),
        "switching": switching.report(folder / "switching.html"),
    }


class Reader:
    """Somebody who looks at a page."""

    def __init__(self, browser):
        self.browser = browser

    def opens(self, page, *, width=WIDE, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < WIDE}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            self.browser.get_log(log)  # forget what other pages said
        self.browser.get(page.as_uri())

    def sees(self, script):
        return self.browser.execute_script(f"return {script}")

    def presses(self, words, inside):
        buttons = self.browser.find_elements("css selector", f"{inside} button")
        (button,) = (one for one in buttons if one.text == words)
        button.click()

    def plot(self, inside=".curves"):
        """What a plot draws once one comes near it: its visible lines, and its axes."""
        from selenium.webdriver.support.ui import WebDriverWait

        place = self.browser.find_element("css selector", f"{inside} .plot")
        self.browser.execute_script("arguments[0].scrollIntoView()", place)
        waiting = WebDriverWait(self.browser, 60)
        waiting.until(lambda browser: browser.execute_script("return Boolean(arguments[0].data)", place))
        script = """(() => {
            const plot = document.querySelector(arguments[0] + " .plot");
            const lines = plot.data.filter((trace) => trace.visible !== false && trace.mode !== "markers");
            return {
                lines: lines.map(({ name, x, y }) => ({ name, x: Array.from(x), y: Array.from(y) })),
                turns: plot.data.filter((trace) => trace.mode === "markers").map(({ text }) => text),
                types: [plot.layout.xaxis.type, plot.layout.yaxis.type],
                titles: [plot.layout.xaxis.title.text ?? "", plot.layout.yaxis.title.text ?? ""],
                drawn: plot.querySelectorAll(".scatterlayer .trace").length,
                colour: plot.layout.font.color,
            };
        })()"""
        return self.browser.execute_script(f"return {script}", inside)


@pytest.fixture
def reader(browser):
    return Reader(browser)


NAMES = ("several", "mixed", "federated", "switching")
LAST = "section:not(:has(figure)) .curves"  # that of the page itself, not of a section before it


@pytest.mark.parametrize("name", NAMES)
def test_a_page_loads_without_a_word_in_the_console(reader, pages, name):
    reader.opens(pages[name])
    for inside in {"federated": (".curves", ".workers"), "several": (LAST, "figure")}.get(name, (".curves",)):
        assert reader.plot(inside)["titles"]
    assert [entry for entry in reader.browser.get_log("browser") if entry["level"] in LOUD] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_asks_the_network_for_nothing(reader, pages, name):
    reader.opens(pages[name])
    reader.presses("Dark", ".bar")
    events = [json.loads(entry["message"])["message"] for entry in reader.browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked[0] == pages[name].as_uri()
    assert all(url.startswith(("data:", "blob:")) for url in asked[1:]), asked
    assert reader.sees("performance.getEntriesByType('resource').map((entry) => entry.name)") == []


def test_another_horizontal_axis_draws_other_numbers(reader, pages, solutions):
    reader.opens(pages["several"])
    for column in ("rounds", "passes", "seconds", "projections"):
        reader.presses(column, LAST)
        drawn = reader.plot(LAST)
        assert drawn["drawn"] == len(solutions) and column in drawn["titles"][0]
        for line, sol in zip(drawn["lines"], solutions.values(), strict=True):
            known = np.isfinite(sol.history["gap"])
            np.testing.assert_allclose(line["x"], sol.history[column][known])


def test_another_vertical_axis_draws_other_numbers(reader, pages, solutions, mixed):
    reader.opens(pages["several"])
    best = mixed.fun - 1.0
    columns = {"gap": "gap", "loss": "value", "slope": "slope", "residual": "residual", "F − F*": "value"}
    for words, column in columns.items():
        reader.presses(words, LAST)
        for line, sol in zip(reader.plot(LAST)["lines"], solutions.values(), strict=True):
            expected = sol.history[column][np.isfinite(sol.history[column])]
            expected = expected - best if words == "F − F*" else np.maximum(expected, 1e-17)
            np.testing.assert_allclose(line["y"], expected)


def test_scales_are_logarithmic_or_linear_as_asked(reader, pages):
    reader.opens(pages["mixed"])
    assert reader.plot(".curves")["types"] == ["linear", "log"]
    reader.presses("linear", ".curves .choice[aria-label='vertical scale']")
    reader.presses("log", ".curves .choice[aria-label='horizontal scale']")
    assert reader.plot(".curves")["types"] == ["log", "linear"]


def test_a_run_that_is_toggled_leaves_the_plot_and_comes_back(reader, pages):
    reader.opens(pages["several"])
    names = [line["name"] for line in reader.plot(LAST)["lines"]]
    reader.presses(names[1], LAST)
    assert [line["name"] for line in reader.plot(LAST)["lines"]] == [names[0], *names[2:]]
    reader.presses(names[1], LAST)
    assert [line["name"] for line in reader.plot(LAST)["lines"]] == names


def test_a_section_has_its_own_curves_and_figures(reader, pages, solutions):
    reader.opens(pages["several"])
    inside = "section:has(figure) .curves"
    assert reader.plot(inside)["titles"][1] == "F(x)" and len(reader.plot(inside)["lines"]) == len(solutions)
    assert reader.plot("figure")["lines"][0]["y"] == [1, 3]
    assert reader.sees("document.querySelectorAll('figure.plotly .barlayer .point').length") == 2


def test_the_places_where_auto_changed_its_mind_are_marked(reader, pages, switching):
    reader.opens(pages["switching"])
    (turns,) = reader.plot(".curves")["turns"]
    assert len(turns) == len(switching.decisions) - 1
    for text, decision in zip(turns, switching.decisions[1:], strict=True):
        assert decision.words in text and decision.reason in text


def test_each_worker_has_a_line_and_what_it_shows_can_be_chosen(reader, pages, federated):
    reader.opens(pages["federated"])
    losses = reader.plot(".workers")
    assert [line["name"] for line in losses["lines"]] == ["worker 0", "worker 1", "worker 2"]
    reader.presses("bytes", ".workers")
    sent = reader.plot(".workers")
    total = np.nansum(federated.history.workers["sent"], axis=0)
    np.testing.assert_allclose([line["y"][-1] for line in sent["lines"]], total, rtol=1e-5)
    reader.presses("seconds", ".workers .choice[aria-label='horizontal axis']")
    assert reader.plot(".workers")["lines"][0]["x"] != sent["lines"][0]["x"]


def test_links_at_the_top_lead_to_every_section(reader, pages):
    reader.opens(pages["several"])
    titles = reader.sees("[...document.querySelectorAll('section h2')].map((one) => one.textContent)")
    links = reader.sees("[...document.querySelectorAll('nav a')].map((one) => one.textContent)")
    assert links == titles and links[0] == "More" and "Convergence" in links
    reader.browser.find_element("link text", "History").click()
    assert reader.sees("document.querySelector(location.hash + ' h2').textContent") == "History"


def test_what_nobody_came_near_is_drawn_for_the_printer(reader, pages):
    reader.opens(pages["several"], width=NARROW)
    drawn = f'document.querySelector("{LAST} .plot").data'
    assert reader.sees(drawn) is None
    reader.browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert len(reader.sees(drawn)) == 4


def luminance(reader):
    colours = reader.sees("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colours[4:-1].split(","))


def test_a_page_is_dark_where_the_system_is_and_plots_follow(reader, pages):
    reader.opens(pages["mixed"])
    light, words = luminance(reader), reader.plot(".curves")["colour"]
    reader.opens(pages["mixed"], dark=True)
    assert luminance(reader) < 150 < 600 < light and reader.plot(".curves")["colour"] != words


def test_the_button_switches_between_light_and_dark(reader, pages):
    reader.opens(pages["mixed"])
    reader.presses("Dark", ".bar")
    assert luminance(reader) < 150
    reader.presses("Light", ".bar")
    assert luminance(reader) > 600


@pytest.mark.parametrize("width", [NARROW, NARROWEST])
@pytest.mark.parametrize("name", NAMES)
def test_a_phone_needs_no_scrolling_to_the_side(reader, pages, name, width):
    reader.opens(pages[name], width=width)
    for details in reader.browser.find_elements("tag name", "summary"):
        reader.browser.execute_script("arguments[0].parentElement.open = true", details)
    assert reader.sees("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll("main *")].filter((one) => !one.closest(".frame, .plot, .aside")
        && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"""
    assert reader.sees(wide) == []


def test_the_raw_history_is_copied_with_all_digits(reader, pages, solutions):
    reader.opens(pages["several"])
    reader.presses(next(iter(solutions)) + ", a run with a name that is long", ".history")
    reader.presses("Copy table", ".history")
    pasted = paste(reader)
    head, *lines = [line.split("\t") for line in pasted.splitlines()]
    sol = solutions["auto"]
    assert len(lines) == len(sol.history) and head[0] == "request"
    values = [float(line[head.index("value")]) for line in lines]
    np.testing.assert_array_equal(values, sol.history["value"])


def paste(reader):
    """Return what the clipboard holds, by pasting it."""
    from selenium.webdriver import ActionChains, Keys

    made = "document.body.appendChild(document.createElement('textarea'))"
    area = reader.browser.execute_script(f"const area = {made}; area.focus(); return area")
    ActionChains(reader.browser).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
    return reader.browser.execute_script("return arguments[0].value", area)


def test_a_long_history_is_shown_in_part_until_asked_for(reader, tmp_path, switching):
    import dataclasses

    from tether.run.history import History, rows_of

    table = np.repeat(switching.history.table, 20, axis=0)
    long = dataclasses.replace(switching, history=History(rows_of(table, None)))
    reader.opens(long.report(tmp_path / "long.html"))
    assert reader.sees("document.querySelectorAll('.history tbody tr').length") == 200
    reader.presses(f"Show all {len(table):,} rows", ".history")
    assert reader.sees("document.querySelectorAll('.history tbody tr').length") == len(table)
