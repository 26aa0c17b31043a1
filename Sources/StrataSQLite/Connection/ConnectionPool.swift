import Foundation
import StrataSQL
import StrataStore

/// The connections of a store: one that writes, some that read. Each is used by one thread at a time.
///
/// `@unchecked Sendable`: the writer is touched only while `writerLock` is held, all other state only while `condition`
/// is.
final class ConnectionPool: @unchecked Sendable {
    private let path: String
    private let readerCount: Int
    private let open: @Sendable (_ readOnly: Bool) throws(StoreError) -> Connection
    private let ownsWriter: Bool
    private let writerLock = NSLock()
    private var writer: Connection?
    private let condition = NSCondition()
    /// `condition` is the check: every read takes a connection and gives it back.
    @exclusivity(unchecked) private var idle: [Connection] = []
    private var opened = 0
    private var isClosed = false

    /// - Parameters:
    ///   - writer: The connection that writes; it reads, too, if `readerCount` is 0.
    ///   - readerCount: How many connections read.
    ///   - ownsWriter: Whether the connection that writes is closed with the pool.
    ///   - open: Opens a connection.
    init(
        path: String, writer: Connection, readerCount: Int, ownsWriter: Bool = true,
        open: @escaping @Sendable (_ readOnly: Bool) throws(StoreError) -> Connection
    ) {
        self.path = path
        self.writer = writer
        self.readerCount = readerCount
        self.ownsWriter = ownsWriter
        self.open = open
    }

    /// Runs a closure with a connection that reads. The closure must not ask for another connection.
    /// - Parameter cancellation: What may stop the closure's statements.
    func read<T>(
        _ cancellation: ReadCancellation? = nil, _ body: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        if readerCount == 0 {
            return try write { (connection) throws(StoreError) in try connection.read(cancellation, body) }
        }
        let reader = try takeReader()
        defer { giveBack(reader) }
        return try reader.read(cancellation, body)
    }

    /// Whether reads have connections of their own.
    var hasReaders: Bool { readerCount > 0 }

    /// Opens a connection that reads and is not one of the pool's: who holds it keeps nobody waiting.
    func openReader() throws(StoreError) -> Connection {
        guard !hasClosed else { throw .closed(path: path) }
        return try open(true)
    }

    /// Runs a closure with the connection that writes. The closure must not ask for another connection.
    func write<T>(_ body: (Connection) throws(StoreError) -> T) throws(StoreError) -> T {
        writerLock.lock()
        defer { writerLock.unlock() }
        guard let writer else { throw .closed(path: path) }
        return try body(writer)
    }

    /// Runs a closure with the connection that writes, unless it is in use: by this thread or by another one.
    /// - Returns: nil if it is.
    func writeUnlessBusy<T>(_ body: (Connection) throws(StoreError) -> T) throws(StoreError) -> T? {
        guard writerLock.try() else { return nil }
        defer { writerLock.unlock() }
        guard let writer else { throw .closed(path: path) }
        return try body(writer)
    }

    private func takeReader() throws(StoreError) -> Connection {
        condition.lock()
        while !isClosed, idle.isEmpty, opened >= readerCount { condition.wait() }
        if isClosed {
            condition.unlock()
            throw .closed(path: path)
        }
        if let reader = idle.popLast() {
            condition.unlock()
            return reader
        }
        opened += 1
        condition.unlock()
        do throws(StoreError) {
            return try open(true)
        } catch {
            condition.withLock {
                opened -= 1
                condition.signal()
            }
            throw error
        }
    }

    private func giveBack(_ reader: Connection) {
        condition.withLock {
            if isClosed {
                reader.close()
            } else {
                idle.append(reader)
                condition.signal()
            }
        }
    }

    /// Whether the pool has been closed.
    var hasClosed: Bool { condition.withLock { isClosed } }

    /// Closes all connections: those in use when they come back, the writer when it is free.
    func close() {
        condition.withLock {
            isClosed = true
            idle.forEach { $0.close() }
            idle.removeAll()
            condition.broadcast()
        }
        writerLock.withLock {
            if ownsWriter { writer?.close() }
            writer = nil
        }
    }
}
