# Everything starts from a fresh clone: each target installs what it needs into .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO_READY := $(VENV)/.demo-installed
DEV_READY := $(VENV)/.dev-installed
FOUND := $(shell command -v $(PYTHON))

.DEFAULT_GOAL := help
.PHONY: help demo test test-sqlite test-postgres lint soak fuzz bench measure clean

help:  ## Say what can be made
	@sed -n 's/^\([a-z-]*\):.*##/make \1\t/p' Makefile

demo: $(DEMO_READY)  ## Run the demo site and its workers; Ctrl-C stops everything
	@$(BIN)/python manage.py demo

test: test-postgres test-sqlite  ## Run the tests, on PostgreSQL (if there is one) and on SQLite

test-postgres: $(DEV_READY)
	@echo "Tests that run on PostgreSQL too:"
	@FAIRIMPORT_TEST_DB=postgres $(BIN)/python -m pytest -q --cov --cov-report= $(ARGS) || [ $$? -eq 5 ]

test-sqlite: $(DEV_READY)
	@echo "All tests, on SQLite:"
	@FAIRIMPORT_TEST_DB=sqlite $(BIN)/python -m pytest -q --durations=15 --cov --cov-append --cov-report=term:skip-covered \
		$(if $(ARGS),$(ARGS),--cov-fail-under=85)

lint: $(DEV_READY)  ## Check style, types, layers and migrations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy fairimport demo_site bench
	@$(BIN)/lint-imports
	@DATABASE_URL=sqlite://:memory: $(BIN)/python manage.py makemigrations --check --dry-run

soak: $(DEV_READY)  ## The long forms, about an hour: 100,000 wrong files, then the scheduler's benchmarks (figures in .measured/)
	@failed=0; \
	$(BIN)/python -m tests.fuzz --files 100000 --seed $$(date +%s) || failed=1; \
	$(BIN)/python -m bench suite $(ARGS) || failed=1; \
	exit $$failed

fuzz: $(DEV_READY)  ## Give wrong files to the reader: make fuzz ARGS='--files 100000 --seed 7'
	@$(BIN)/python -m tests.fuzz $(ARGS)

bench: $(DEV_READY)  ## Run a benchmark: make bench NAME=...
	@$(BIN)/python -m bench $(NAME) $(ARGS)

measure: $(DEV_READY)  ## Run the scheduler's benchmarks, figures in .measured/: make measure ARGS=--short
	@$(BIN)/python -m bench suite $(ARGS)

clean:  ## Remove what was made: the environment, the demo's data, caches
	@rm -rf $(VENV) .demo .measured build dist *.egg-info .coverage .coverage.* htmlcov
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
ifeq ($(FOUND),)
	@echo "fairimport needs Python 3.11 or later, and no '$(PYTHON)' was found: name one, as in: make demo PYTHON=python3.12" >&2; exit 1
endif
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "fairimport needs Python 3.11 or later, and $(PYTHON) is %d.%d: name another one, as in: make demo PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module does not work here (Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }

$(DEMO_READY): pyproject.toml | $(BIN)/python
	@echo "Installing what the demo needs ..."
	@$(PIP) install --editable '.[demo]'
	@touch $@

$(DEV_READY): pyproject.toml | $(BIN)/python
	@echo "Installing what the tests need ..."
	@$(PIP) install --editable '.[dev]'
	@touch $@ $(DEMO_READY)
