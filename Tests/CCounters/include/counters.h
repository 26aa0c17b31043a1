#ifndef COUNTERS_H
#define COUNTERS_H

/// How many blocks of memory the process has taken from the heap so far; -1 where they cannot be counted.
long allocation_count(void);

/// How many bytes of the heap the process holds now, with what the heap rounds up; -1 where they cannot be counted.
long heap_bytes(void);

/// How often the program's own code has retained objects so far; -1 where that cannot be counted. A walk over objects
/// shows here even if it takes no memory.
long retain_count(void);

/// The CPU time of the process in nanoseconds.
long cpu_nanoseconds(void);

/// Under callgrind, instructions count between the two.
void begin_instructions(void);
void end_instructions(void);

#endif
