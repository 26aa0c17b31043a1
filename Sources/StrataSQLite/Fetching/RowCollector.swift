import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// Two functions of a connection that make the rows of a fetch.
///
/// - `strata_collect(…)`, an aggregate: packs each row of a ``RowPlan`` as SQLite hands it over.
/// - `strata_unknown(key, version[, entity])`: whether the row must be read. If the reader has it, its header is put in
///   its place in the answer.
///
/// One fetch at a time: a connection serves one thread, and nothing that runs inside of a fetch asks it for another.
final class RowCollector {
    static let functionName = "strata_collect"
    static let testName = "strata_unknown"

    // Unchecked at run time for overlapping accesses, because each row would pay for it: SQLite calls back once for
    // each row, never from within such a call, and `collect` touches none of these while SQLite runs.
    @exclusivity(unchecked) private var builder = RowBatchBuilder()
    @exclusivity(unchecked) private var plan: RowPlan?
    // The shape of the current row, taken apart so that a row counts no references; `plan` keeps the fields.
    @exclusivity(unchecked) private var fields = UnsafeBufferPointer<RowPlan.Field>(start: nil, count: 0)
    @exclusivity(unchecked) private var entityIndex = 0
    @exclusivity(unchecked) private var slotCount = 0
    @exclusivity(unchecked) private var columnCount = 0
    @exclusivity(unchecked) private var hasEntityColumn = false
    @exclusivity(unchecked) private var known: KnownRows?
    @exclusivity(unchecked) private var failure: StoreError?
    /// How much of the current row has come: columns, and fields of the shape. 0 between rows.
    @exclusivity(unchecked) private var column = 0
    @exclusivity(unchecked) private var field = 0
    @exclusivity(unchecked) private var key: Int64 = 0

    /// Makes the function known to a connection, which must not outlive the collector.
    func register(on handle: OpaquePointer) {
        // Direct only: no view or trigger of a file that somebody else made may call it.
        sqlite3_create_function_v2(
            handle, Self.functionName, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passUnretained(self).toOpaque(),
            nil,
            { context, count, values in
                guard let values, let data = sqlite3_user_data(context) else { return }
                // The connection keeps the collector for as long as SQLite may call.
                Unmanaged<RowCollector>.fromOpaque(data)._withUnsafeGuaranteedRef { collector in
                    do throws(StoreError) {
                        try collector.take(values, Int(count))
                    } catch {
                        collector.failure = error
                        sqlite3_result_error(context, "a row could not be read", -1)
                    }
                }
            }, { sqlite3_result_null($0) }, nil)
        // Not deterministic: SQLite must ask once for each row, in order.
        sqlite3_create_function_v2(
            handle, Self.testName, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passUnretained(self).toOpaque(),
            { context, count, values in
                guard let values, count >= 2, let data = sqlite3_user_data(context) else { return }
                Unmanaged<RowCollector>.fromOpaque(data)._withUnsafeGuaranteedRef { collector in
                    do throws(StoreError) {
                        sqlite3_result_int(context, try collector.isKnown(values, Int(count)) ? 0 : 1)
                    } catch {
                        collector.failure = error
                        sqlite3_result_error(context, "a row could not be read", -1)
                    }
                }
            }, nil, nil, nil)
    }

    /// Runs a statement that one of the `select` methods of ``RowPlan`` wrote.
    /// - Parameters:
    ///   - known: Which rows need no more than their header, where the statement asks.
    ///   - expectedRows: How many rows are likely.
    func collect(
        _ statement: Statement, _ plan: RowPlan, known: KnownRows? = nil, expectedRows: Int?
    ) throws(StoreError) -> RowBatch {
        builder = RowBatchBuilder(expectedRows: expectedRows)
        self.plan = plan
        self.known = known
        columnCount = plan.columnCount
        hasEntityColumn = plan.hasEntityColumn
        if let shape = plan.shapes.first { begin(shape) }
        column = 0
        defer {
            fields = UnsafeBufferPointer(start: nil, count: 0)
            columnCount = 0
            self.plan = nil
            self.known = nil
            failure = nil
        }
        do throws(StoreError) {
            _ = try statement.step()
        } catch {
            _ = builder.finish()
            throw failure ?? error
        }
        let batch = builder.finish()
        statement.reset(rows: batch.count)
        return batch
    }

    private func begin(_ shape: RowPlan.Shape) {
        fields = shape.fields
        entityIndex = shape.entityIndex
        slotCount = shape.slotCount
    }

