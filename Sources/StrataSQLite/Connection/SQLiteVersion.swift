import StrataCSQLite
import StrataSQL
import StrataStore

/// The version of the SQLite library that the process runs with.
package enum SQLiteVersion {
    /// 3.37.0: the first that reports extended result codes from the opening of a connection on. `RETURNING` came with
    /// 3.35, databases in memory that connections share with 3.36.
    static let minimum: Int32 = 3_037_000

    /// Refuses a library that is too old. It may differ from the one that the program was built with.
    static func check(_ number: Int32 = sqlite3_libversion_number()) throws(StoreError) {
        guard number >= minimum else {
            throw .unsupported(
                store: "SQLite",
                feature: "version \(text(number)) of the system's SQLite library; install \(text(minimum)) or newer")
        }
    }

    /// The version of the library, `3.45.1` for instance.
    package static var libraryText: String { text(sqlite3_libversion_number()) }

    /// The oldest version that can be used.
    package static var minimumText: String { text(minimum) }

    /// Whether the library is new enough.
    package static var isSupported: Bool { sqlite3_libversion_number() >= minimum }

    /// Whether several threads can use the library.
    package static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

    /// Whether the library was built with an option, such as `ENABLE_FTS5`.
    package static func isBuilt(with option: String) -> Bool { sqlite3_compileoption_used(option) != 0 }

    private static func text(_ number: Int32) -> String {
        "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }
}
