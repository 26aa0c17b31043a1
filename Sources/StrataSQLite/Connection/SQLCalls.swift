import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

extension SQLCall {
    /// The type tag that guards bound pointers. SQLite compares its content and keeps the pointer, so it lives for
    /// ever.
    nonisolated(unsafe) static let pointerType: UnsafePointer<CChar> = UnsafePointer(strdup("strata_call"))
}

/// The functions by which SQL asks the evaluator of predicates, so that both give one answer:
///
/// - `strata_call(call, a, b, …)`: what a ``SQLCall`` makes of the arguments.
/// - `strata_draw(call, a, …)`: the same, asked again for each row.
/// - `strata_aggregate(call, a)`: what a ``SQLCall`` makes of all values but NULL; NULL of none.
/// - `strata_listed(list, a)`: whether a whole number or a text is in a ``ValueList``, for scans of a table.
/// - `strata_value(list, n)`: a value of a ``ValueList``, for more constants than SQLite has parameters.
final class SQLCalls {
    /// Why the last call failed.
    private var failure: StoreError?

    func takeFailure() -> StoreError? {
        defer { failure = nil }
        return failure
    }

    /// Makes the functions known to a connection, which must not outlive this.
    func register(on handle: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY
        for (name, isDeterministic) in [("strata_call", true), ("strata_draw", false)] {
            sqlite3_create_function_v2(
                handle, name, -1, isDeterministic ? flags | SQLITE_DETERMINISTIC : flags, context,
                { context, count, arguments in
                    guard let calls = SQLCalls.owner(context), let arguments, let call = SQLCalls.call(arguments[0])
                    else { return sqlite3_result_error(context, "no function is bound", -1) }
                    call._withUnsafeGuaranteedRef { call in
                        let last = call.kinds.count - 1
                        var values: [Value] = []
                        values.reserveCapacity(Int(count))
                        for index in 1..<max(1, Int(count)) {
                            values.append(SQLCoding.decode(arguments[index], call.kinds[min(index - 1, last)]))
                        }
                        calls.answer(call, values, to: context)
                    }
                }, nil, nil, nil)
        }
        sqlite3_create_function_v2(
            handle, "strata_aggregate", 2, flags, context, nil,
            { context, _, arguments in
                guard let arguments, let call = SQLCalls.call(arguments[0]),
                    let state = SQLCalls.state(context, create: true)
                else { return }
                let values = state.pointee ?? Unmanaged.passRetained(Values(call.takeUnretainedValue()))
                state.pointee = values
                values._withUnsafeGuaranteedRef { values in
                    let value = SQLCoding.decode(arguments[1], values.call.kinds[0])
                    if !value.isNull { values.values.append(value) }
                }
            },
            { context in
                guard let calls = SQLCalls.owner(context), let state = SQLCalls.state(context, create: false),
                    let values = state.pointee?.takeRetainedValue()
                else { return sqlite3_result_null(context) }
                state.pointee = nil
                if values.values.isEmpty { return sqlite3_result_null(context) }
                calls.answer(values.call, values.values, to: context)
            }, nil)
        sqlite3_create_function_v2(
            handle, "strata_listed", 2, flags | SQLITE_DETERMINISTIC, nil,
            { context, _, arguments in
                guard let arguments, let pointer = sqlite3_value_pointer(arguments[0], ValueList.pointerType) else {
                    return sqlite3_result_null(context)
                }
                // The statement's binding keeps the list alive during the call.
                let isListed = Unmanaged<ValueList>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
                    $0.contains(arguments[1])
                }
                sqlite3_result_int(context, isListed ? 1 : 0)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, "strata_value", 2, flags | SQLITE_DETERMINISTIC, nil,
            { context, _, arguments in
                guard let arguments, let pointer = sqlite3_value_pointer(arguments[0], ValueList.pointerType) else {
                    return sqlite3_result_null(context)
                }
                // The statement's binding keeps the list alive during the call.
                Unmanaged<ValueList>.fromOpaque(pointer)._withUnsafeGuaranteedRef { list in
                    let index = Int(sqlite3_value_int64(arguments[1]))
                    SQLFunctions.answer(list.values.indices.contains(index) ? list.values[index] : .null, to: context)
                }
            }, nil, nil, nil)
    }

    /// The values of an aggregate so far.
    private final class Values {
        let call: SQLCall
        var values: [Value] = []
        init(_ call: SQLCall) { self.call = call }
    }

    private func answer(_ call: SQLCall, _ values: [Value], to context: OpaquePointer?) {
        do throws(PredicateEvaluationError) {
            let result = try call.body(values)
            if let encoded = SQLCoding.encode(result) { return SQLFunctions.answer(encoded, to: context) }
            failure = .unsupported(store: "SQLite", feature: "\(result) as the result of a function")
        } catch {
            failure = .invalidPredicate(error)
        }
        sqlite3_result_error(context, "a function of a condition failed", -1)
    }

    private static func owner(_ context: OpaquePointer?) -> SQLCalls? {
        // The connection keeps this object for as long as SQLite may call.
        sqlite3_user_data(context).map { Unmanaged<SQLCalls>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func call(_ value: OpaquePointer?) -> Unmanaged<SQLCall>? {
        // The statement's binding keeps the call alive while the statement runs.
        sqlite3_value_pointer(value, SQLCall.pointerType).map { Unmanaged<SQLCall>.fromOpaque($0) }
    }

    /// The memory of an aggregate: SQLite gives it zeroed, which is nil.
    private static func state(
        _ context: OpaquePointer?, create: Bool
    ) -> UnsafeMutablePointer<Unmanaged<Values>?>? {
        sqlite3_aggregate_context(context, create ? Int32(MemoryLayout<Unmanaged<Values>?>.stride) : 0)?
            .assumingMemoryBound(to: Unmanaged<Values>?.self)
    }
}
