import StrataCSQLite
import StrataSQL
import StrataStore
import Synchronization

/// The observers of the statements that a store runs: ``SQLiteStore/Options/trace``, and those that were added later.
final class StatementObservers: Sendable {
    private struct State {
        var handlers: [Int: @Sendable (StatementTrace) -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Guarded(State())
    /// The number of observers. Statements look at it once for each run, without a lock and without counting a reference:
    /// therefore they keep the pointer as well as this object, which owns the memory.
    nonisolated(unsafe) let count: UnsafeMutablePointer<Atomic<Int>>

    /// - Parameter trace: An observer for as long as the store is open.
    init(_ trace: (@Sendable (StatementTrace) -> Void)?) {
        count = .allocate(capacity: 1)
        count.initialize(to: Atomic(0))
        if let trace { _ = add(trace) }
    }

    deinit {
        count.deinitialize(count: 1)
        count.deallocate()
    }

    private func add(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> Int {
        count.pointee.add(1, ordering: .relaxed)
        return state.withLock { state in
            state.nextNumber += 1
            state.handlers[state.nextNumber] = handler
            return state.nextNumber
        }
    }

    /// Calls a handler with each statement for as long as the result is kept.
    func observe(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation {
        let number = add(handler)
        return StoreObservation { [weak self] in
            guard let self else { return }
            state.withLock { _ = $0.handlers.removeValue(forKey: number) }
            count.pointee.subtract(1, ordering: .relaxed)
        }
    }

    /// Reports a run to all observers.
    func post(_ trace: StatementTrace) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(trace) }
    }
}

extension StatementWork {
    /// Takes the counts of a statement and sets them back.
    init(taking handle: OpaquePointer) {
        func take(_ counter: Int32) -> Int { Int(sqlite3_stmt_status(handle, counter, 1)) }
        self.init()
        machineSteps = take(SQLITE_STMTSTATUS_VM_STEP)
        fullScanSteps = take(SQLITE_STMTSTATUS_FULLSCAN_STEP)
        sorts = take(SQLITE_STMTSTATUS_SORT)
        automaticIndexRows = take(SQLITE_STMTSTATUS_AUTOINDEX)
    }
}

extension SQLiteStore {
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        options.observers?.observe(handler)
    }
}
