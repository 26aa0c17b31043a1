import CSQLite
import Foundation
import StrataStore

/// The aggregate function `strata_collect(…)` of a connection: packs each row of a ``RowPlan`` as SQLite hands it over.
///
/// One fetch at a time: a connection serves one thread, and nothing that runs inside of a fetch asks it for another.
final class RowCollector {
    static let functionName = "strata_collect"

    // Unchecked at run time for overlapping accesses, because each row would pay for it: SQLite calls back once for
    // each row, never from within such a call, and `collect` touches none of these while SQLite runs.
    @exclusivity(unchecked) private var builder = RowBatchBuilder()
    @exclusivity(unchecked) private var plan: RowPlan?
    @exclusivity(unchecked) private var shape: RowPlan.Shape?
    @exclusivity(unchecked) private var known: KnownRows?
    @exclusivity(unchecked) private var failure: StoreError?
    /// How much of the current row has come: columns, and fields of the shape. 0 between rows.
    @exclusivity(unchecked) private var column = 0
    @exclusivity(unchecked) private var field = 0
    @exclusivity(unchecked) private var key: Int64 = 0
    /// Whether the current row is left out but for its header.
    @exclusivity(unchecked) private var isKnown = false

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
    }

    /// Runs a statement that ``RowPlan/select(_:)`` made.
    /// - Parameters:
    ///   - known: Which rows need no more than their header.
    ///   - expectedRows: How many rows are likely.
    func collect(
        _ statement: Statement, _ plan: RowPlan, known: KnownRows? = nil, expectedRows: Int?
    ) throws(StoreError) -> RowBatch {
        builder = RowBatchBuilder(expectedRows: expectedRows)
        self.plan = plan
        self.known = known
        shape = plan.shapes.first
        column = 0
        defer {
            self.plan = nil
            self.known = nil
            shape = nil
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

    @inline(__always)
    private func take(_ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int) throws(StoreError) {
        guard let plan, var shape else { throw .unsupported(store: "SQLite", feature: "a call of \(Self.functionName)") }
        if column == 0 {
            key = sqlite3_value_int64(values[0])
            let version = sqlite3_value_int64(values[1])
            if plan.hasEntityColumn {
                shape = try find(values[2], plan, shape)
                self.shape = shape
            }
            field = 0
            isKnown = known.map { $0(shape.entityIndex, key, version) } ?? false
            if isKnown {
                builder.addHeader(entityIndex: shape.entityIndex, key: key, version: version)
            } else {
                builder.beginRow(
                    entityIndex: shape.entityIndex, slotCount: shape.slotCount, key: key, version: version)
            }
        }
        if !isKnown { try read(values, count, plan, shape) }
        column += count
        guard column == plan.columnCount else { return }
        column = 0
        if !isKnown { builder.endRow() }
    }

    private func find(
        _ value: OpaquePointer?, _ plan: RowPlan, _ guess: RowPlan.Shape
    ) throws(StoreError) -> RowPlan.Shape {
        let name = Self.text(value)
        if name.elementsEqual(guess.entityName) { return guess }
        if let found = plan.shapes.first(where: { name.elementsEqual($0.entityName) }) { return found }
        throw plan.unknownEntity(String(decoding: name, as: UTF8.self), key: key)
    }

    /// Reads the fields that stand in the columns of one call.
    @inline(__always)
    private func read(
        _ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int, _ plan: RowPlan, _ shape: RowPlan.Shape
    ) throws(StoreError) {
        let end = column + count
        while field < shape.fields.count {
            let next = shape.fields[field]
            guard next.column < end else { return }
            let value = values[next.column - column]
            field += 1
            let type = sqlite3_value_type(value)
            if type == SQLITE_NULL { continue }
            guard set(value, type, next) else { throw plan.mismatch(key, shape, next, type) }
        }
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
            builder.setWord(sqlite3_value_int64(value) != 0 ? 1 : 0, slot: field.slot)
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
    /// Whether text is a plain decimal number, or one with an exponent.
    static func looksDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var digits = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 48...57: digits = true
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                guard index == 0 || bytes[index - 1] | 32 == UInt8(ascii: "e") else { return false }
            case UInt8(ascii: "."): break
            case UInt8(ascii: "e"), UInt8(ascii: "E"): guard digits else { return false }
            default: return bytes.elementsEqual("NaN".utf8)
            }
        }
        return digits
    }
}
