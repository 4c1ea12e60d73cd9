# kbench: make demo runs the main job on this machine's CPU; make test runs the tests. Both set up a venv first.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test attack check clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY)  ## a venv with kbench and its development tools, at tested versions

$(READY): pyproject.toml tests/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c tests/constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c tests/constraints.txt -e '.[dev]'
	@touch $(READY)

demo: $(READY)  ## three problems a level on the CPU: shipped solutions and both baselines, no key, no GPU
	$(BIN)/python -m kbench.demo

test: $(READY)  ## the tests
	$(BIN)/python -m pytest --numprocesses 2

attack: $(READY)  ## every known cheat and every honest control against this installation
	$(BIN)/python -m kbench attack

check: $(READY)  ## format, lint, types, layers
	$(BIN)/ruff format --check kbench tests
	$(BIN)/ruff check kbench tests
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

clean:  ## removes the venv
	rm -rf $(VENV)
