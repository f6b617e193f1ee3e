# Every target works on a fresh clone: it makes .venv first, with the standard venv module.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
LIGHT := $(VENV)/.light
REAL := $(VENV)/.real
COMPAT := .venv-compat
DOCS := .venv-docs
BENCH := .venv-bench
MUTATION := .venv-mutation
DIST := .venv-dist
AIMOCK := @copilotkit/aimock@1.43.0
OLDER_SDK := anthropic-0.125
# The tests wait for processes, sockets and databases, so one worker more than there are processors
# keeps them busy.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# The slow tier waits more: for processes, a browser, a database.
SLOW_WORKERS := $(shell expr $(WORKERS) + 1)
RUNS := test-nightly test-timed fuzz corpus mutants mutant-table policies field seeds-audit
# Only these are collected for `make check`: the 30,000 others would take most of its time.
SOURCE_TESTS = $(shell grep -rl --include='*.py' 'mark\.source' tests)
FIELD_CHEAP := pydantic_ai openai_agents langchain google_adk agent_framework ai_sdk gemini-cli
MINIMUM := import sys; sys.exit(sys.version_info < (3, 11))

# The tests start hundreds of Pythons; without compiled modules each would compile all of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-older test-real test-nightly test-timed check bench fuzz fuzz-readers fuzz-writers fuzz-long corpus nightly mutants mutation mutant-table hardening policies shares seeds seeds-audit wire-table field compat docs dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# $(1) is what the package is installed with: the demo needs the least, the slow tier all.
# Most modules of the SDKs are never imported; Python compiles those that are, at their first import.
define install
	@$(PYTHON) -c '$(MINIMUM)' || { \
	  echo "loop-harness needs Python 3.11 or later, and '$(PYTHON)' is not:" \
	    "name another one, as in: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV) || { \
	  echo "The venv module does not work here; on Debian and Ubuntu:" \
	    "apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }
	$(RUN) -m pip install --quiet --no-compile --editable '.[$(1)]' --constraint constraints.txt
	@touch $@
endef

$(LIGHT): pyproject.toml constraints.txt
	$(call install,demo)

$(READY): pyproject.toml constraints.txt
	$(call install,dev)

$(REAL): $(READY)
	$(call install,real)

setup: $(READY) ## make .venv for the targets below; slow targets install what else they need

demo: $(if $(wildcard $(READY)),$(READY),$(LIGHT)) ## three incidents, each stopped by a finding; how many wrong agents are caught
	$(RUN) -m examples.demo

test: $(READY) ## the fast tests, which need only Python; ARGS="tests/checks -k NAME"
	$(RUN) -m pytest -n $(WORKERS) -m "not real and not source" $(ARGS)

test-older: $(READY) ## the tests of the clients with an older SDK
	$(RUN) -m tests.compat $(OLDER_SDK) --plays client

test-real: $(REAL) $(if $(OLDER_SDK),test-older) ## the slow tests: processes, Node, databases, frameworks, an older SDK
	-$(RUN) -m tests.field --install $(FIELD_CHEAP)
	$(RUN) -m pytest -n $(SLOW_WORKERS) -m "real and not nightly" $(ARGS)

check: $(READY) ## format, lint, types, architecture, language
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pytest -q -n auto -m source $(SOURCE_TESTS)

$(BENCH)/.ready: bench/requirements.txt pyproject.toml constraints.txt
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --editable '.[dev]' --requirement bench/requirements.txt \
	  --constraint constraints.txt
	npm install --silent --no-fund --prefix $(BENCH)/node $(AIMOCK) || echo "aimock is not measured"
	@touch $@

bench: $(BENCH)/.ready ## measure the cost of a model call beside the peers, and growth: docs/bench.md; ARGS="--rounds N"
	$(BENCH)/bin/python -m bench --write $(ARGS)

fuzz: $(READY) ## the property tests with many more examples
	HYPOTHESIS_PROFILE=fuzz $(RUN) -m pytest -n auto -m "hypothesis and (long or not real)" --timeout 3600 $(ARGS)

fuzz-readers: $(READY) ## a million mutated files for the readers; ARGS="--count N --seed N --minutes N"
	$(RUN) -m tests.fuzz.readers $(ARGS)

fuzz-writers: $(READY) ## hostile texts and values into every writer; ARGS="--count N --seed N --minutes N"
	$(RUN) -m tests.fuzz.writers $(ARGS)

