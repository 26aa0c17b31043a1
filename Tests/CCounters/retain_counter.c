// Counts retains through the hooks that the Swift runtime has for instruments: pointers to its functions, looked at once
// a flag is set. They are weak here, so that a runtime without them only means that nothing is counted.

#include "counters.h"

#include <stdatomic.h>
#include <stddef.h>

#if defined(__linux__) && defined(__x86_64__)

typedef void *(*Retain)(void *object);

extern Retain _swift_retain __attribute__((weak));
extern atomic_bool _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly __attribute__((weak));

static atomic_long retains;
static Retain retain;

static void *counted(void *object) {
    atomic_fetch_add_explicit(&retains, 1, memory_order_relaxed);
    return retain(object);
}

bool count_retains(void) {
    if (!&_swift_retain || !&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly) return false;
    if (!retain) {
        retain = _swift_retain;
        _swift_retain = counted;
        _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = true;
    }
    return true;
}

long retain_count(void) { return atomic_load_explicit(&retains, memory_order_relaxed); }

#else

bool count_retains(void) { return false; }
long retain_count(void) { return -1; }

#endif
