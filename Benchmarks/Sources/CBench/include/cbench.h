// What the benchmark needs of the system: SQLite itself, clocks, and counts of memory and statements.
#pragma once
#include <sqlite3.h>
#include <stdint.h>

/// The CPU time of this process, all threads, in nanoseconds.
int64_t bench_cpu_ns(void);
/// Monotonic time in nanoseconds.
int64_t bench_wall_ns(void);
/// Bytes that malloc has given out and not got back.
int64_t bench_heap_bytes(void);
/// The greatest resident size that this process had, in KiB.
int64_t bench_peak_rss_kib(void);

/// Starts the count of the peak anew, where the system can.
void bench_forget_peak(void);

/// Lets standard output go on at the end of each line, also into a file: the table grows slowly.
void bench_buffer_lines(void);

/// From now on each new SQLite connection of this process counts the statements that it runs, whoever opens it.
void bench_count_statements(void);
/// Connections opened from now on count nothing, so that timed runs pay for no hook.
void bench_stop_counting(void);
/// How many statements ran on counting connections since the start of counting or the last reset.
/// Triggers' own statements do not count.
int64_t bench_statements(void);
/// Sets the count back.
void bench_reset_statements(void);
/// `SQLITE_TRANSIENT`, which Swift cannot import.
sqlite3_destructor_type bench_transient(void);