    @inline(__always)
    private func take(_ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int) throws(StoreError) {
        guard column + count <= columnCount else {
            throw .unsupported(store: "SQLite", feature: "a call of \(Self.functionName) outside of a fetch")
        }
        if column == 0 {
            let version = try readHeader(values)
            if hasEntityColumn { try findShape(values[2]) }
            field = 0
            builder.beginRow(entityIndex: entityIndex, slotCount: slotCount, key: key, version: version)
        }
        try read(values, count)
        column += count
        guard column == columnCount else { return }
        column = 0
        builder.endRow()
    }

    /// Whether the reader has a row; then its header is added.
    @inline(__always)
    private func isKnown(_ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int) throws(StoreError) -> Bool {
        let version = try readHeader(values)
        if hasEntityColumn, count > 2 { try findShape(values[2]) }
        guard let known, known(entityIndex, key, version) else { return false }
        builder.addHeader(entityIndex: entityIndex, key: key, version: version)
        return true
    }

    /// Takes the key of a row, and checks it and the version.
    /// - Returns: The version.
    @inline(__always)
    private func readHeader(_ values: UnsafeMutablePointer<OpaquePointer?>) throws(StoreError) -> Int64 {
        key = sqlite3_value_int64(values[0])
        let version = sqlite3_value_int64(values[1])
        guard RowPlan.keys.contains(key), RowPlan.versions.contains(version),
            sqlite3_value_type(values[1]) == SQLITE_INTEGER
        else { throw plan?.unsoundHeader(key) ?? .unsupported(store: "SQLite", feature: "a row outside of a fetch") }
        return version
    }

    private func findShape(_ value: OpaquePointer?) throws(StoreError) {
        guard let plan else { return }
        begin(try plan.shape(named: Self.text(value), key: key))
    }

    /// Reads the fields that are in the columns of one call.
    @inline(__always)
    private func read(_ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int) throws(StoreError) {
        let end = column + count
        while field < fields.count {
            let next = fields[field]
            guard next.column < end else { return }
            let value = values[next.column - column]
            field += 1
            let type = sqlite3_value_type(value)
            if type == SQLITE_NULL { continue }
            if !set(value, type, next) { throw mismatch(next, type) }
        }
    }

    private func mismatch(_ field: RowPlan.Field, _ type: Int32) -> StoreError {
        guard let plan else { return .unsupported(store: "SQLite", feature: "a row outside of a fetch") }
        return plan.mismatch(key, entityIndex, field, type)
    }

    /// - Returns: false if the value is none of the field's type.
    @inline(__always)
    private func set(_ value: OpaquePointer?, _ type: Int32, _ field: RowPlan.Field) -> Bool {
        switch field.storage {
        case .integer, .key:
            guard type == SQLITE_INTEGER else { return false }
            builder.setInteger(sqlite3_value_int64(value), slot: field.slot)
        case .boolean:
            guard type == SQLITE_INTEGER else { return false }
            builder.setInteger(sqlite3_value_int64(value), slot: field.slot)
        case .double, .date:
            guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { return false }
            builder.setDouble(sqlite3_value_double(value), slot: field.slot)
        case .text:
            guard type == SQLITE_TEXT else { return false }
            builder.setBytes(Self.text(value), slot: field.slot)
        case .decimal:
            // Somebody who edits with a shell writes numbers; their text is the same decimal.
            let bytes = Self.text(value)
            guard type != SQLITE_BLOB, SQLFunctions.looksDecimal(bytes) else { return false }
            builder.setBytes(bytes, slot: field.slot)
        case .bytes:
            if type == SQLITE_TEXT, field.allowsExternal {
                builder.setBytes(Self.text(value), slot: field.slot, external: true)
            } else {
                guard type == SQLITE_BLOB else { return false }
                builder.setBytes(Self.blob(value), slot: field.slot)
            }
        case .uuid, .geoPoint:
            let bytes = Self.blob(value)
            guard type == SQLITE_BLOB, bytes.count == 16 else { return false }
            builder.setBytes(bytes, slot: field.slot)
        }
        return true
    }

    /// The UTF-8 text of a value, valid during the call.
    private static func text(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_text(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    /// The bytes of a value, valid during the call.
    private static func blob(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }
}

extension SQLFunctions {
    /// Whether text is a decimal number, perhaps with an exponent: what `Decimal` reads to its end. Older files may
    /// hold the text of NaN, which is refused now.
    static func looksDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }
        func takeDigits() -> Int {
            let digits = rest.prefix { (48...57).contains($0) }.count
            rest = rest.dropFirst(digits)
            return digits
        }
        if let first = rest.first, isSign(first) { rest = rest.dropFirst() }
        var digits = takeDigits()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            digits += takeDigits()
        }
        guard digits > 0 else { return bytes.elementsEqual("NaN".utf8) }
        if let letter = rest.first, letter | 32 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let first = rest.first, isSign(first) { rest = rest.dropFirst() }
            if takeDigits() == 0 { return false }
        }
        return rest.isEmpty
    }
}
