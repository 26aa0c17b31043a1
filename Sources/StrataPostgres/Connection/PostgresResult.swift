#if Postgres
    import StrataCPostgres

    /// The answer to a statement, in the binary format.
    final class PostgresResult {
        private let result: OpaquePointer
        let rowCount: Int
        let columnCount: Int

        /// Takes a result of libpq, and frees it in the end.
        init(_ result: OpaquePointer) {
            self.result = result
            rowCount = Int(PQntuples(result))
            columnCount = Int(PQnfields(result))
        }

        deinit { PQclear(result) }

        /// The number of a column's type in `pg_type`.
        func type(_ column: Int) -> UInt32 { PQftype(result, Int32(column)) }

        /// How many rows an insert, an update or a delete has changed.
        var affectedRows: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

        func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) != 0 }

        /// The bytes of a value, which live as long as the result.
        func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), Int32(column)),
                count: Int(PQgetlength(result, Int32(row), Int32(column))))
        }

        /// A `bigint`; 0 for null.
        func integer(_ row: Int, _ column: Int) -> Int64 {
            let bytes = bytes(row, column)
            return bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
        }

        /// Text; empty for null.
        func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

        /// A `bigint[]` of one column: its values in all rows.
        func integers(_ column: Int) -> [Int64] { (0..<rowCount).map { integer($0, column) } }
    }

    extension PostgresError {
        /// The error that a result reports; nil if it reports success.
        init?(_ result: OpaquePointer) {
            switch PQresultStatus(result) {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: break
            default: return nil
            }
            func field(_ code: Character) -> String? {
                code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
            }
            let message = field("M") ?? String(cString: PQresultErrorMessage(result))
            self.init(
                sqlState: field("C") ?? Self.lostState, message: message.trimmed, detail: field("D"),
                table: field("t"), constraint: field("n"))
        }
    }

    extension String {
        /// The text without white space at its end: libpq ends its messages with a line break.
        var trimmed: String {
            var text = self
            while text.last?.isWhitespace == true { text.removeLast() }
            return text
        }
    }
#endif
