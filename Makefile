# Two commands matter: `make run` and `make test`. Everything else is what they are made of.
PYTHON ?= python3.11
PORT ?= 8000
BIN := .venv/bin
STAMP := .venv/.set-up

.PHONY: setup run test lint bench recall services

setup: $(STAMP)

$(STAMP): requirements-dev.txt pyproject.toml
	@if [ ! -x $(BIN)/python ] && ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		if [ "$$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then apt-get update -q && apt-get install -qy python3-venv; \
		else echo "$(PYTHON) with its venv module is needed (on Debian: apt install python3-venv)" >&2; exit 1; fi; fi
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

run: setup
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py demo
	@exec $(BIN)/python manage.py serve --demo --port $(PORT)

# What tests need beyond Python. A test whose service is missing is skipped by name, and fails where CI=true.
SERVICES := redis-server postgresql chromium chromium-driver bubblewrap

services:
	@missing=""; for package in $(SERVICES); do \
		dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing; \
	else echo "Not found as Debian packages:$$missing. Install them to run every test." >&2; fi

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@files=$$(find templates -name '*.html'); test -z "$$files" || $(BIN)/djade --check --target-version 5.2 $$files
	@$(BIN)/mypy & types=$$!; $(BIN)/lint-imports && $(BIN)/python manage.py check --fail-level WARNING && \
		$(BIN)/python manage.py makemigrations --check --dry-run --verbosity 0; others=$$?; wait $$types && exit $$others

# What differs between databases: services and their SQL, and the pages with SQL of their own. Races and kills start a
# PostgreSQL of their own wherever they run; rules, words and pure functions ask no database.
ON_POSTGRESQL := tests/accounts tests/cases $(addprefix tests/web/test_,case_list.py home.py queries.py)
APART := --ignore=tests/cases/gates --ignore=tests/accounts/test_admin.py $(foreach name,archives demo details failure_statement key_ring key_rotation migrations \
	lifecycle_docs lifecycle_properties outlines people_at_once policies previews processes purging registry rules sealed_at_rest serve \
	sqlite workers,--ignore=tests/cases/test_$(name).py)

test: setup services lint
	$(BIN)/pytest -n auto
	$(BIN)/python -m tests.on_postgresql $(ON_POSTGRESQL) $(APART) -n auto

bench: setup
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# Fetches public test cases for the run: it needs the network and is no part of `bench`.
recall: setup
	$(BIN)/python benchmarks/recall/measure.py
