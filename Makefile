# Every target works on a fresh clone: it makes .venv first, with the standard venv module.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
LIGHT := $(VENV)/.light
REAL := $(VENV)/.real
OLDER := .venv-older
DOCS := .venv-docs
BENCH := .venv-bench
AIMOCK := @copilotkit/aimock@1.43.0
OLDER_SDK := 0.125.*
FIELD_CHEAP := pydantic_ai openai_agents gemini-cli
MINIMUM := import sys; sys.exit(sys.version_info < (3, 11))

# The tests start hundreds of Pythons; without compiled modules each would compile all of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-real test-nightly test-older-sdk test-older-openai check bench fuzz fuzz-readers fuzz-long corpus nightly mutants mutant-table hardening policies seeds seeds-audit wire-table field docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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
	$(call install,openai)

$(READY): pyproject.toml constraints.txt
	$(call install,dev)

$(REAL): $(READY)
	$(call install,real)

setup: $(READY) ## make .venv with what the other targets need; the slow tests install their own parts

demo: $(if $(wildcard $(READY)),$(READY),$(LIGHT)) ## the main job in half a minute: what passes, and three incidents that are stopped
	$(RUN) -m examples.demo

test: $(READY) ## the tests that need only Python
	$(RUN) -m pytest -n auto -m "not real"

test-real: $(REAL) test-older-sdk ## the slow tests, with real parts: processes, Node, databases, two frameworks, one program
	-$(RUN) -m tests.field --install $(FIELD_CHEAP)
	$(RUN) -m pytest -n auto -m "real and not nightly"

$(OLDER)/.ready: $(READY)
	@test -x $(OLDER)/bin/python || $(PYTHON) -m venv $(OLDER)
	grep -v '^anthropic==' constraints.txt > $(OLDER)/constraints.txt
	$(OLDER)/bin/python -m pip install --quiet --editable '.[dev]' 'anthropic==$(OLDER_SDK)' \
	  --constraint $(OLDER)/constraints.txt
	@touch $@

test-older-sdk: $(OLDER)/.ready ## the tests that touch the SDK, on the generation before httpx2
	$(OLDER)/bin/python -m pytest -n auto -m "not real" -p no:cacheprovider tests/agent \
	  tests/clock tests/transports tests/providers/anthropic tests/scenarios/test_reference.py \
	  tests/wire_table tests/faults/sse tests/faults/model

test-older-openai: $(READY) ## the reference agent on openai 1 and 2, whose clients are of httpx
	@for n in 1 2; do test -x .venv-openai-$$n/bin/python || $(PYTHON) -m venv .venv-openai-$$n; \
	  .venv-openai-$$n/bin/python -m pip install --quiet --editable . "openai==$$n.*" || exit 1; \
	  .venv-openai-$$n/bin/python -m harness run scenarios/poisoned scenarios/delivery \
	    --wire openai-chat --wire openai-responses --target reference \
	    --out .harness/openai-$$n || exit 1; done

check: $(READY) ## format, lint, types, architecture
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pytest -q tests/test_architecture.py

$(BENCH)/.ready: bench/requirements.txt pyproject.toml constraints.txt
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --editable '.[dev]' --requirement bench/requirements.txt \
	  --constraint constraints.txt
	npm install --silent --no-fund --prefix $(BENCH)/node $(AIMOCK) || echo "aimock is not measured"
	@touch $@

bench: $(BENCH)/.ready ## what a call costs beside the peers, and how time grows: docs/bench.md
	$(BENCH)/bin/python -m bench --write

fuzz: $(READY) ## the property tests, with many more examples
	HYPOTHESIS_PROFILE=fuzz $(RUN) -m pytest -n auto -m "hypothesis and not real" --timeout 3600

fuzz-readers: $(READY) ## a million mutated files for every reader; ARGS="--count N --seed N --minutes N"
	$(RUN) -m tests.fuzz.readers $(ARGS)

fuzz-long: $(READY) ## a million steps of the session machine on the reference agent
	$(RUN) -m tests.fuzz.machine_soak --steps 1000000 --seed 1

corpus: $(READY) ## recorded calls of real providers, put to our rules; skips without the recordings
	$(RUN) -m tests.corpus

test-nightly: $(REAL) ## whole catalogues of other agents, and sweeps of the corpus
	$(RUN) -m pytest -n auto -m nightly

nightly: test-nightly fuzz corpus mutants mutant-table policies field seeds-audit ## the long runs: properties, recordings, wrong agents, campaigns, policies, agents that people run, the seeds' audit

hardening: $(REAL) ## the whole attack on each server; each write and each phase of each command
	$(RUN) -m tests.hardening.attack
	HARNESS_EVERY_WRITE=1 $(RUN) -m pytest -m real -n auto tests/hardening/test_write_points.py \
	  tests/hardening/test_signals.py tests/hardening/test_bad_endings.py

mutant-table: $(READY) ## what `harness fuzz` needs to find each wrong agent
	$(RUN) -m tests.fuzz.mutant_table --workers 2

policies: $(READY) ## 300 agents of drawn policies, each on a tenth of the catalogue
	$(RUN) -m tests.policies

seeds: $(READY) ## the 162 statements of the seeds: number, kind, test, result
	$(RUN) -m tests.seeds

seeds-audit: $(READY) ## a change of the product for each statement of the seeds, which its own tests see
	$(RUN) -m tests.seeds.audit

wire-table: $(OLDER)/.ready ## what the SDKs make of faulty answers, measured anew
	$(RUN) -m tests.wire_table --out docs/wire-table.md

field: $(READY) ## agents that people run, each in an environment of its own, play the catalogue; ARGS="NAME ... --kept"
	$(RUN) -m tests.field $(ARGS)

mutants: $(READY) ## every wrong agent against its scenario: the matrix
	$(RUN) -m tests.mutants

$(DOCS)/.ready: docs/requirements.txt
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --requirement docs/requirements.txt
	@touch $@

docs: $(READY) $(DOCS)/.ready ## the documentation as a site: build/site/index.html
	$(DOCS)/bin/python -m sphinx -q -E -W --keep-going -b html -c docs . build/site
	$(RUN) -m pytest -q -n 0 tests/test_site.py
	@echo "build/site/index.html"

clean: ## remove everything that these targets made, .venv too
	rm -rf $(VENV) $(OLDER) $(DOCS) $(BENCH) .field build dist *.egg-info .harness .hypothesis .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