fuzz-long: $(READY) ## a million steps of the session machine on the reference agent; ARGS="--steps N --seed N"
	$(RUN) -m tests.fuzz.machine_soak $(ARGS)

corpus: $(READY) ## check recorded calls of real providers by our rules; exit 3 without recordings
	$(RUN) -m tests.corpus $(ARGS)

test-nightly: $(REAL) ## the tests that take hours: whole catalogues, sweeps of the corpus
	$(RUN) -m pytest -n auto -m "nightly and not timed" $(ARGS)

test-timed: $(REAL) ## the tests that compare measured time, one after another; they need a quiet machine
	$(RUN) -m pytest -m timed --timeout 1200 $(ARGS)

# A run that fails does not hold back the others: the night ends with the names of all that failed.
nightly: $(REAL) ## all long runs: tests, properties, recordings, agents, campaigns, audit; RUNS="corpus fuzz"
	@failed=""; for run in $(RUNS); do \
	  echo "== make $$run"; $(MAKE) --no-print-directory $$run || failed="$$failed $$run"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

hardening: $(REAL) ## attack each server; kill each command at each write and each phase; ARGS="-k fuzz"
	$(RUN) -m tests.hardening.attack
	HARNESS_EVERY_WRITE=1 $(RUN) -m pytest -m real -n auto tests/hardening/test_write_points.py \
	  tests/hardening/test_signals.py tests/hardening/test_bad_endings.py $(ARGS)

mutant-table: $(READY) ## measure how soon `harness fuzz` finds each wrong agent; ARGS="NAME ..."
	$(RUN) -m tests.fuzz.mutant_table --workers 2 $(ARGS)

policies: $(READY) ## play 300 agents of drawn policies, each on a tenth of the catalogue; ARGS="--agents N"
	$(RUN) -m tests.policies $(ARGS)

shares: $(READY) ## measure what redaction misses and takes, by form; ARGS="KEYS SEED"
	$(RUN) -m tests.redaction.shares $(ARGS)

seeds: $(READY) ## list the 178 statements of the seeds: number, kind, test, result
	$(RUN) -m tests.seeds $(ARGS)

seeds-audit: $(READY) ## break the product once for each statement of the seeds; its tests must fail; ARGS="NUMBER ..."
	$(RUN) -m tests.seeds.audit $(ARGS)

wire-table: $(READY) ## measure what the SDKs do with faulty answers: docs/wire-table.md
	$(RUN) -m tests.compat --install $(OLDER_SDK) anthropic-1
	$(RUN) -m tests.wire_table --out docs/wire-table.md $(ARGS)

field: $(READY) ## install agents that people run, and play them; ARGS="NAME ... --kept"
	$(RUN) -m tests.field $(ARGS)

compat: $(READY) ## test versions of Python, the SDKs and pytest: docs/compatibility.md; ARGS="NAME ..."
	$(RUN) -m tests.compat --write $(ARGS)

mutants: $(READY) ## play every wrong agent against its scenario, and print the matrix; ARGS="NAME ..."
	$(RUN) -m tests.mutants $(ARGS)

$(MUTATION)/.ready: tests/mutation/requirements.txt pyproject.toml constraints.txt
	@test -x $(MUTATION)/bin/python || $(PYTHON) -m venv $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --editable '.[dev]' \
	  --requirement tests/mutation/requirements.txt --constraint constraints.txt
	@touch $@

mutation: $(MUTATION)/.ready ## change the code in a sample of places; a fast test must notice each; ARGS="--count N --seed N"
	$(MUTATION)/bin/python -m pytest -q -n 2 tests/mutation
	$(MUTATION)/bin/python -m tests.mutation $(ARGS)

$(DOCS)/.ready: docs/requirements.txt
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --requirement docs/requirements.txt
	@touch $@

docs: $(READY) $(DOCS)/.ready ## build the documentation as a site: build/site/index.html
	$(DOCS)/bin/python -m sphinx -q -E -W --keep-going -b html -c docs . build/site
	$(RUN) -m pytest -q -n 0 tests/test_site.py
	@echo "build/site/index.html"

dist: ## build the wheel and the sdist in dist/, and check them
	@test -x $(DIST)/bin/python || $(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet build twine
	rm -rf build dist
	$(DIST)/bin/python -m build
	$(DIST)/bin/python -m twine check --strict dist/*

clean: ## remove everything that these targets made, .venv too
	rm -rf $(VENV) $(COMPAT) $(DOCS) $(BENCH) $(MUTATION) $(DIST) .field build dist *.egg-info .harness .hypothesis .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
