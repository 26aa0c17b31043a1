#include <sqlite3.h>

// Strata uses RETURNING (3.35) and SQLITE_OPEN_EXRESCODE (3.37).
#if SQLITE_VERSION_NUMBER < 3037000
#error "Strata needs SQLite 3.37 or newer; sqlite3.h is of an older version."
#endif
