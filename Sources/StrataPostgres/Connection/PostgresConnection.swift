#if Postgres
    import Foundation
    import StrataCPostgres
    import StrataStore

    /// A connection to a server. One thread uses it at a time; a pool sees to that.
    ///
    /// Calls block their thread until the server has answered. A read can be cancelled from elsewhere: the connection asks for
    /// that while it waits, and is as good as before afterwards.
    final class PostgresConnection {
        let handle: OpaquePointer
        private let settings: PostgresSettings
        private var prepared = StatementCache()
        private let notices: NoticeBox
        /// Called after each statement: its text, the seconds that it took, and the rows that it answered with.
        var onStatement: ((String, Double, Int) -> Void)?
        /// Set while stores work within a transaction that somebody else has begun.
        var nesting: Nesting?
        /// Whether the server has not answered in time.
        private var isGivenUp = false
        /// The last error of a statement.
        private var lastFailure: PostgresError?
        /// When the connection was last used.
        var lastUse = ContinuousClock.now
        private var pace = AnswerPace()

        /// How often the connection checks whether a read was cancelled, in milliseconds.
        private static let pause: Int32 = 20
        /// How often it checks whether the server has taken too long, in milliseconds.
        private static let longPause: Int32 = 200

        /// Connects.
        /// - Throws: Class 08 if there is no server, 28 if it does not accept the user, 3D000 if there is no such database.
        init(_ settings: PostgresSettings) throws(PostgresError) {
            let parameters = try settings.parameters()
            let keys = parameters.map { strdup($0.key) } + [nil]
            let values = parameters.map { strdup($0.value) } + [nil]
            defer { for text in keys + values { free(text) } }
            let made = keys.withUnsafeBufferPointer { keys in
                values.withUnsafeBufferPointer { values in
                    PQconnectdbParams(
                        UnsafeRawPointer(keys.baseAddress)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self),
                        UnsafeRawPointer(values.baseAddress)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self), 1)
                }
            }
            guard let made else {
                throw PostgresError(sqlState: PostgresError.lostState, message: "there is no memory for a connection")
            }
            guard PQstatus(made) == CONNECTION_OK else {
                defer { PQfinish(made) }
                throw Self.connectionError(String(cString: PQerrorMessage(made)).trimmed)
            }
            handle = made
            self.settings = settings
            notices = NoticeBox(settings.onNotice)
            PQsetNoticeReceiver(made, NoticeBox.receive, Unmanaged.passUnretained(notices).toOpaque())
            try settings.checkSecurity(of: made)
            for statement in settings.startStatements { try run(statement) }
        }

        deinit { PQfinish(handle) }

        /// libpq gives no SQLSTATE for a connection that was not made, but the server's text begins with its severity.
        private static func connectionError(_ message: String) -> PostgresError {
            let states = [
                ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
                ("no pg_hba.conf entry", "28000"), ("role \"", "28000"),
                ("too many clients", "53300"), ("remaining connection slots", "53300"),
                ("the database system is", "57P03"),
            ]
            if message.contains("database \""), message.contains("does not exist") {
                return PostgresError(sqlState: "3D000", message: message)
            }
            let state = states.first { message.contains($0.0) }?.1 ?? "08001"
            return PostgresError(sqlState: state, message: message)
        }

        /// Whether the connection can be used.
        var isOpen: Bool { PQstatus(handle) == CONNECTION_OK && !isGivenUp }

        /// Whether a transaction is open, even one that has failed.
        var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

        /// The version of the server: 150018 for 15.18.
        var serverVersion: Int { Int(PQserverVersion(handle)) }

        /// The number of the server's process for this connection, by which `pg_terminate_backend` ends it.
        var backendProcess: Int32 { PQbackendPID(handle) }

        /// The socket, to wait for notifications.
        var socket: Int32 { PQsocket(handle) }

        // MARK: Statements

        /// Runs a statement that is prepared when it is first run, and stays so.
        /// - Parameter isKept: false for a statement that will not come again.
        @discardableResult
        func execute(
            _ sql: String, _ parameters: StatementParameters = StatementParameters(), isKept: Bool = true,
            cancellation: ReadCancellation? = nil
        ) throws(PostgresError) -> PostgresResult {
            let start = ContinuousClock.now
            try send(sql, parameters, isKept, cancellation)
            let result = try finish(cancellation)
            report(sql, since: start, rows: result.rowCount)
            return result
        }

        /// Runs a statement as ``execute(_:_:isKept:cancellation:)`` does, and hands on its rows while the server still sends others.
        /// - Parameters:
        ///   - isOneRow: Whether there is one row at most.
        ///   - body: Called with some rows at a time. After an error of its own it is not called again.
        /// - Returns: The error of the closure.
        func stream<E: Error>(
            _ sql: String, _ parameters: StatementParameters, isKept: Bool = true, isOneRow: Bool = false,
            cancellation: ReadCancellation? = nil, _ body: (PostgresResult) throws(E) -> Void
        ) throws(PostgresError) -> E? {
            let start = ContinuousClock.now
            try send(sql, parameters, isKept, cancellation)
            // If it fails, all rows come in one part.
            if !isOneRow { PQsetSingleRowMode(handle) }
            var rows = 0
            var fault: E?
            _ = try finish(cancellation) { part in
                rows += part.rowCount
                if fault != nil { return }
                do throws(E) { try body(part) } catch { fault = error }
            }
            report(sql, since: start, rows: rows)
            return fault
        }

        private func send(
            _ sql: String, _ parameters: StatementParameters, _ isKept: Bool, _ cancellation: ReadCancellation?
        ) throws(PostgresError) {
            if cancellation?.isCancelled == true { throw Self.cancelled }
            if isKept, preparesStatements {
                let name = try prepare(sql, parameters.types, cancellation)
                try Self.withArrays(of: parameters) { (values, lengths, formats) throws(PostgresError) in
                    try check(
                        PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1))
                }
            } else {
                try Self.withArrays(of: parameters) { (values, lengths, formats) throws(PostgresError) in
                    try check(
                        PQsendQueryParams(
                            handle, sql, Int32(parameters.count), parameters.types, values, lengths, formats, 1))
                }
            }
        }

        /// Runs statements without parameters, separated by semicolons, and drops what they answer.
        func run(_ sql: String) throws(PostgresError) {
            let start = ContinuousClock.now
            try check(PQsendQuery(handle, sql))
            _ = try finish(nil)
            report(sql, since: start, rows: 0)
        }

        /// A statement that is sent together with others.
        struct Part {
            let sql: String
            var parameters = StatementParameters()
        }

        /// Sends several statements at once and waits for all of them: one way there and back. After the first that fails, the
        /// server leaves out the others.
        @discardableResult
        func executeAll(_ parts: [Part]) throws(PostgresError) -> [PostgresResult] {
            guard parts.count > 1 else {
                return try parts.map { (part) throws(PostgresError) in try execute(part.sql, part.parameters) }
            }
            let start = ContinuousClock.now
            // Statements are prepared before any of them runs: after a failure, it would be unknown which of them exist.
            var names: [String] = []
            for part in parts {
                names.append(preparesStatements ? try prepare(part.sql, part.parameters.types) : "")
            }
            PQsetnonblocking(handle, 1)
            defer { PQsetnonblocking(handle, 0) }
            try check(PQenterPipelineMode(handle))
            for (part, name) in zip(parts, names) {
                try Self.withArrays(of: part.parameters) { (values, lengths, formats) throws(PostgresError) in
                    let count = Int32(part.parameters.count)
                    try check(
                        preparesStatements
                            ? PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
                            : PQsendQueryParams(
                                handle, part.sql, count, part.parameters.types, values, lengths, formats, 1))
                }
            }
            try check(PQpipelineSync(handle))
            var results: [PostgresResult] = []
            var failure: PostgresError?
            while true {
                try wait(nil)
                guard let raw = PQgetResult(handle) else {
                    // Between two statements. A lost connection gives no more results.
                    guard isOpen else { break }
                    continue
                }
                let status = PQresultStatus(raw)
                if status == PGRES_PIPELINE_SYNC {
                    PQclear(raw)
                    break
                }
                if let error = PostgresError(raw) {
                    failure = failure ?? error
                    PQclear(raw)
                } else if status == PGRES_PIPELINE_ABORTED {
                    PQclear(raw)
                } else {
                    results.append(PostgresResult(raw))
                }
            }
            if isOpen { PQexitPipelineMode(handle) }
            if let failure { throw isOpen ? cause(of: failure) : lost(failure.message) }
            guard isOpen else { throw lost() }
            for (part, result) in zip(parts, results) { report(part.sql, since: start, rows: result.rowCount) }
            return results
        }

        /// Sends rows to a table by `COPY … FROM STDIN (FORMAT binary)`.
        /// - Parameter fill: Called until it returns false; each time it appends some whole rows.
        func copy<E: Error>(
            _ sql: String, _ fill: (inout ByteWriter) throws(E) -> Bool
        ) throws(PostgresError) -> E? {
            let start = ContinuousClock.now
            try check(PQsendQuery(handle, sql))
            try wait(nil)
            guard let raw = PQgetResult(handle) else { throw lost() }
            guard PQresultStatus(raw) == PGRES_COPY_IN else {
                let error = PostgresError(raw)
                PQclear(raw)
                _ = try? finish(nil)
                throw error.map(cause(of:))
                    ?? PostgresError(sqlState: "0A000", message: "the server did not begin to copy")
            }
            PQclear(raw)
            var writer = ByteWriter()
            // The signature, flags and the length of an extension: none.
            writer.append("PGCOPY\n")
            for byte: UInt8 in [0xFF, 0x0D, 0x0A, 0x00] { writer.append(byte) }
            writer.append(Int32(0))
            writer.append(Int32(0))
            var fault: E?
            var isMore = true
            while isMore {
                do throws(E) {
                    isMore = try fill(&writer)
                } catch {
                    fault = error
                    break
                }
                if !isMore { writer.append(Int16(-1)) }
                let sent = writer.bytes.withUnsafeBytes { bytes in
                    PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
                }
                if sent != 1 { break }
                writer.removeAll()
            }
            PQputCopyEnd(handle, fault == nil ? nil : "a value cannot be kept")
            do throws(PostgresError) {
                let result = try finish(nil)
                report(sql, since: start, rows: result.affectedRows)
            } catch {
                if fault == nil || error.isConnectionLost { throw error }
            }
            return fault
        }

        private func report(_ sql: String, since start: ContinuousClock.Instant, rows: Int) {
            lastUse = ContinuousClock.now
            guard let onStatement else { return }
            onStatement(sql, (lastUse - start).inSeconds, rows)
        }

        // MARK: Waiting

        /// The last result of what was sent; throws the first error.
        /// - Parameter onResult: Called with each result.
        private func finish(
            _ cancellation: ReadCancellation?, onResult: (PostgresResult) -> Void = { _ in }
        ) throws(PostgresError) -> PostgresResult {
            var last: PostgresResult?
            var failure: PostgresError?
            try waitForFirst(cancellation)
            while true {
                try wait(cancellation)
                guard let raw = PQgetResult(handle) else { break }
                if let error = PostgresError(raw) {
                    failure = failure ?? error
                    PQclear(raw)
                } else {
                    let result = PostgresResult(raw)
                    onResult(result)
                    last = result
                }
            }
            if let failure { throw isOpen ? cause(of: failure) : lost(failure.message) }
            guard let last, isOpen else { throw lost() }
            return last
        }

        /// Waits until the first result of a statement is there, as ``wait(_:)`` does. Those that follow would come in smaller pieces
        /// to a thread that looks for them.
        private func waitForFirst(_ cancellation: ReadCancellation?) throws(PostgresError) {
            guard try !isAnswered() else { return }
            let start = ContinuousClock.now
            if pace.isQuick {
                if try isAnsweredSoon(since: start) { return }
                pace.noteMiss()
            }
            try wait(cancellation)
            pace.note(ContinuousClock.now - start)
        }

        /// Waits until a result is there. Sends what is left to be sent meanwhile, and asks the server to stop if a read is
        /// cancelled; the result is the server's error then.
        private func wait(_ cancellation: ReadCancellation?) throws(PostgresError) {
            var hasCancelled = false
            let end = settings.answerTimeout.map { ContinuousClock.now + $0 + .seconds(1) }
            while true {
                if let end, ContinuousClock.now > end {
                    isGivenUp = true
                    throw PostgresError(
                        sqlState: PostgresError.lostState, message: "the server did not answer in time")
                }
                let isUnsent = try flush()
                guard isUnsent || PQisBusy(handle) != 0 else { return }
                if let cancellation, !hasCancelled, cancellation.isCancelled {
                    hasCancelled = true
                    cancel()
                }
                var descriptor = pollfd(
                    fd: socket, events: Int16(POLLIN) | (isUnsent ? Int16(POLLOUT) : 0), revents: 0)
                let isWatched = cancellation != nil && !hasCancelled
                let ready = poll(&descriptor, 1, isWatched ? Self.pause : end == nil ? -1 : Self.longPause)
                guard ready >= 0 || errno == EINTR else { throw lost() }
                // Without input, libpq says that the connection is lost.
                if ready > 0, Int32(descriptor.revents) & ~POLLOUT != 0, PQconsumeInput(handle) == 0 { throw lost() }
            }
        }

        /// Sends what is left to be sent, as far as the server takes it now.
        /// - Returns: Whether a part of it is left.
        private func flush() throws(PostgresError) -> Bool {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw lost() }
            return unsent > 0
        }

        /// Whether all is sent and a result is there.
        private func isAnswered() throws(PostgresError) -> Bool { try !flush() && PQisBusy(handle) == 0 }

        /// Looks for a result for some microseconds instead of sleeping.
        private func isAnsweredSoon(since start: ContinuousClock.Instant) throws(PostgresError) -> Bool {
            repeat {
                // The server may need this core.
                sched_yield()
                guard PQconsumeInput(handle) != 0 else { throw lost() }
                if try isAnswered() { return true }
            } while ContinuousClock.now - start < AnswerPace.patience
            return false
        }

        /// Asks the server to stop what it does, by a connection of its own.
        private func cancel() {
            guard let cancel = PQgetCancel(handle) else { return }
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(cancel, &message, Int32(message.count))
            PQfreeCancel(cancel)
        }

        private func check(_ succeeded: Int32) throws(PostgresError) {
            if succeeded == 0 { throw lost() }
        }

        /// The error of a statement. If it says only that the transaction has failed before, it is the error with which that happened:
        /// an object is created even if no keys can be reserved for it, for example, and the error shows up in the save.
        private func cause(of error: PostgresError) -> PostgresError {
            if error.sqlState == PostgresError.abortedState { return lastFailure ?? error }
            lastFailure = error
            return error
        }

        func lost(_ message: String? = nil) -> PostgresError {
            let own = String(cString: PQerrorMessage(handle)).trimmed
            return PostgresError(
                sqlState: PostgresError.lostState,
                message: message ?? (own.isEmpty ? "the connection to the server is lost" : own))
        }

        private static let cancelled = PostgresError(
            sqlState: PostgresError.cancelledState, message: "the statement was cancelled before it began")

        // MARK: Prepared statements

        /// While versions of the same tables are used in turn, a statement would meet others than those it was prepared for.
        private var preparesStatements: Bool { settings.preparesStatements && nesting == nil }

        /// - Parameter cancellation: Stops the wait: to prepare a statement about a table, the server waits for its lock, too.
        private func prepare(
            _ sql: String, _ types: [UInt32], _ cancellation: ReadCancellation? = nil
        ) throws(PostgresError) -> String {
            if let known = prepared.name(of: sql) { return known }
            let (name, dropped) = prepared.add(sql)
            do throws(PostgresError) {
                if let dropped { try run("DEALLOCATE \(dropped)") }
                try check(PQsendPrepare(handle, name, sql, Int32(types.count), types))
                _ = try finish(cancellation)
            } catch {
                prepared.remove(sql)
                throw error
            }
            return name
        }

        /// Calls a closure with the parameters as libpq takes them.
        private static func withArrays(
            of parameters: StatementParameters,
            _ body: (
                UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
            ) throws(PostgresError) -> Void
        ) throws(PostgresError) {
            let lengths = parameters.ranges.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: lengths.count)
            // An empty value is not null, so it needs an address, even if no value has any bytes.
            let empty: [UInt8] = [0]
            let bytes = parameters.writer.bytes.isEmpty ? empty : parameters.writer.bytes
            let outcome: Result<Void, PostgresError> = bytes.withUnsafeBytes { buffer in
                let values: [UnsafePointer<CChar>?] = parameters.ranges.map { range in
                    range.flatMap {
                        buffer.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self)
                    }
                }
                return Result { () throws(PostgresError) in try body(values, lengths, formats) }
            }
            try outcome.get()
        }
    }
#endif
