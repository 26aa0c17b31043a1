#include <libpq-fe.h>

// Strata sends several statements at once (pipeline mode), which libpq has since version 14.
#ifndef LIBPQ_HAS_PIPELINING
#error "Strata needs libpq 14 or newer; libpq-fe.h is of an older version."
#endif
