# Every check has one name. `make` alone lists them; `make compare`, `make test` and `make bench` set themselves up.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

TOOLS := target/tools/bin
BROWSER_TEST := tests/browser/run
PYTHON_TEST := tests/python/run
RUST_TEST := scripts/rust-tests
C_FILES = $(wildcard include/ramp/*.h) $(shell find tests/c crates/quic/c crates/linux/bpf crates/linux/tests crates/ramp/tests/scratch crates/host/bpf -name '*.c' -o -name '*.h')

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F'\t' '{ printf "  %-14s %s\n", $$1, $$2 }'

# --- The commands of the README ---------------------------------------------------------------------------------

.PHONY: compare
compare: ## Compare algorithms on the default path; ARGS="..." goes to `ramp compare`
	@scripts/setup compare
	cargo run --release --locked -- compare $(ARGS)

.PHONY: league
league: ## Every algorithm on a population of paths; ARGS="--quick" for some of them, or anything else of `ramp league`
	@scripts/setup compare
	cargo run --release --locked -- league $(ARGS)

.PHONY: reach
reach: ## reach against its goals, and what each of its mechanisms brings; writes the tables of docs/algorithms/reach.md; ARGS="--quick" for some paths, printed only
	@scripts/setup compare
	cargo run --release --locked -- league --goals --algorithms reach --held-out --fresh 2048 $(or $(ARGS),--into docs/algorithms/reach.md)
	cargo run --release --locked -- league --ablation league/reach.toml --algorithms reach $(or $(ARGS),--into docs/algorithms/reach.md)

.PHONY: gate
gate: ## Each start-up header that has changed since BASE=HEAD^, the old text against the new one
	@scripts/setup compare
	cargo build --release --locked -p rampcc-cli
	RAMP=$(CURDIR)/target/release/ramp packaging/gate/gate $(BASE)

.PHONY: linux
linux: ## The same with this kernel's own TCP, `ramp compare --on linux`; ARGS="..." go there. Best as root
	@scripts/setup linux
	cargo run --release --locked --features linux -- compare --on linux $(ARGS)

.PHONY: programs
programs: ## Servers and clients as rows, `ramp compare --on program`; installs those of the ready-made rows. ARGS="--row caddy-h3 geo-jitter" go there. Best as root
	@scripts/setup programs
	PATH="$(CURDIR)/target/programs/bin:$$PATH" cargo run --release --locked -- compare --on program $(ARGS)

.PHONY: programs-alike
programs-alike: ## A hundred comparisons of a program with itself beside a busy loop, as root: how often they differ. A quarter of an hour
	cargo test --release --locked -p rampcc-cli --features linux --test programs -- --ignored --nocapture identical 2>&1 | scripts/count-tests

.PHONY: reproduce
reproduce: ## The experiments of four papers with their claims checked, and a gallery; ARGS="--quick" and others go to `ramp reproduce --all`
	@scripts/setup compare
	cargo run --release --locked -- reproduce --all --out target/reproduce $(ARGS)

.PHONY: gallery
gallery: ## The pages of the published experiments and of the league: target/gallery/index.html, target/gallery/league/league-public.html; ARGS="--quick" for fewer runs
	@scripts/setup compare
	cargo run --release --locked -- reproduce --all --out target/gallery $(ARGS)
	cargo run --release --locked -- league --out target/gallery/league $(ARGS)

.PHONY: playground
playground: ## The simulator in the browser, one file that needs no network: target/playground/index.html
	@scripts/setup playground
	scripts/playground target/playground/index.html

.PHONY: site
site: ## Everything for a static host, playground, figures, league and documentation: target/site; ARGS="--quick" for fewer runs
	@scripts/setup site
	scripts/site $(ARGS)

.PHONY: release
release: ## What a release consists of, wheel, archive, packages, list of contents: target/artifacts; builds the command three times
	@scripts/setup release
	scripts/release

.PHONY: release-test
release-test: ## Each part of `make release` installed as a user would and played, as root; what cannot be installed here is skipped by name
	tests/release/run 2>&1 | scripts/count-tests

.PHONY: linux-build
linux-build: ## Build the command with everything that loads BPF programs: target/release/ramp
	@scripts/setup linux
	cargo build --release --locked --features linux

.PHONY: test
test: ## The full suite; closes with how much passed, failed and was skipped, and why
	@scripts/setup test
	$(MAKE) --no-print-directory check
	{ failed=0; $(MAKE) --no-print-directory --keep-going --jobs 2 --output-sync=target in-browser in-python || failed=1; \
		$(RUST_TEST) || failed=1; exit $$failed; } 2>&1 | scripts/count-tests

.PHONY: test-long
test-long: ## What takes too long for `test`, before a release: all kernel tests in Linux 6.1 and 6.12, a thousand comparisons kept and found again
	@scripts/setup test
	$(RUST_TEST) long 2>&1 | scripts/count-tests

# Side by side, since each waits for something else than a processor now and then. Cargo counts its own jobs.
.PHONY: in-browser in-python
in-browser:
	@MAKEFLAGS= $(BROWSER_TEST)
in-python:
	@MAKEFLAGS= $(PYTHON_TEST)

TORTURE := RAMP_SKIPS=fail RAMP_TORTURE_SECONDS=$(or $(SECONDS),600) RAMP_TORTURE_SEED=$(or $(SEED),1) RAMP_TORTURE_REPORT=$(CURDIR)/docs/host-report.md
TORTURE_TEST := cargo test --release --locked -p rampcc-cli --features linux --test torture --

.PHONY: host-torture
host-torture: ## Ten minutes of kills, races, full disks and hostile strangers for a live host, as root; SECONDS=600 SEED=1 PARTS="peers over" OTHER=path/of/another/release. Writes docs/host-report.md
	@scripts/setup test
	RAMP_TORTURE_PARTS="$(or $(PARTS),all)" RAMP_TORTURE_OTHER=$(abspath $(OTHER)) $(TORTURE) $(TORTURE_TEST) --nocapture 2>&1 | scripts/count-tests

.PHONY: host-torture-machines
host-torture-machines: ## The strangers' part of it in machines of Linux 6.1 and 6.12, half an hour or more on two processors; SECONDS=60 of a machine's time, SEED=1. Writes docs/host-report.md
	@scripts/setup test
	$(TORTURE) RAMP_TORTURE_SECONDS=$(or $(SECONDS),60) $(TORTURE_TEST) --ignored --nocapture machines 2>&1 | scripts/count-tests

.PHONY: bench
bench: ## Speed against ns-2, ns-3, per decision and, as root, per ACK in the kernel; writes target/bench.json
	@scripts/setup bench
	bench/run

# --- Checks, quick ones first -----------------------------------------------------------------------------------

.PHONY: check
check: format spelling scripts deny lint c-check package ## Everything that runs no Rust test

.PHONY: format
format: ## Formatting of Rust and C, nothing changed
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo fmt --manifest-path examples/quic-download/Cargo.toml --check
	$(TOOLS)/clang-format --dry-run --Werror $(C_FILES)

.PHONY: format-write
format-write: ## Format Rust and C in place
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path examples/quic-download/Cargo.toml
	$(TOOLS)/clang-format -i $(C_FILES)

.PHONY: spelling
spelling: ## Spelling of code and prose
	$(TOOLS)/typos

.PHONY: scripts
scripts: ## Shell scripts
	$(TOOLS)/shellcheck scripts/setup scripts/package scripts/kernels scripts/fuzz scripts/playground scripts/site scripts/release scripts/count-tests scripts/rust-tests scripts/vectors packaging/gate/gate tests/browser/run tests/browser/tools tests/site/run tests/python/run tests/release/run tests/release/debian packaging/debian/* tests/scripts/count-tests crates/cli/tests/units/boot.sh crates/cli/tests/machines/steps/*.sh .ci/run
	tests/scripts/count-tests

.PHONY: lint
lint: ## Clippy, warnings denied
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings

.PHONY: docs
docs: ## API documentation, warnings denied; `package` makes that of what is published, too
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps --locked --quiet

.PHONY: c-check
c-check: ## The core as C99, C++17 and BPF, with sanitizers
	$(MAKE) --no-print-directory -j "$$(nproc)" -C tests/c check

.PHONY: package
package: ## Whether every crate can be published: packed, unpacked elsewhere, checked and documented there
	scripts/package

.PHONY: browser-test
browser-test: ## The HTML report in a real browser
	$(BROWSER_TEST) 2>&1 | scripts/count-tests

.PHONY: rust-test
rust-test: ## Every Rust test
	$(RUST_TEST) 2>&1 | scripts/count-tests

.PHONY: python-test
python-test: ## The Python package: its wheel built and installed, its types checked, its tests
	$(PYTHON_TEST) 2>&1 | scripts/count-tests

.PHONY: vectors
vectors: ## Test vectors of every row that QUIC carries, as JSON lines, checked against the headers: target/vectors
	@scripts/setup compare
	cargo build --release --locked
	scripts/vectors target/vectors target/release/ramp

.PHONY: quic-download
quic-download: ## A server and a client over QUIC with real sockets and TLS; docs/guide/quic.md plays them
	cargo build --release --locked --manifest-path examples/quic-download/Cargo.toml

.PHONY: fuzz
fuzz: ## What ramp reads and the C core, fuzzed: all targets in SECONDS=300 together; TARGET=events for one, in SECONDS=60
	@scripts/setup test
	scripts/fuzz "$(SECONDS)" $(TARGET)

.PHONY: bless
bless: ## Rewrite the recorded outputs that tests compare with; review the diff
	RAMP_BLESS=1 cargo test --workspace --all-features --locked --quiet

.PHONY: deny
deny: ## Licences, sources and duplicates of dependencies
	$(TOOLS)/cargo-deny --log-level error --locked check bans licenses sources
	$(TOOLS)/cargo-deny --log-level error --locked --manifest-path fuzz/Cargo.toml --config deny.toml check bans licenses sources
	$(TOOLS)/cargo-deny --log-level error --locked --manifest-path examples/quic-download/Cargo.toml --config deny.toml check bans licenses sources

.PHONY: advisories
advisories: ## Known holes in dependencies, and versions taken back; fetches the database
	@scripts/advisories $(TOOLS)/cargo-deny

.PHONY: deps
deps: ## Install what `test` and `bench` need, and fetch all crates
	@scripts/setup test
	@scripts/setup bench
	cargo fetch --locked

.PHONY: clean
clean: ## Remove everything that was built
	cargo clean
