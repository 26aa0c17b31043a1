import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// The functions that a migration calls in SQL, known to its connection only.
///
/// - `strata_value(text)`: a constant, as ``ValueRecord`` writes it.
/// - `strata_convert(value, from, to)`: a value in another type; NULL if it does not fit.
/// - `strata_derive(kind, text)`: what a derived attribute computes.
/// - `strata_new_uuid(isText)`: a new UUID each time.
/// - `strata_external(value)`: the bytes of a value that may be in a file.
enum MigrationFunctions {
    static func register(on connection: Connection, files: BlobFolder?) {
        define("strata_value", 1, connection) { context, arguments in
            answer(ValueRecord.value(of: text(arguments[0])) ?? .null, context)
        }
        define("strata_convert", 3, connection) { context, arguments in
            // Plans name only known types.
            guard let source = TypeRecord.type(named: text(arguments[1])),
                let target = TypeRecord.type(named: text(arguments[2]))
            else { return sqlite3_result_error(context, "a type is not known", -1) }
            let value = SQLCoding.decode(arguments[0], kind(of: source))
            answer(ValueConversion(from: source, to: target).convert(value) ?? .null, context)
        }
        define("strata_derive", 2, connection) { context, arguments in
            guard sqlite3_value_type(arguments[1]) != SQLITE_NULL else { return sqlite3_result_null(context) }
            let value = text(arguments[1])
            switch text(arguments[0]) {
            case "lowercase": answer(.string(value.lowercased()), context)
            case "uppercase": answer(.string(value.uppercased()), context)
            default:
                answer(.string(TextComparison.fold(value, [.caseInsensitive, .diacriticInsensitive])), context)
            }
        }
        define("strata_new_uuid", 1, connection, isDeterministic: false) { context, arguments in
            let uuid = UUID()
            answer(sqlite3_value_int(arguments[0]) == 0 ? .uuid(uuid) : .string(uuid.uuidString), context)
        }
        define("strata_external", 1, connection, isDeterministic: false) { context, arguments in
            guard sqlite3_value_type(arguments[0]) == SQLITE_TEXT else {
                return sqlite3_result_value(context, arguments[0])
            }
            do throws(StoreError) {
                guard let files else { throw .notFound(path: text(arguments[0])) }
                answer(.binary(try files.read(text(arguments[0]))), context)
            } catch {
                sqlite3_result_error(context, error.description, -1)
            }
        }
    }

    typealias Body = (OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>) -> Void

    private final class Box {
        let body: Body
        init(_ body: @escaping Body) { self.body = body }
    }

    private static func define(
        _ name: String, _ count: Int32, _ connection: Connection, isDeterministic: Bool = true, _ body: @escaping Body
    ) {
        let flags = SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        // SQLite releases the box with the connection.
        sqlite3_create_function_v2(
            connection.handle, name, count, flags, Unmanaged.passRetained(Box(body)).toOpaque(),
            { context, _, arguments in
                guard let data = sqlite3_user_data(context), let arguments else { return sqlite3_result_null(context) }
                Unmanaged<Box>.fromOpaque(data).takeUnretainedValue().body(context, arguments)
            }, nil, nil,
            { if let data = $0 { Unmanaged<Box>.fromOpaque(data).release() } })
    }

    private static func text(_ value: OpaquePointer?) -> String {
        String(decoding: SQLFunctions.bytes(value), as: UTF8.self)
    }

    /// How a value of a type is read.
    static func kind(of type: AttributeType) -> SQLKind {
        switch type {
        case .integer16, .integer32, .integer64, .integer: .integer
        case .double, .float: .double
        case .boolean: .boolean
        case .decimal: .decimal
        case .date: .date
        case .uuid: .uuid
        case .uri: .uri
        case .geoPoint: .point
        case .binary, .transformable, .composite: .bytes
        // JSON is text that is kept as it is.
        case .string, .json, .array: .text
        }
    }

    private static func answer(_ value: Value, _ context: OpaquePointer?) {
        switch SQLCoding.encode(value) {
        case .integer(let number): sqlite3_result_int64(context, number)
        case .double(let number): sqlite3_result_double(context, number)
        case .text(let text):
            sqlite3_result_text(context, text, Int32(clamping: text.utf8.count), transient)
        case .blob(let data):
            data.withUnsafeBytes {
                if let start = $0.baseAddress {
                    sqlite3_result_blob64(context, start, UInt64($0.count), transient)
                } else {
                    sqlite3_result_zeroblob(context, 0)
                }
            }
        default: sqlite3_result_null(context)
        }
    }
}
