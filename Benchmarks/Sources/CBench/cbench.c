#include "cbench.h"
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <sys/resource.h>
#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bench_cpu_ns(void) { return now(CLOCK_PROCESS_CPUTIME_ID); }
int64_t bench_wall_ns(void) { return now(CLOCK_MONOTONIC); }

int64_t bench_heap_bytes(void) {
#ifdef __APPLE__
    malloc_statistics_t statistics;
    malloc_zone_statistics(NULL, &statistics);
    return (int64_t)statistics.size_in_use;
#else
    // Large blocks are mapped one by one and counted apart.
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#endif
}

int64_t bench_peak_rss_kib(void) {
#ifdef __linux__
    // getrusage would count what the parent had before the exec, too.
    FILE *status = fopen("/proc/self/status", "r");
    if (status) {
        char line[256];
        long long size = -1;
        while (fgets(line, sizeof line, status))
            if (sscanf(line, "VmHWM: %lld kB", &size) == 1) break;
        fclose(status);
        if (size >= 0) return size;
    }
#endif
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return usage.ru_maxrss / 1024;
#else
    return usage.ru_maxrss;
#endif
}

void bench_forget_peak(void) {
#ifdef __linux__
    malloc_trim(0);
    // proc(5): 5 sets the peak back to the present size. Where that is not allowed, the peak counts the set-up, too.
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
#endif
}

void bench_buffer_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

static _Atomic int64_t statement_count;

static int count_statement(unsigned type, void *context, void *statement, void *time) {
    (void)context, (void)statement, (void)time, (void)type;
    atomic_fetch_add_explicit(&statement_count, 1, memory_order_relaxed);
    return 0;
}

static int install(sqlite3 *database, char **message, const struct sqlite3_api_routines *api) {
    (void)message, (void)api;
    // PROFILE comes once for each run of a statement; STMT would come for triggers and actions of foreign keys, too.
    return sqlite3_trace_v2(database, SQLITE_TRACE_PROFILE, count_statement, NULL);
}

void bench_count_statements(void) { sqlite3_auto_extension((void (*)(void))install); }
void bench_stop_counting(void) { sqlite3_cancel_auto_extension((void (*)(void))install); }
int64_t bench_statements(void) { return atomic_load(&statement_count); }
void bench_reset_statements(void) { atomic_store(&statement_count, 0); }

sqlite3_destructor_type bench_transient(void) { return SQLITE_TRANSIENT; }
