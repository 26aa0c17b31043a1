#if Postgres
    import StrataCPostgres

    /// Rows for `COPY … FROM STDIN (FORMAT binary)`
    /// (https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS).
    struct RawCopy {
        private let connection: RawConnection
        private var bytes: [UInt8] = []

        init(_ connection: RawConnection, table: String) throws {
            self.connection = connection
            try connection.run("COPY \(table) FROM STDIN (FORMAT binary)")
            bytes.reserveCapacity(1 << 17)
            bytes += Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }

        mutating func beginRow(columns: Int16) throws {
            if bytes.count > 1 << 16 { try flush() }
            append(columns)
        }

        mutating func add(_ value: Int64) {
            append(Int32(8))
            append(value)
        }

        mutating func add(_ value: Double) { add(Int64(bitPattern: value.bitPattern)) }

        mutating func add(_ value: String) {
            append(Int32(value.utf8.count))
            bytes.append(contentsOf: value.utf8)
        }

        mutating func finish() throws {
            append(Int16(-1))
            try flush()
            guard PQputCopyEnd(connection.handle, nil) == 1 else { throw connection.failure() }
            while let result = PQgetResult(connection.handle) {
                defer { PQclear(result) }
                guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw connection.failure() }
            }
        }

        private mutating func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }

        private mutating func flush() throws {
            let sent = bytes.withUnsafeBytes {
                PQputCopyData(
                    connection.handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            guard sent == 1 else { throw connection.failure() }
            bytes.removeAll(keepingCapacity: true)
        }
    }
#endif
