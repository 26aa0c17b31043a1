import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

extension SQLCoding {
    /// What SQLite gives, as a value of a kind.
    static func decode(_ value: OpaquePointer?, _ kind: SQLKind) -> Value {
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL { return .null }
        switch kind {
        case .integer: return .integer(sqlite3_value_int64(value))
        case .boolean:
            let number = sqlite3_value_int64(value)
            return number == 0 || number == 1 ? .boolean(number == 1) : .integer(number)
        case .double: return .double(sqlite3_value_double(value))
        case .number, .decimal:
            switch type {
            case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
            case SQLITE_FLOAT: return .double(sqlite3_value_double(value))
            default: return SQLFunctions.decimal(SQLFunctions.bytes(value)).map(Value.decimal) ?? .null
            }
        case .text: return .string(text(value))
        case .uri: return URL(string: text(value)).map(Value.uri) ?? .string(text(value))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: sqlite3_value_double(value)))
        case .object: return .object(sqlite3_value_int64(value))
        case .json: return JSONText.value(of: SQLFunctions.bytes(value)) ?? .null
        case .bytes, .external: return .binary(blob(value))
        case .uuid:
            let bytes = blob(value)
            guard bytes.count == 16 else { return .null }
            return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case .point:
            return SQLFunctions.point(value).map(Value.geoPoint) ?? .null
        }
    }

    private static func text(_ value: OpaquePointer?) -> String {
        String(decoding: SQLFunctions.bytes(value), as: UTF8.self)
    }

    private static func blob(_ value: OpaquePointer?) -> Data {
        guard let start = sqlite3_value_blob(value) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_value_bytes(value)))
    }
}
