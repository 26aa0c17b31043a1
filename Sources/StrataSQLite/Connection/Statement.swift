import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore
import Synchronization

/// A prepared statement: bind, step until there are no more rows, reset.
package final class Statement {
    let handle: OpaquePointer
    let sql: String
    private unowned let connection: Connection
    /// The observers of runs; nil for a statement whose runs are not reported.
    private let observers: StatementObservers?
    private let observerCount: UnsafeMutablePointer<Atomic<Int>>?
    private var started: ContinuousClock.Instant?
    private var rowCount = 0
    /// When the connection last gave it out; see ``Connection/statement(_:)``.
    var lastUse = 0
    /// Whether objects are bound, which the statement must not keep.
    private var holdsObjects = false
    /// The first failure of a bind, which the next step answers with, otherwise a value too large for SQLite would be
    /// written as NULL.
    private var bindCode = SQLITE_OK

    init(handle: OpaquePointer, sql: String, connection: Connection, observers: StatementObservers?) {
        self.handle = handle
        self.sql = sql
        self.connection = connection
        self.observers = observers
        observerCount = observers?.count
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs to the next row.
    /// - Returns: false if there are no more; the statement is reset then.
    package func step() throws(StoreError) -> Bool {
        let code = stepCode()
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            reset()
            return false
        }
        let error = connection.failure(code)
        reset()
        throw error
    }

    /// Runs a statement that answers with no rows.
    package func run() throws(StoreError) {
        while try step() {}
    }

    /// One step with SQLite's own code, for callers that expect certain failures. The caller resets.
    func stepCode() -> Int32 {
        guard bindCode == SQLITE_OK else { return bindCode }
        // Asked at the first step only; rows must not pay for it.
        if rowCount == 0, let observerCount, observerCount.pointee.load(ordering: .relaxed) > 0, started == nil {
            started = .now
        }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { rowCount &+= 1 }
        return code
    }

    /// Makes the statement ready for the next use, and reports the run to observers.
    /// - Parameter rows: How many rows it gave, where they did not come by steps.
    package func reset(rows: Int? = nil) {
        sqlite3_reset(handle)
        bindCode = SQLITE_OK
        if holdsObjects {
            sqlite3_clear_bindings(handle)
            holdsObjects = false
        }
        if let started {
            observers?.post(
                StatementTrace(
                    sql: sql, duration: (ContinuousClock.now - started).inSeconds,
                    rows: rows ?? rowCount, work: StatementWork(taking: handle)))
            self.started = nil
        }
        rowCount = 0
    }

    package func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
    package func bind(_ value: Double, at index: Int32) { sqlite3_bind_double(handle, index, value) }
    package func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

    package func bind(_ text: String, at index: Int32) {
        var text = text
        text.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index, destructor: transient) }
    }

    /// Binds bytes that are copied.
    package func bind(_ data: Data, at index: Int32) {
        data.withUnsafeBytes { bindBlob($0, at: index, destructor: transient) }
    }

    /// Binds UTF-8 text that outlives the step.
    package func bindText(unowned bytes: UnsafeRawBufferPointer, at index: Int32) { bindText(bytes, at: index) }
    /// Binds bytes that outlive the step.
    package func bindBlob(unowned bytes: UnsafeRawBufferPointer, at index: Int32) { bindBlob(bytes, at: index) }

    /// Binds UTF-8 text; without a destructor the memory must outlive the step.
    func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32, destructor: sqlite3_destructor_type? = nil) {
        guard let start = bytes.baseAddress else {
            check(sqlite3_bind_text64(handle, index, "", 0, transient, UInt8(SQLITE_UTF8)))
            return
        }
        check(
            sqlite3_bind_text64(
                handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), destructor,
                UInt8(SQLITE_UTF8)))
    }

    /// Binds bytes; without a destructor the memory must outlive the step.
    func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32, destructor: sqlite3_destructor_type? = nil) {
        guard let start = bytes.baseAddress, bytes.count > 0 else {
            check(sqlite3_bind_zeroblob(handle, index, 0))
            return
        }
        check(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), destructor))
    }

    private func check(_ code: Int32) {
        if code != SQLITE_OK, bindCode == SQLITE_OK { bindCode = code }
    }

    func bind(_ value: SQLValue, at index: Int32) {
        switch value {
        case .null: bindNull(at: index)
        case .integer(let number): bind(number, at: index)
        case .double(let number): bind(number, at: index)
        case .text(let text): bind(text, at: index)
        case .utf8(let bytes): bytes.withUnsafeBytes { bindText($0, at: index, destructor: transient) }
        case .blob(let data): data.withUnsafeBytes { bindBlob($0, at: index, destructor: transient) }
        case .list(let list): bind(list, at: index)
        case .call(let call): bind(call, at: index)
        }
    }

    /// Binds the list after a `strata_list(?)`.
    package func bind(_ list: ValueList, at index: Int32) {
        holdsObjects = true
        sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(list).toOpaque(), ValueList.pointerType) {
            if let pointer = $0 { Unmanaged<ValueList>.fromOpaque(pointer).release() }
        }
    }

    /// Binds the function after a `strata_call(?, …)`.
    private func bind(_ call: SQLCall, at index: Int32) {
        holdsObjects = true
        sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(call).toOpaque(), SQLCall.pointerType) {
            if let pointer = $0 { Unmanaged<SQLCall>.fromOpaque(pointer).release() }
        }
    }

    /// How many parameters the statement has.
    var parameterCount: Int32 { sqlite3_bind_parameter_count(handle) }

    /// Whether a column has no value.
    package func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }
    package func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// The UTF-8 text of a column, valid until the next step.
    package func textBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// The bytes of a column, valid until the next step.
    package func blobBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    /// The value of a column as one of a kind.
    func value(_ column: Int32, _ kind: SQLKind) -> Value {
        // Such a value may be looked at where no other thread uses the connection, which is so for all of ours.
        SQLCoding.decode(sqlite3_column_value(handle, column), kind)
    }

    package func text(_ column: Int32) -> String { String(decoding: textBytes(column), as: UTF8.self) }
}

/// Tells SQLite to copy what is bound (`SQLITE_TRANSIENT`, which Swift cannot import).
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The extended code of a broken unique index (`SQLITE_CONSTRAINT_UNIQUE`, which Swift cannot import).
let uniqueConstraintCode = SQLITE_CONSTRAINT | 8 << 8
