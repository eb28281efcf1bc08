# Two commands are enough on a new machine: `make run` and `make test`.

.PHONY: run release test check advisories sbom siege faults prove bench bench-check bench-embed bench-growth bench-index bench-ingest bench-library bench-scope try-model eval train-ranker train-topic fuzz setup setup-test web models crates demo-services fmt

CARGO := cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Always the whole workspace: building a part of it would rebuild shared dependencies with other features.
RELEASE := $(TARGET)/release
WEB_SOURCES := $(shell find web/src web/index.html web/package.json web/package-lock.json web/vite.config.ts 2>/dev/null)

## Start Segue on http://127.0.0.1:8080 with the sample library. It needs no API key, no other server and no account.
run: setup
	@$(MAKE) --no-print-directory --jobs=3 web/dist/index.html models crates
	$(CARGO) build --profile quick --workspace --bin segue
	$(TARGET)/quick/segue serve

## Build the fully optimised server for installation: target/release/segue. It takes nearly twice as long as the build of `make run`.
release: setup web/dist/index.html
	$(CARGO) build --release --workspace --bin segue

## Run every test on SQLite and on a temporary PostgreSQL, and test the page in a real browser.
test: setup-test web/dist/index.html
	tools/in-memory tools/test

## Run every fault test on both databases: what the user saw, what was stored, and the recovery time.
faults: setup-test web/dist/index.html
	$(CARGO) test --workspace --quiet --test faults -- --all
	tools/with-postgres $(CARGO) test --workspace --quiet --test faults -- --all

## Verify the promises about turns on both databases: every crash point, every lost reply, pauses, outages, histories; a
## simulation of 100,000 turns; and the proof itself: every planted bug must be found.
prove: setup-test web/dist/index.html
	SEGUE_SIMULATED_TURNS=100000 $(CARGO) test --workspace --quiet --lib -- --nocapture simulation
	tools/in-memory $(CARGO) test --workspace --quiet --test prove -- --all
	tools/in-memory tools/with-postgres $(CARGO) test --workspace --quiet --test prove -- --all
	tools/in-memory $(CARGO) test --workspace --quiet --test prove -- --mutants
	tools/in-memory tools/with-postgres $(CARGO) test --workspace --quiet --test prove -- --mutants

## Check format, lints, types of the page, licences and the origin of dependencies. Must pass before a change is submitted.
check: setup-test web/dist/index.html
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	cd web && npm run --silent check
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny --log-level error check bans licenses sources

## List known vulnerabilities of dependencies, Rust and JavaScript. Needs a network for the advisory databases.
advisories: setup
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny --log-level error check advisories
	cd web && npm audit --omit=dev

## Write segue.cdx.json: every dependency with version, licence and checksum, as CycloneDX 1.5. Needs no network.
sbom:
	tools/sbom > segue.cdx.json

## Run hostile users beside ten ordinary users for five minutes, on this machine. See docs/security.md.
siege: setup web/dist/index.html
	$(CARGO) build --release --workspace --bin segue
	tools/siege $(RELEASE)/segue $(or $(SECONDS_OF_SIEGE),300)

## Measure turns per second, CPU per turn and memory per open stream, compared with a bare relay in the same run.
bench: setup-test web/dist/index.html
	tools/bench

## Count the instructions of hot paths under callgrind; it fails if one takes over 5 % more than tools/bench-baseline.json says.
bench-check: setup
	$(CARGO) build --release --quiet --workspace --bin hot-paths
	RELEASE=$(RELEASE) tools/bench-check

## Measure how many tracks a second the embedder and the index take, with the fetched models.
bench-embed: setup models
	$(CARGO) build --release --quiet --workspace --bin bench-embed
	$(RELEASE)/bench-embed $(or $(SEGUE_DATA_DIR),segue-data)/models

## Measure search quality on real data: BM25, dense and hybrid with a paired bootstrap.
eval: setup
	$(CARGO) build --release --quiet --workspace --example eval
	$(RELEASE)/examples/eval

## Fit the weights that order search results to ../shared/data and print the gain on searches they have not seen; writes assets/ranker.txt.
train-ranker: setup models
	$(CARGO) build --release --quiet --workspace --example train_ranker
	$(RELEASE)/examples/train_ranker ../shared/data $(or $(SEGUE_DATA_DIR),segue-data)/models

## Weigh the sentences in crates/search/training that tell daily life from music; writes assets/topic*.txt, those of a model if it was fetched.
train-topic: setup
	$(CARGO) build --release --quiet --workspace --example train_topic
	$(RELEASE)/examples/train_topic $(or $(SEGUE_DATA_DIR),segue-data)/models

## Measure search speed, recall and memory at 10k, 100k and 1M synthetic tracks.
bench-index: setup
	$(CARGO) build --release --quiet --workspace --example index_bench
	$(RELEASE)/examples/index_bench

## Measure what a scope costs a search: 100,000 tracks, 100 users with 1,000 to 50,000 of them.
bench-scope: setup
	$(CARGO) build --release --quiet --workspace --example scope_bench
	$(RELEASE)/examples/scope_bench

## Measure every list, search and status endpoint for a user with 100,000 tracks and 10,000 conversations, on both databases.
bench-growth: setup-test web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	tools/with-postgres $(RELEASE)/bench-growth

## Measure a mixed import of 10,000 tracks and its enrichment against doubles, with ten kills during the work.
bench-ingest: setup web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	$(RELEASE)/bench-ingest

## A home library of 20,000 files, scanned three times without a network; every file is searched for by everything it says.
bench-library: setup web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	$(RELEASE)/bench-library

## Run sixty utterances through the real product against a model server and print a score table:
## make try-model URL=http://127.0.0.1:11434/v1
## Without a URL: against a double of each family of servers.
try-model: setup web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	$(RELEASE)/try-model $(or $(URL),--doubles)

## Run the parsers under a coverage-guided fuzzer, for a limited time.
fuzz: setup
	tools/fuzz

## Start local doubles of the external services, to try everything without the internet.
demo-services:
	$(CARGO) build --release --quiet --workspace --bin doubles
	$(RELEASE)/doubles --sample crates/app/assets/sample

## Install the Debian packages that are needed to run, if they are missing.
setup:
	@tools/setup run

## Install the packages for the tests too: a browser, PostgreSQL and HAProxy.
setup-test:
	@tools/setup test

## Build the page, if its sources have changed.
web: web/dist/index.html
web/dist/index.html: $(WEB_SOURCES)
	# Not `npm ci`: it rejects a lock file that was written without the optional packages of other platforms.
	@echo "Building the page: its packages first, then the page itself (about a minute)" >&2
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error && npm run --silent build

## Download the crates. `make run` does it while the packages of the page are downloaded; cargo reports what is missing.
crates:
	@$(CARGO) fetch --quiet --locked --target "$$(rustc -vV | sed -n 's/^host: //p')" || true

## Download the better embedder. Without it, the built-in one is used.
models:
	@tools/fetch-models || echo "The better embedder could not be downloaded; the built-in one is used." >&2

fmt:
	$(CARGO) fmt --all
