PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Continuous integration also tests the newest releases: make test CONSTRAINTS=/dev/null
CONSTRAINTS ?= constraints.txt
INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(BIN)/python $(INSTALL) --constraint $(CONSTRAINTS)

# Environments that one target needs, and nobody else.
DIST_VENV := build/venv-dist
LOWEST_VENV := build/venv-lowest
# The torch of `make test-lowest`: by default the lowest that pyproject.toml claims. On Linux it
# fetches gigabytes unless pip knows an index with wheels for processors, which has not all
# releases; take another one there: make test-lowest TORCH=2.13.0
TORCH ?=
# What touches numpy, scipy, pandas, pyarrow and scikit-learn, without the long simulations.
QUICK := src tests/base tests/charts tests/cli tests/metrics tests/persist tests/tables \
	tests/validation tests/test_sklearn_checks.py tests/test_split.py

.PHONY: help demo test test-lowest lint docs dist bench figures clean

help:
	@echo "make demo       set up, then Robust-PU against its baselines on bundled data"
	@echo "make test       set up with the development tools, then every check and test"
	@echo "make lint       the checks alone: ruff, mypy, import layers"
	@echo "make test-lowest  the quick tests with the lowest versions that are supported"
	@echo "make docs       the site in build/site; a broken link is an error"
	@echo "make dist       build wheel and sdist, check them, run the demo from the wheel"
	@echo "make bench      the speed of the engine against a plain training loop"
	@echo "make figures    the figures of the docs, from committed results"
	@echo "make clean      remove .venv and caches"

# A stamp a kind of set-up: a second make installs nothing.
$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml $(CONSTRAINTS) | $(VENV)/pyvenv.cfg
	$(PIP) --editable '.[plot,tables]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(CONSTRAINTS) | $(VENV)/pyvenv.cfg
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

$(LOWEST_VENV)/.lowest: pyproject.toml tools/lowest.py
	rm -rf $(LOWEST_VENV)
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(PYTHON) tools/lowest.py test $(if $(TORCH),--torch $(TORCH)) > $(LOWEST_VENV)/lowest.txt
	$(LOWEST_VENV)/bin/python $(INSTALL) --requirement $(LOWEST_VENV)/lowest.txt
	$(LOWEST_VENV)/bin/python $(INSTALL) --no-deps --editable .
	@touch $@

test-lowest: $(LOWEST_VENV)/.lowest
	OMP_NUM_THREADS=1 $(LOWEST_VENV)/bin/python -m pytest -n 2 --dist worksteal $(QUICK)

$(VENV)/.docs: pyproject.toml $(CONSTRAINTS) | $(VENV)/pyvenv.cfg
	$(PIP) --editable '.[docs]'
	@touch $@

# All pages anew: what was generated from a docstring that is gone would stay otherwise.
docs: $(VENV)/.docs
	rm -rf build/site build/doctrees docs/gallery docs/reference/generated
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -j auto \
		-c docs -d build/doctrees . build/site
	@echo "build/site/index.html"

# The tests take the wheel out of dist/ into an empty environment, away from this checkout.
dist: $(VENV)/.dev
	rm -rf dist $(DIST_VENV)
	$(PYTHON) -m venv $(DIST_VENV)
	$(DIST_VENV)/bin/python $(INSTALL) build twine
	$(DIST_VENV)/bin/python -m build --outdir dist .
	$(DIST_VENV)/bin/python -m twine check --strict dist/*
	@du -h dist/*
	rm -rf $(DIST_VENV)
	$(BIN)/python -m pytest -m dist tests/test_dist.py

bench: $(VENV)/.demo
	$(BIN)/python benchmarks/fleet.py

# Nothing is trained: all results are committed. Marked tables of the docs are written anew.
figures: $(VENV)/.demo
	$(BIN)/robustpu bench report --only main --only temperature --only epochs --format figures \
		--out experiments/figures
	$(BIN)/python -m tools.figures --write
	$(BIN)/python experiments/losses.py --draw
	$(BIN)/python experiments/priors.py --draw
	$(BIN)/python experiments/representations.py --draw
	$(BIN)/python experiments/self_correction.py --draw
	$(BIN)/python experiments/wrong_priors.py --draw

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache \
		docs/gallery docs/reference/generated
