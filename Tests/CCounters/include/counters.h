#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>

/// How many blocks of memory the process has taken from the heap so far; -1 where they cannot be counted.
long allocation_count(void);

/// How many bytes of the heap the process holds now, with what the heap rounds up; -1 where they cannot be counted.
long heap_bytes(void);

/// Begins to count how often objects are retained.
/// - Returns: false where that cannot be counted.
bool count_retains(void);

/// How often objects have been retained since `count_retains`. A walk over objects shows here even if it takes no memory.
long retain_count(void);

/// The CPU time of the process in nanoseconds.
long cpu_nanoseconds(void);

/// Under callgrind, instructions count between the two.
void begin_instructions(void);
void end_instructions(void);

#endif
