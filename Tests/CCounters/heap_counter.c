// Counts blocks and bytes of the heap by standing before glibc's own functions, whose names it exports for this purpose
// (https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html). Elsewhere nothing is counted.

#include "counters.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// A sanitizer stands there itself.
#define IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(IS_SANITIZED)

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static atomic_long allocations;
static atomic_long bytes;

static void *taken(void *block) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    if (block) atomic_fetch_add_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
    return block;
}

void *malloc(size_t size) { return taken(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return taken(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size) {
    long before = block ? (long)malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);
    // A block that could not be moved is still there, unless it was to be freed.
    if (moved || size == 0) atomic_fetch_sub_explicit(&bytes, before, memory_order_relaxed);
    return taken(moved);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = taken(__libc_memalign(alignment, size));
    return *block ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

void free(void *block) {
    if (block) atomic_fetch_sub_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
    __libc_free(block);
}

long allocation_count(void) { return atomic_load_explicit(&allocations, memory_order_relaxed); }
long heap_bytes(void) { return atomic_load_explicit(&bytes, memory_order_relaxed); }

#else

long allocation_count(void) { return -1; }
long heap_bytes(void) { return -1; }

#endif
