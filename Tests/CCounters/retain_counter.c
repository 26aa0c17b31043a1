// Counts retains by standing before the runtime's `swift_retain` for the code that is linked into the program, Strata's
// included; what the libraries of the toolchain retain among themselves is not counted.

#define _GNU_SOURCE
#include "counters.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_long retains;
static void *(*runtime_retain)(void *object);

__attribute__((constructor)) static void find_runtime(void) {
    runtime_retain = (void *(*)(void *))dlsym(RTLD_NEXT, "swift_retain");
}

void *swift_retain(void *object) {
    atomic_fetch_add_explicit(&retains, 1, memory_order_relaxed);
    return runtime_retain(object);
}

long retain_count(void) { return atomic_load_explicit(&retains, memory_order_relaxed); }

#else

long retain_count(void) { return -1; }

#endif
