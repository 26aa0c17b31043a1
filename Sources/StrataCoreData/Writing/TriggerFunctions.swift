import StrataCSQLite
import StrataSQLite

/// The functions that the triggers of derived attributes call to tell Core Data about other objects. Their results are not used,
/// so they do nothing here; without them, each write that fires such a trigger would fail.
enum TriggerFunctions {
    static func register(on connection: Connection) {
        for name in WritingRules.triggerFunctions.sorted() {
            sqlite3_create_function_v2(
                connection.handle, name, -1, SQLITE_UTF8, nil, { context, _, _ in sqlite3_result_null(context) }, nil,
                nil, nil)
        }
    }
}
