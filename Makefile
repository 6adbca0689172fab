# Everything a person or CI runs. Needs Python 3.11 or newer and make; the rest is installed here.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Keys in the shell may belong to another server; the one started here gets those of .env.
COMPOSE ?= env -u LANGFUSE_PUBLIC_KEY -u LANGFUSE_SECRET_KEY docker compose

.PHONY: help demo install dev test check format clean langfuse-env langfuse-up langfuse-down

help:
	@echo "make demo     install and run lift --quick on canned replies: no key, no server"
	@echo "make test     install and run the tests"
	@echo "make check    ruff, mypy --strict, layers"
	@echo "make format   rewrite the code as ruff formats it"
	@echo "make langfuse-env   add what a Langfuse on this machine needs to .env"
	@echo "make langfuse-up    start that Langfuse (docker-compose.yaml) and wait until it answers"
	@echo "make langfuse-down  stop it; its data stays"

demo: install
	$(BIN)/lift --quick --backend demo

install: $(VENV)/installed
dev: $(VENV)/installed-dev

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("lift needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

test: dev
	$(BIN)/python -m pytest -n auto

check: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

format: dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

langfuse-env:
	@$(PYTHON) scripts/langfuse_env.py

langfuse-up: langfuse-env
	$(COMPOSE) up --detach --wait

langfuse-down:
	$(COMPOSE) down

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
