import Foundation
import StrataCSQLite
import StrataSQL

extension ValueList {
    /// Whether the list has a value of a row, a whole number or a text. Only for a list that was made to be searched.
    func contains(_ value: OpaquePointer?) -> Bool {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: table?.contains(sqlite3_value_int64(value)) ?? false
        case SQLITE_TEXT: table?.contains(SQLFunctions.bytes(value)) ?? false
        default: false
        }
    }

    /// The type tag that guards bound pointers. SQLite compares its content and keeps the pointer, so it lives for
    /// ever.
    nonisolated(unsafe) static let pointerType: UnsafePointer<CChar> = UnsafePointer(strdup("strata_list"))
}

/// The table-valued function `strata_list(?)`: a column `value` with one row for each value of the list.
enum ValueListModule {
    static func register(on handle: OpaquePointer) {
        sqlite3_create_module_v2(handle, "strata_list", module, nil, nil)
    }

    private struct Cursor {
        // SQLite sees only this first part; the rest is ours.
        var base = sqlite3_vtab_cursor()
        var list: Unmanaged<ValueList>?
        var index = 0
        var count = 0
    }

    // Written once before the first use, read by SQLite afterwards.
    nonisolated(unsafe) private static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        addTable(to: module)
        addCursor(to: module)
        addColumns(to: module)
        return UnsafePointer(module)
    }()

    /// The table, which needs its list.
    private static func addTable(to module: UnsafeMutablePointer<sqlite3_module>) {
        module.pointee.xConnect = { handle, _, _, _, result, _ in
            let code = sqlite3_declare_vtab(handle, "CREATE TABLE x(value, list HIDDEN)")
            guard code == SQLITE_OK else { return code }
            let table = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
            table.initialize(to: sqlite3_vtab())
            result?.pointee = table
            return SQLITE_OK
        }
        module.pointee.xDisconnect = { table in
            table?.deallocate()
            return SQLITE_OK
        }
        module.pointee.xBestIndex = { _, info in
            guard let info else { return SQLITE_ERROR }
            for index in 0..<Int(info.pointee.nConstraint) {
                let constraint = info.pointee.aConstraint[index]
                guard constraint.iColumn == 1, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) else { continue }
                guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
                info.pointee.aConstraintUsage[index].argvIndex = 1
                info.pointee.aConstraintUsage[index].omit = 1
                info.pointee.estimatedCost = 10
                info.pointee.estimatedRows = 10
                return SQLITE_OK
            }
            return SQLITE_CONSTRAINT
        }
    }

    /// The walk over the list.
    private static func addCursor(to module: UnsafeMutablePointer<sqlite3_module>) {
        module.pointee.xOpen = { _, result in
            let cursor = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
            cursor.initialize(to: Cursor())
            result?.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.pointee.xClose = { base in
            base.map { ValueListModule.cursor($0) }?.deallocate()
            return SQLITE_OK
        }
        module.pointee.xFilter = { base, _, _, count, arguments in
            guard let base, count == 1, let argument = arguments?[0] else { return SQLITE_ERROR }
            let cursor = ValueListModule.cursor(base)
            // The statement's binding keeps the list alive while the cursor is open.
            let pointer = sqlite3_value_pointer(argument, ValueList.pointerType)
            cursor.pointee.list = pointer.map { Unmanaged<ValueList>.fromOpaque($0) }
            cursor.pointee.index = 0
            cursor.pointee.count = cursor.pointee.list?._withUnsafeGuaranteedRef { $0.count } ?? 0
            return SQLITE_OK
        }
        module.pointee.xNext = { base in
            base.map { ValueListModule.cursor($0) }?.pointee.index += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { base in
            guard let cursor = base.map({ ValueListModule.cursor($0) }) else { return 1 }
            return cursor.pointee.index >= cursor.pointee.count ? 1 : 0
        }
    }

    /// The value at the place of the walk.
    private static func addColumns(to module: UnsafeMutablePointer<sqlite3_module>) {
        module.pointee.xColumn = { base, context, column in
            guard let base, column == 0 else { return SQLITE_OK }
            let cursor = ValueListModule.cursor(base)
            let index = cursor.pointee.index
            cursor.pointee.list?._withUnsafeGuaranteedRef { list in
                if !list.keys.isEmpty {
                    sqlite3_result_int64(context, list.keys[index])
                } else {
                    SQLFunctions.answer(list.values[index], to: context)
                }
            }
            return SQLITE_OK
        }
        module.pointee.xRowid = { base, result in
            guard let base else { return SQLITE_ERROR }
            result?.pointee = Int64(ValueListModule.cursor(base).pointee.index)
            return SQLITE_OK
        }
    }

    private static func cursor(_ base: UnsafeMutablePointer<sqlite3_vtab_cursor>) -> UnsafeMutablePointer<Cursor> {
        UnsafeMutableRawPointer(base).assumingMemoryBound(to: Cursor.self)
    }
}
