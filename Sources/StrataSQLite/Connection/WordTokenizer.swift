import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// The tokenizer `strata` of FTS5: the words of ``TextQuery``, so that an index finds what the evaluator finds.
/// SQLite's own `unicode61` knows few accents beyond the Latin letters.
///
/// A shell without it can read all tables but the index itself, and cannot change texts that are indexed.
enum WordTokenizer {
    static let name = "strata"
    /// SQLite keeps the pointer to this text until the statement ends.
    nonisolated(unsafe) private static let pointerType: UnsafePointer<CChar> = UnsafePointer(strdup("fts5_api_ptr"))

    /// Makes the tokenizer known to a connection, if its SQLite has FTS5.
    static func register(on handle: OpaquePointer) {
        var api: UnsafeMutablePointer<fts5_api>?
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK else { return }
        // FTS5 writes the address of its functions to where the pointer leads, while the statement runs.
        withUnsafeMutablePointer(to: &api) { place in
            sqlite3_bind_pointer(statement, 1, place, pointerType, nil)
            sqlite3_step(statement)
        }
        sqlite3_finalize(statement)
        guard let api, let create = api.pointee.xCreateTokenizer else { return }
        var tokenizer = fts5_tokenizer(
            xCreate: { _, _, _, result in
                // It has no state, but FTS5 takes nil for a failure.
                result?.pointee = OpaquePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
                return SQLITE_OK
            },
            xDelete: { instance in
                instance.map { UnsafeMutablePointer<UInt8>($0).deallocate() }
            },
            xTokenize: { _, context, _, text, count, take in
                guard let take else { return SQLITE_ERROR }
                let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(count))
                for var word in TextQuery.words(of: String(decoding: bytes, as: UTF8.self)) {
                    // Where a word stands is asked for by functions that mark it, which nobody calls.
                    let code = word.withUTF8 {
                        $0.withMemoryRebound(to: CChar.self) {
                            take(context, 0, $0.baseAddress, Int32($0.count), 0, 0)
                        }
                    }
                    guard code == SQLITE_OK else { return code }
                }
                return SQLITE_OK
            })
        _ = create(api, name, nil, &tokenizer, nil)
    }
}
