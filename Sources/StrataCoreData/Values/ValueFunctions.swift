import Foundation
import StrataCSQLite
import StrataSQLite
import StrataStore

/// The functions by which SQL makes values of Strata of those of Core Data.
///
/// - `coredata_bytes(value)`: the bytes of a value with a mark; an error if their file is missing.
/// - `coredata_found_bytes(value)`: the same, with NULL for an error.
/// - `coredata_json(value, marked, transformer)`: a transformable value as JSON; for one that cannot be read, the reason, which
///   is not JSON, so that it is reported for that value only.
/// - `coredata_coded(value, marked, transformer)`: the same as bytes; those of the archive if it cannot be read.
/// - `coredata_json_or_null`, `coredata_coded_or_null`: the same with NULL for what cannot be read.
/// - `coredata_reason(value, marked, transformer)`: why a transformable value cannot be read; NULL if it can.
/// - `coredata_decimal(value)`: a number as decimal text; NULL if it is not a number.
/// - `coredata_keep(bytes)`: the name of a new file with the bytes, or the bytes if they are small.
final class ValueFunctions: Sendable {
    static let prefix = "coredata_"
    static let bytes = prefix + "bytes"
    static let foundBytes = prefix + "found_bytes"
    static let decimal = prefix + "decimal"
    static let reason = prefix + "reason"
    static let keep = prefix + "keep"

    typealias Transformer = @Sendable (Data) throws -> Value

    private let folder: SupportFolder
    private let transformers: [String: Transformer]
    private let keeping: (@Sendable (UnsafeRawBufferPointer) throws(StoreError) -> String?)?

    /// - Parameter keeping: Writes bytes to a file of their own if they are large, and says its name.
    init(
        folder: SupportFolder, transformers: [String: Transformer],
        keeping: (@Sendable (UnsafeRawBufferPointer) throws(StoreError) -> String?)? = nil
    ) {
        self.folder = folder
        self.transformers = transformers
        self.keeping = keeping
    }

    private typealias Body = (ValueFunctions, [SQLArgument]) throws -> SQLResult

    /// One of the functions, which SQLite keeps for as long as the connection has it.
    private final class Function: Sendable {
        let functions: ValueFunctions
        let body: @Sendable (ValueFunctions, [SQLArgument]) throws -> SQLResult

        init(
            _ functions: ValueFunctions, _ body: @escaping @Sendable (ValueFunctions, [SQLArgument]) throws -> SQLResult
        ) {
            self.functions = functions
            self.body = body
        }
    }

    /// Makes the functions known to a connection.
    func register(on connection: Connection) {
        define("bytes", 1, connection) { functions, arguments in
            try arguments[0].data.map { .blob(try functions.folder.bytes(marked: $0)) } ?? .null
        }
        define("found_bytes", 1, connection) { functions, arguments in
            arguments[0].data.flatMap { try? functions.folder.bytes(marked: $0) }.map { .blob($0) } ?? .null
        }
        define("decimal", 1, connection) { _, arguments in Self.decimal(arguments[0]) }
        define("keep", 1, connection) { functions, arguments in
            guard let bytes = arguments[0].data else { return .null }
            let name = try bytes.withUnsafeBytes { (bytes) throws(StoreError) in try functions.keeping?(bytes) }
            return name.map { .text($0) } ?? .blob(bytes)
        }
        define("json", 3, connection) { functions, arguments in
            do {
                return .text(try functions.json(arguments) ?? "null")
            } catch {
                return .text("not readable: \(error)")
            }
        }
        define("coded", 3, connection) { functions, arguments in
            if let text = try? functions.json(arguments) { return .blob(Data(text.utf8)) }
            return arguments[0].data.map { .blob($0) } ?? .null
        }
        define("json_or_null", 3, connection) { functions, arguments in
            (try? functions.json(arguments)).map { .text($0) } ?? .null
        }
        define("coded_or_null", 3, connection) { functions, arguments in
            (try? functions.json(arguments)).map { .blob(Data($0.utf8)) } ?? .null
        }
        define("reason", 3, connection) { functions, arguments in
            do {
                _ = try functions.json(arguments)
                return .null
            } catch {
                return .text("\(error)")
            }
        }
    }

    /// The JSON of a transformable value; nil for NULL.
    private func json(_ arguments: [SQLArgument]) throws -> String? {
        guard let value = arguments[0].data else {
            if arguments[0].isNull { return nil }
            throw ArchivedValueError.unreadable("the column holds no bytes")
        }
        let bytes = arguments[1].integer == 0 ? value : try folder.bytes(marked: value)
        let transform = transformers[arguments[2].text ?? ""]
        let read = try transform.map { try $0(bytes) } ?? ArchivedValue.value(of: bytes)
        guard let text = JSONText.text(of: read) else {
            throw ArchivedValueError.unsupported("the value")
        }
        return text
    }

    private static func decimal(_ value: SQLArgument) -> SQLResult {
        let number: Decimal? =
            switch value {
            case .integer(let number): Decimal(number)
            // Core Data keeps no more than 15 digits of such a number; the text with these is the one that was meant.
            case .real(let number): number.isFinite ? Decimal(string: String(format: "%.15g", number)) : nil
            case .text(let text): Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            case .blob, .null: nil
            }
        guard let number, !number.isNaN else { return .null }
        return .text(number.description)
    }

    private func define(
        _ name: String, _ count: Int32, _ connection: Connection,
        _ body: @escaping @Sendable (ValueFunctions, [SQLArgument]) throws -> SQLResult
    ) {
        let function = Unmanaged.passRetained(Function(self, body))
        sqlite3_create_function_v2(
            connection.handle, Self.prefix + name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC, function.toOpaque(),
            { context, count, values in
                guard let values, let data = sqlite3_user_data(context) else { return }
                let function = Unmanaged<Function>.fromOpaque(data).takeUnretainedValue()
                let arguments = (0..<Int(count)).map { SQLArgument(values[$0]) }
                do {
                    try function.body(function.functions, arguments).answer(context)
                } catch {
                    sqlite3_result_error(context, "\(error)", -1)
                }
            }, nil, nil,
            { if let data = $0 { Unmanaged<Function>.fromOpaque(data).release() } })
    }
}

/// A value that SQLite hands to a function.
enum SQLArgument {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    init(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let start = sqlite3_value_text(value)
            let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)
            self = .blob(start.map { Data(bytes: $0, count: Int(sqlite3_value_bytes(value))) } ?? Data())
        default: self = .null
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }

    /// The bytes of a blob or of text.
    var data: Data? {
        switch self {
        case .blob(let data): data
        case .text(let text): Data(text.utf8)
        default: nil
        }
    }

    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// What a function answers.
enum SQLResult {
    case null
    case text(String)
    case blob(Data)

    func answer(_ context: OpaquePointer?) {
        // Tells SQLite to copy.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .null: sqlite3_result_null(context)
        case .text(let text):
            Array(text.utf8CString).withUnsafeBufferPointer { bytes in
                sqlite3_result_text64(
                    context, bytes.baseAddress, UInt64(bytes.count - 1), transient, UInt8(SQLITE_UTF8))
            }
        case .blob(let data):
            data.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress, !bytes.isEmpty {
                    sqlite3_result_blob64(context, start, UInt64(bytes.count), transient)
                } else {
                    sqlite3_result_zeroblob(context, 0)
                }
            }
        }
    }
}
