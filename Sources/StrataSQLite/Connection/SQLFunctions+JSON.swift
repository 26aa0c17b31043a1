import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// The functions by which SQL looks at members of JSON text. SQLite has such functions, too, but not in every build, and
/// they read text that this library's reader does not take. After the text stands the path: the names of members, the
/// positions of elements, -1 for the last one.
///
/// - `strata_json(text, …)`: the member as JSON text; NULL for null and where there is none.
/// - `strata_json_text(text, …)`: a member that is text; NULL for all others.
/// - `strata_json_number(text, …)`: a member that is a number, or a truth value as 1 or 0; NULL for all others.
/// - `strata_json_scalar(text, …)`: a member that is text, a number or a truth value; NULL for all others.
enum JSONFunctions {
    static let fragment = "strata_json"
    static let text = "strata_json_text"
    static let number = "strata_json_number"
    static let scalar = "strata_json_scalar"

    static func register(on handle: OpaquePointer) {
        define(fragment, on: handle) { context, count, arguments in
            JSONFunctions.answerFragment(context, count, arguments)
        }
        define(text, on: handle) { context, count, arguments in
            JSONFunctions.answer(context, count, arguments) { if case .string = $0 { true } else { false } }
        }
        define(number, on: handle) { context, count, arguments in
            JSONFunctions.answer(context, count, arguments) {
                switch $0 {
                case .integer, .double, .boolean: true
                default: false
                }
            }
        }
        define(scalar, on: handle) { context, count, arguments in
            JSONFunctions.answer(context, count, arguments) { _ in true }
        }
    }

    private typealias Function = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    private static func define(_ name: String, on handle: OpaquePointer, _ function: Function) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        sqlite3_create_function_v2(handle, name, -1, flags, nil, function, nil, nil, nil)
    }

    private static func answerFragment(
        _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let (bytes, path) = operands(count, arguments), let place = JSONText.place(of: path, in: bytes),
            let start = UnsafeRawBufferPointer(rebasing: bytes[place]).baseAddress
        else { return sqlite3_result_null(context) }
        if place.count == 4, bytes[place.lowerBound] == UInt8(ascii: "n") { return sqlite3_result_null(context) }
        // SQLite copies the text before it returns.
        sqlite3_result_text64(
            context, start.assumingMemoryBound(to: CChar.self), UInt64(place.count), transient, UInt8(SQLITE_UTF8))
    }

    private static func answer(
        _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
        where isWanted: (Value) -> Bool
    ) {
        guard let (bytes, path) = operands(count, arguments), let member = JSONText.member(of: bytes, at: path),
            isWanted(member), let value = SQLCoding.encode(member)
        else { return sqlite3_result_null(context) }
        SQLFunctions.answer(value, to: context)
    }

    /// The text and the path; nil if there is no text.
    private static func operands(
        _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
    ) -> (UnsafeRawBufferPointer, [JSONStep])? {
        guard let arguments, count > 0, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return nil }
        var path: [JSONStep] = []
        path.reserveCapacity(Int(count) - 1)
        for index in 1..<Int(max(1, count)) {
            if sqlite3_value_type(arguments[index]) == SQLITE_INTEGER {
                let position = sqlite3_value_int64(arguments[index])
                path.append(position < 0 ? .last : .index(Int(position)))
            } else {
                path.append(.key(String(decoding: SQLFunctions.bytes(arguments[index]), as: UTF8.self)))
            }
        }
        return (SQLFunctions.bytes(arguments[0]), path)
    }
}
