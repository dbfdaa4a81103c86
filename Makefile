# The commands of a developer. `make` alone lists them.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input
# Four workers on two cores: tests wait for processes more than they compute; `make test WORKERS=6` tries others. The
# tests of a file stay together and share services.
# Files begin in the order in which they are collected, the long ones first: pytest-xdist would put those with the most
# tests first, and begin the longest ones, which have few, at the very end.
WORKERS := 4
PYTEST := $(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# How often a failed test is tried again. The build server sets it, as it is busy at times; a developer wants to know.
RERUNS := 0
TIMED := tools/timed.sh
# Lines of the product that may repeat others, five or more in a row.
REPEATED_LINES := 0

# Tests start the programs hundreds of times: each start would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run venv packages wheels deb image test-packages static static-format static-lint static-types static-layers static-repetition tidy check test services services-stop agent keystone plug-ins tempest demands bench compare bench-bmcs inspector pages docs docs-browser screenshots clean battery fuzz change-cost walks change-over lab lab-tutorials console-browser console-podman

help:
	@echo "make run       install, create the database, serve on 127.0.0.1:6385; PORT=6395 serves on another port"
	@echo "make tidy      format the code and correct what the linter can"
	@echo "make check     format, lint, types, layers, repetition, unit and wire tests; AREA=redfish: unit and functional tests of that name alone"
	@echo "make test      everything, with the servers it needs"
	@echo "make battery   kill, pause and restart conductors, broker and database, and count what is kept; half an hour"
	@echo "make fuzz      what a program makes of the API's own document, with a new seed, and all examples of drawn input; twenty minutes"
	@echo "make wheels    the wheel of this tree and those of all that it needs, into dist/"
	@echo "make deb       the Debian package, into dist/"
	@echo "make image     the image of the service and that of a screen, by buildah; BASE=IMAGE is what they begin with"
	@echo "make test-packages  published drivers, Debian package and images, built, installed and started; as root, fifteen minutes"
	@echo "make lab       a machine that really boots (QEMU), from enrolment to its removal; as root, an hour"
	@echo "make lab-tutorials  the commands of the tutorials, typed for a machine that boots, and what they print; as root"
	@echo "make console-browser  a graphical console in Chromium, from the request to the end of its token; two minutes"
	@echo "make console-podman  the same with the screen in a container of podman; as root"
	@echo "make services  MariaDB, PostgreSQL and RabbitMQ for the tests; services-stop ends those it started"
	@echo "make agent     the environment of the real agent that some tests run"
	@echo "make keystone  the environment of the real Keystone that some tests run"
	@echo "make inspector the environment of the real standalone inspector that some tests run"
	@echo "make plug-ins  the published plug-ins that some tests load"
	@echo "make tempest   tempest's tests of the API against this tree, with that Keystone; ten minutes"
	@echo "make demands   demands that no test proves, and mutations of the product that their tests must catch; four minutes"
	@echo "make bench     CPU time of requests and rules on this machine, and a minute of SQLite under load"
	@echo "make compare   CPU time per request beside that of an older checkout, OLD=DIRECTORY; two minutes"
	@echo "make change-cost  how many files a field, an action, a resource, an operation, an option, a wait and a quirk of a BMC touch, tried in a scratch copy; four minutes"
	@echo "make walks     how many calls and files five operations lead through, and how often they come back to a file"
	@echo "make change-over  databases of seven releases of OpenStack Ironic, taken over and given back to them; RECORD=1 fills them anew; from a package index, half an hour"
	@echo "make bench-bmcs  what steady readings of 1,000 BMCs cost them and a conductor, with dead ones too; half an hour"
	@echo "make pages     play all recorded BMCs, and write the generated pages of doc/ and api-ref/ anew"
	@echo "make docs      build the documentation site in .site; a dead link fails; EDIT=ADDRESS adds links by which pages are edited"
	@echo "make docs-browser  the site in Chromium without a network: diagrams, widths, search; two minutes"
	@echo "make screenshots  the pictures of pages anew, of what really runs, in Chromium; two minutes"
	@echo "make clean     remove what make made"

run: $(VENV)/.client
	@$(BIN)/python tools/run.py $(if $(PORT),--port $(PORT))

venv: $(VENV)/.tests

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.client: setup.cfg requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) install -e '.[client]'
	@touch $@

