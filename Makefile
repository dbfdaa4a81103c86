# Everything a developer or a newcomer types. `make` alone lists it.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Two at a time: tests wait for processes more than they compute. A file's tests stay together and share its services.
PYTEST := $(BIN)/pytest -q -n 2 --dist loadfile
TIMED := tools/timed.sh

.PHONY: help run venv check static test services services-stop demands docs clean

help:
	@echo "make run       install, create the database, serve on 127.0.0.1:6385"
	@echo "make check     format, lint, types, layers, unit and wire tests"
	@echo "make test      everything, with the servers it needs"
	@echo "make services  MariaDB, PostgreSQL and RabbitMQ for the tests; services-stop ends those it started"
	@echo "make demands   demands that no test proves"
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

static: venv
	@$(TIMED) format $(BIN)/ruff format --check --quiet .
	@$(TIMED) lint $(BIN)/ruff check --quiet .
	@$(TIMED) types $(BIN)/mypy
	@$(TIMED) layers $(BIN)/lint-imports

check: static
	@$(PYTEST) ironic/tests/unit ironic/tests/functional/wire

test: static services
	@$(PYTEST)

services: venv
	@$(BIN)/python tools/services.py start

services-stop:
	@$(PYTHON) tools/services.py stop

demands: venv
	@$(BIN)/python tools/demands.py

docs: venv
	@$(BIN)/python tools/docs.py

clean: services-stop
	@rm -rf $(VENV) .run build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
