# Each target sets up what it needs in .venv; nothing else has to be installed first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-slow fuzz bench profile gallery lint format clean

demo: $(VENV)/.demo
	$(BIN)/tether demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m "not slow"

# Real Flower deployments and simulations, pages in a real browser, more random problems: minutes, many of them waiting.
test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --maxschedchunk 1 -m slow

# More random problems than `make test` tries, on all cores, until one fails: N of them from seed SEED on.
N    ?= 1000
SEED ?= 0
fuzz: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(N) --seed $(SEED) $(FUZZ)

# Measures against other libraries in an environment of its own; BENCH="--problems small" for less.
bench: $(VENV)-bench/.done
	$(VENV)-bench/bin/python benchmarks/table.py $(BENCH)

# Performance profiles over the collection, into docs; PROFILE="--half open --methods tether" for less, printed only.
PROFILE ?= --docs docs
profile: $(VENV)-bench/.done
	$(VENV)-bench/bin/python benchmarks/profiles.py $(PROFILE)

# Draws the pictures of the examples again, into docs; EXAMPLES="plot_digits" for some.
gallery: $(VENV)/.dev
	MPLBACKEND=Agg $(BIN)/python examples/gallery.py $(EXAMPLES)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)-bench/.done: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	echo '*' > $(VENV)-bench/.gitignore
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	while read -r peer; do \
	  $(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" \
	    || echo "$$peer does not install here: left out"; \
	done < benchmarks/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