$(VENV)/.tests: setup.cfg requirements.txt test-requirements.txt doc/requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) install -e . -r test-requirements.txt
	@touch $@ $(VENV)/.client

# All five run even when one fails, so that a build server reports every fault at once.
static: venv
	@$(MAKE) --no-print-directory --keep-going static-format static-lint static-types static-layers static-repetition

static-format:
	@$(TIMED) format $(BIN)/ruff format --check --quiet .

static-lint:
	@$(TIMED) lint $(BIN)/ruff check --quiet .

static-types:
	@$(TIMED) types $(BIN)/mypy

static-layers:
	@$(TIMED) layers $(BIN)/lint-imports

static-repetition:
	@$(TIMED) repetition tools/repetition.sh $(BIN)/symilar $(REPEATED_LINES)

tidy: venv
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

ifdef AREA
# What is called so among unit and functional tests, without those that start programs.
OF_AREA = $(shell find ironic/tests/unit ironic/tests/functional -name 'test_*.py' -path '*$(AREA)*' -not -path '*/life/*' -not -path '*/live/*' -not -path '*/bus/*' -not -path '*/fuzz/*')
check: venv
	@test -n '$(OF_AREA)' || { echo "no file of tests has $(AREA) in its path"; exit 1; }
	@$(PYTEST) $(OF_AREA)
else
check: static
	@$(PYTEST) ironic/tests/unit ironic/tests/functional/wire
endif

packages:
	@tools/packages.sh

# The packages first, as the servers are among them. Then two things at a time: checks compute on one core, and an
# installation waits for downloads and its disk.
test:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory venv
	@$(MAKE) --no-print-directory -j 2 static services agent keystone inspector plug-ins
	@$(PYTEST) --reruns $(RERUNS) -r fER

# One after another: the tests measure times. The bound is for a machine that hangs; the report is still printed.
battery: services
	@IRONIC_BATTERY=1 timeout --signal=INT --kill-after=60 3600 $(BIN)/pytest -q -p no:cacheprovider ironic/tests/functional/life
	@IRONIC_BATTERY=1 $(BIN)/pytest -q -p no:cacheprovider -m battery ironic/tests/functional/db

# Prints its seed with a failure; the same seed and number of examples find it again. After it, with all their examples,
# the tests that draw their input: `make test` draws a quarter.
fuzz: venv
	@IRONIC_FUZZ=1 $(BIN)/pytest -q -p no:cacheprovider ironic/tests/functional/fuzz ironic/tests/functional/drivers/test_odd_leaves.py ironic/tests/functional/inspection/test_odd_reports.py
	@IRONIC_FUZZ=1 $(BIN)/pytest -q -p no:cacheprovider -m hypothesis ironic/tests

# The changes are made and tested in a scratch copy, not estimated.
change-cost: venv
	@PYTHONPATH=tools $(BIN)/python tools/change_cost

walks: venv
	@$(BIN)/pytest -q -s -p no:cacheprovider ironic/tests/functional/test_walks.py | grep ' returns$$'

wheels:
	@tools/packaging/wheels.sh dist

