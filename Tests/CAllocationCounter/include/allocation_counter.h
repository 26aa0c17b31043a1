#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// How many blocks of memory the process has taken from the heap so far; -1 where they cannot be counted.
long allocation_count(void);

#endif
