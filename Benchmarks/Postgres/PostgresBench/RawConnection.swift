#if Postgres
    import Foundation
    import StrataCPostgres

    /// libpq, with no more around it than a hand-written program would have.
    final class RawConnection {
        struct Failure: Error, CustomStringConvertible {
            let description: String
        }

        let handle: OpaquePointer

        init(_ url: String) throws {
            guard let made = PQconnectdb(url) else { throw Failure(description: "there is no memory for a connection") }
            handle = made
            guard PQstatus(made) == CONNECTION_OK else { throw failure() }
            try run("SET client_min_messages TO warning")
        }

        deinit { PQfinish(handle) }

        /// The last error of the connection.
        func failure() -> Failure { Failure(description: String(cString: PQerrorMessage(handle))) }

        /// Runs statements that answer nothing.
        func run(_ sql: String) throws {
            let result = PQexec(handle, sql)
            defer { PQclear(result) }
            guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN].contains(PQresultStatus(result)) else {
                throw failure()
            }
        }

        /// Runs a query with text parameters; the answer is binary.
        func query(_ sql: String, _ texts: [String] = []) throws -> RawResult {
            try withPointers(texts) { values in
                try answer(PQexecParams(handle, sql, Int32(texts.count), nil, values, nil, nil, 1))
            }
        }

        /// Prepares a statement.
        func prepare(_ name: String, _ sql: String) throws {
            let result = PQprepare(handle, name, sql, 0, nil)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure() }
        }

        /// Runs a prepared query with one text parameter.
        func execute(_ name: String, _ text: String) throws -> RawResult {
            try text.withCString { pointer in
                var value: UnsafePointer<CChar>? = pointer
                return try answer(PQexecPrepared(handle, name, 1, &value, nil, nil, 1))
            }
        }

        private func answer(_ result: OpaquePointer?) throws -> RawResult {
            guard let result, PQresultStatus(result) == PGRES_TUPLES_OK else {
                PQclear(result)
                throw failure()
            }
            return RawResult(handle: result)
        }

        private func withPointers<R>(
            _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) throws -> R
        ) rethrows -> R {
            let copies = texts.map { strdup($0) }
            defer { for copy in copies { free(copy) } }
            return try copies.map { UnsafePointer($0) }.withUnsafeBufferPointer { try body($0.baseAddress) }
        }
    }

    /// Rows in binary form.
    final class RawResult {
        private let handle: OpaquePointer

        init(handle: OpaquePointer) { self.handle = handle }
        deinit { PQclear(handle) }

        var count: Int32 { PQntuples(handle) }

        func integer(_ row: Int32, _ column: Int32) -> Int64 {
            Int64(bigEndian: UnsafeRawPointer(PQgetvalue(handle, row, column)).loadUnaligned(as: Int64.self))
        }

        func double(_ row: Int32, _ column: Int32) -> Double {
            Double(bitPattern: UInt64(bitPattern: integer(row, column)))
        }

        /// A copy of the text, as a program keeps it.
        func text(_ row: Int32, _ column: Int32) -> String {
            let length = Int(PQgetlength(handle, row, column))
            return UnsafeRawPointer(PQgetvalue(handle, row, column)).withMemoryRebound(to: UInt8.self, capacity: length)
            {
                String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
            }
        }
    }
#endif