deb:
	@PYTHON=/usr/bin/python3 tools/packaging/wheels.sh dist
	@tools/packaging/deb.sh dist dist
	@ls dist/*.deb

# BUILD passes words to `buildah build`.
BASE := docker.io/library/debian:bookworm-slim
image:
	@PYTHON=/usr/bin/python3 tools/packaging/wheels.sh dist
	@buildah build $(BUILD) --format docker --build-arg BASE=$(BASE) --tag localhost/ironic --file etc/container/Containerfile .
	@buildah build $(BUILD) --format docker --build-arg BASE=$(BASE) --tag localhost/ironic-screen --file etc/container/screen/Containerfile .

# As root: the tests make root directories and start containers in them.
test-packages: venv
	@tools/packages.sh
	@tools/packages.sh tools/packaging-packages.txt
	@$(PIP) install 'podman-compose>=1.6,<2'
	@IRONIC_PACKAGES=1 $(BIN)/pytest -q -p no:cacheprovider -m packages ironic/tests/scenario/packages

# As root: the ramdisk is built in a chroot. The machine is emulated without KVM, so it takes its time.
lab: venv
	@tools/lab/run.sh $(LAB)

# As root, as the lab.
lab-tutorials: venv
	@tools/lab/run.sh tutorial:virtual-media tutorial:network-boot

# Playwright drives Debian's Chromium; both are for this only.
console-browser: venv
	@tools/packages.sh
	@tools/packages.sh tools/console-browser-packages.txt
	@$(PIP) install 'playwright>=1.50,<2'
	@PYTHONPATH=. $(BIN)/python tools/console_browser.py

docs-browser: docs
	@tools/packages.sh tools/console-browser-packages.txt
	@$(PIP) install 'playwright>=1.50,<2'
	@$(BIN)/python tools/site_browser.py

screenshots: docs $(VENV)/.client
	@tools/packages.sh tools/console-browser-packages.txt
	@$(PIP) install 'playwright>=1.50,<2'
	@PYTHONPATH=. $(BIN)/python tools/screenshots.py

console-podman: venv
	@tools/packages.sh
	@tools/packages.sh tools/console-browser-packages.txt
	@tools/packages.sh tools/podman-packages.txt
	@$(PIP) install 'playwright>=1.50,<2'
	@PYTHONPATH=. $(BIN)/python tools/console_browser.py --podman

services: venv
	@$(BIN)/python tools/services.py start

agent: venv
	@$(TIMED) agent $(BIN)/python tools/agent_venv.py

keystone: venv
	@$(TIMED) keystone $(BIN)/python tools/keystone_server.py install

plug-ins: venv
	@$(TIMED) plug-ins $(BIN)/python tools/plug_in_packages.py

inspector: venv
	@$(TIMED) inspector $(BIN)/python tools/inspector_server.py

tempest: keystone
	@$(BIN)/python tools/tempest_run.py run

services-stop:
	@$(PYTHON) tools/services.py stop

demands: venv
	@$(BIN)/python tools/demands.py
	@$(BIN)/python tools/mutations.py

bench: venv
	@$(BIN)/python tools/bench.py
	@$(BIN)/python tools/bench_sqlite.py

# CPU time per request beside that of an older checkout with its .venv: make compare OLD=DIRECTORY
compare: venv
	@$(BIN)/python tools/compare_releases.py $(OLD)

# The releases come from the package index, into a directory that CHANGE_OVER_CACHE names.
change-over: services
	@PYTHONPATH=tools:. $(BIN)/python tools/change_over $(if $(RECORD),--record) $(RELEASES)

bench-bmcs: venv
	@$(BIN)/python tools/bench_bmcs.py

pages: venv
	@$(BIN)/python tools/pages.py

# The source directory is the top of the tree, see doc/conf.py, which also has what EDIT is.
docs: venv
	@SITE_EDIT='$(EDIT)' $(TIMED) docs $(BIN)/sphinx-build -q -W --keep-going -c doc -d .cache/doctrees . .site
	@echo "open .site/index.html"

clean: services-stop
	@rm -rf $(VENV) $(VENV)-agent $(VENV)-keystone $(VENV)-inspector $(VENV)-tempest .run .site .cache/doctrees build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
