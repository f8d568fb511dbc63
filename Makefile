# Every target creates .venv from constraints.txt when it is missing or stale; python3 and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OUT ?= results
PROFILE ?= quick
JOBS ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count())")

# Many processes import the package: each would compile its sources anew, which takes longer than the rest of the import.
unexport PYTHONDONTWRITEBYTECODE

# Numba does not compile a kernel again when one that it calls has changed: the folder follows from all kernels.
ifndef NUMBA_CACHE_DIR
export NUMBA_CACHE_DIR := $(shell $(PYTHON) src/reident/kernels/_cache.py)
endif

.PHONY: help reproduce test test-all fuzz faults lint lab bench docs clean
help:
	@echo "make reproduce   run every study's $(PROFILE) profile, end with the figures and the index page"
	@echo "make test        run all tests but those marked slow"
	@echo "make test-all    run the whole test suite, then the fast tests of kernels and methods without JIT, as CI does"
	@echo "make fuzz        compare every kernel with its naive twin on INPUTS=100000 inputs, with and without JIT (an hour)"
	@echo "make faults      give garbage to every argument, kill each kind of work 50 times, fill disks, damage files (two hours)"
	@echo "make lint        formatting, lint rules and types, as CI checks them"
	@echo "make lab         open JupyterLab on the notebooks"
	@echo "make bench       time everything against its rivals, end with one table"
	@echo "make docs        build the site, offline: tour and case studies executed, studies where $(OUT) holds them"
	@echo "make clean       remove the environment, results and caches"

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,bench]"
	touch $(STAMP)
	@echo "installed: $(BIN)/reident --help tells what it can do; '. $(BIN)/activate' makes it plain 'reident'"

reproduce: $(STAMP)
	$(BIN)/reident reproduce --profile $(PROFILE) --jobs $(JOBS) --out $(OUT)
	@echo "more: $(BIN)/reident open FILE, $(BIN)/reident methods, make lab; '. $(BIN)/activate' makes it plain 'reident'"

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

test-all: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow and not notebook and not whole" $(addprefix tests/,kernels cliques places location tables networks queries methods)

INPUTS ?= 100000
fuzz: $(STAMP)
	REIDENT_INPUTS=$(INPUTS) $(BIN)/python -m pytest -n $(JOBS) tests/kernels/test_fuzz.py
	REIDENT_INPUTS=$(INPUTS) NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(JOBS) tests/kernels/test_fuzz.py

faults: $(STAMP)
	REIDENT_KILLS=50 REIDENT_GARBAGE=1 $(BIN)/python -m pytest tests/package -k "garbage or fault or kill or interrupt or full_disk or damaged or second_process or scratch or fit"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lab: $(STAMP)
	$(BIN)/jupyter lab --ip=127.0.0.1 notebooks/00-tour.ipynb

bench: $(STAMP)
	$(BIN)/python -m benchmarks --out $(OUT)/benchmarks

# What is no study: a tour, two results of our own, a file of one's own, three case studies.
TOLD := 00-tour 07-distances-are-a-map 08-other-distances 11-assess-your-release 20-health-registry 21-survey 22-friendship-network

docs: $(STAMP)
	$(BIN)/reident reproduce $(TOLD) --jobs $(JOBS) --out $(OUT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	$(BIN)/python docs/generate.py docs/_generated --results $(OUT)
	$(BIN)/python -m sphinx -q -b html docs site
	@echo "site: site/index.html"

clean:
	rm -rf $(VENV) $(OUT) docs/_generated site .pytest_cache .mypy_cache .ruff_cache .hypothesis
