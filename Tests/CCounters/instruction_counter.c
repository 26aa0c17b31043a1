#include "counters.h"

#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION (void)0
#endif

long cpu_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (long)t.tv_sec * 1000000000 + t.tv_nsec;
}

void begin_instructions(void) { CALLGRIND_START_INSTRUMENTATION; }
void end_instructions(void) { CALLGRIND_STOP_INSTRUMENTATION; }
