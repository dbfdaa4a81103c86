# Everything a developer or a newcomer types. `make` alone lists it.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input
# Two at a time: tests wait for processes more than they compute. A file's tests stay together and share its services.
PYTEST := $(BIN)/pytest -q -n 2 --dist loadfile
TIMED := tools/timed.sh

.PHONY: help run venv static static-format static-lint static-types static-layers tidy check test services services-stop agent demands bench docs clean battery fuzz change-cost

help:
	@echo "make run       install, create the database, serve on 127.0.0.1:6385"
	@echo "make tidy      format the code and mend what the linter can"
	@echo "make check     format, lint, types, layers, unit and wire tests"
	@echo "make test      everything, with the servers it needs"
	@echo "make battery   kill, pause and restart conductors, broker and database, and count what is kept; half an hour"
	@echo "make fuzz      what a program makes of the API's own document, with a new seed; a quarter of an hour"
	@echo "make services  MariaDB, PostgreSQL and RabbitMQ for the tests; services-stop ends those it started"
	@echo "make agent     the environment of the real agent that some tests run"
	@echo "make demands   demands that no test proves"
	@echo "make bench     CPU time of requests and rules on this machine, and a minute of SQLite under load"
	@echo "make change-cost  how many files a new field and a new action touch, tried in a scratch copy; three minutes"
	@echo "make docs      write the generated pages anew"
	@echo "make clean     remove what make made"

run: $(VENV)/.client
	@$(BIN)/python tools/run.py

venv: $(VENV)/.tests

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.client: setup.cfg requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) install -e '.[client]'
	@touch $@

$(VENV)/.tests: setup.cfg requirements.txt test-requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) install -e . -r test-requirements.txt
	@touch $@ $(VENV)/.client

# All four are run even when one fails: somebody waits for this answer on a build server.
static: venv
	@$(MAKE) --no-print-directory --keep-going static-format static-lint static-types static-layers

static-format:
	@$(TIMED) format $(BIN)/ruff format --check --quiet .

static-lint:
	@$(TIMED) lint $(BIN)/ruff check --quiet .

static-types:
	@$(TIMED) types $(BIN)/mypy

static-layers:
	@$(TIMED) layers $(BIN)/lint-imports

tidy: venv
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

check: static
	@$(PYTEST) ironic/tests/unit ironic/tests/functional/wire

test: static services agent
	@$(PYTEST)

# One after another: the times are part of what is tested. The bound is for a machine that hangs; the account still comes.
battery: services
	@IRONIC_BATTERY=1 timeout --signal=INT --kill-after=60 3600 $(BIN)/pytest -q -p no:cacheprovider ironic/tests/functional/life

# Says its seed when something is found; with the same number of examples it finds it again.
fuzz: venv
	@IRONIC_FUZZ=1 $(BIN)/pytest -q -p no:cacheprovider ironic/tests/functional/fuzz

# Tried, not estimated: the changes are made and tested.
change-cost: venv
	@$(BIN)/python tools/change_cost

services: venv
	@$(BIN)/python tools/services.py start

agent: venv
	@$(TIMED) agent $(BIN)/python tools/agent_venv.py

services-stop:
	@$(PYTHON) tools/services.py stop

demands: venv
	@$(BIN)/python tools/demands.py

bench: venv
	@$(BIN)/python tools/bench.py
	@$(BIN)/python tools/bench_sqlite.py

docs: venv
	@$(BIN)/python tools/docs.py

clean: services-stop
	@rm -rf $(VENV) $(VENV)-agent .run build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
