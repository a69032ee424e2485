PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test lint bench figures clean

help:
	@echo "make demo       set up, then Robust-PU against its baselines on bundled data"
	@echo "make test       set up with the development tools, then every check and test"
	@echo "make lint       the checks alone: ruff, mypy, import layers"
	@echo "make bench      the speed of the engine against a plain training loop"
	@echo "make figures    the figures of the docs, from committed results"
	@echo "make clean      remove .venv and caches"

# A stamp a kind of set-up: a second make installs nothing.
$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP) --editable '.[plot,tables]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/robustpu demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Two processes, a thread each: more would wait for one another.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

bench: $(VENV)/.demo
	$(BIN)/python benchmarks/fleet.py

# Nothing is trained: all results are committed.
figures: $(VENV)/.demo
	$(BIN)/robustpu bench report --only main --only temperature --only epochs --format figures \
		--out experiments/figures
	$(BIN)/python experiments/losses.py --draw
	$(BIN)/python experiments/priors.py --draw
	$(BIN)/python experiments/representations.py --draw

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
