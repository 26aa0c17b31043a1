#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// The parameters of compiled fetches in PostgreSQL's binary format.
    enum ParameterCoding {
        /// Encodes the values that a fetch has for its parameters.
        /// - Throws: ``StoreError/unsupported(store:feature:)`` for a value that PostgreSQL would change, or cannot hold: such a fetch
        ///   is evaluated in memory.
        static func encode(
            _ list: [FetchParameter], _ constants: [Value]
        ) throws(StoreError) -> StatementParameters {
            var result = StatementParameters()
            for parameter in list {
                guard let kind = parameter.kind else { throw unsupported("so many constants") }
                let value = try parameter.value(constants)
                if parameter.isList {
                    try addList(value, kind, to: &result)
                } else if case .null = value {
                    result.addNull(type(kind))
                } else {
                    try result.add(type(kind).rawValue) { (writer) throws(StoreError) in
                        try write(value, kind, to: &writer)
                    }
                }
            }
            return result
        }

        private static func unsupported(_ what: String) -> StoreError {
            .unsupported(store: "PostgreSQL", feature: "\(what) as a parameter")
        }

        private static func type(_ kind: SQLKind) -> PostgresType {
            switch kind {
            case .integer, .object: .integer
            case .double: .double
            case .boolean: .boolean
            case .number, .decimal: .numeric
            case .text, .uri: .text
            case .date: .timestamp
            case .uuid: .uuid
            case .point: .point
            case .json: .json
            case .bytes, .external: .bytes
            }
        }

        private static func addList(
            _ value: SQLValue, _ kind: SQLKind, to result: inout StatementParameters
        ) throws(StoreError) {
            guard case .list(let list) = value else { throw unsupported("a list") }
            try result.addArray(of: type(kind), count: list.count) { (writer) throws(StoreError) in
                for key in list.keys {
                    try writer.appendSized { (writer) throws(StoreError) in
                        try write(.integer(key), kind, to: &writer)
                    }
                }
                for value in list.values {
                    if case .null = value {
                        writer.appendNull()
                    } else {
                        try writer.appendSized { (writer) throws(StoreError) in
                            try write(value, kind, to: &writer)
                        }
                    }
                }
            }
        }

        private static func write(
            _ value: SQLValue, _ kind: SQLKind, to writer: inout ByteWriter
        ) throws(StoreError) {
            switch (kind, value) {
            case (.integer, .integer(let number)), (.object, .integer(let number)): writer.append(number)
            case (.boolean, .integer(let number)): writer.append(UInt8(number == 0 ? 0 : 1))
            case (.double, .double(let number)): writer.append(number)
            case (.double, .integer(let number)): writer.append(Double(number))
            case (.number, _), (.decimal, _): try writeNumeric(value, to: &writer)
            case (.text, _), (.uri, _), (.json, _): try writeText(value, to: &writer)
            case (.date, .double(let seconds)):
                guard TimestampCoding.isExact(seconds), let number = TimestampCoding.microseconds(seconds) else {
                    throw unsupported("a date between two microseconds")
                }
                writer.append(number)
            case (.uuid, .blob(let data)), (.bytes, .blob(let data)), (.external, .blob(let data)):
                data.withUnsafeBytes { writer.append($0) }
            case (.point, .blob(let data)) where data.count == 16:
                data.withUnsafeBytes { bytes in
                    writer.append(bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian)
                    writer.append(bytes.loadUnaligned(as: UInt64.self).littleEndian)
                }
            default: throw unsupported("a value of another kind")
            }
        }

        private static func writeText(_ value: SQLValue, to writer: inout ByteWriter) throws(StoreError) {
            let bytes: [UInt8]
            switch value {
            case .text(let text): bytes = Array(text.utf8)
            case .utf8(let raw): bytes = raw
            default: throw unsupported("a value of another kind")
            }
            // The end of a range need not be text.
            guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
                throw unsupported("such a text")
            }
            bytes.withUnsafeBytes { writer.append($0) }
        }

        private static func writeNumeric(_ value: SQLValue, to writer: inout ByteWriter) throws(StoreError) {
            let text: String
            switch value {
            case .integer(let number): text = String(number)
            case .text(let number): text = number
            case .double(let number):
                guard number.isFinite else { throw unsupported("a number that is not finite") }
                text = Int64(exactly: number).map { String($0) } ?? plain(number)
            default: throw unsupported("a value of another kind")
            }
            let isNumber = Array(text.utf8).withUnsafeBytes { NumericCoding.write($0, to: &writer) }
            guard isNumber else { throw unsupported("the number \(text)") }
        }

        /// The shortest decimal text of a number, without an exponent.
        private static func plain(_ number: Double) -> String {
            let parts = "\(number.magnitude)".split(separator: "e")
            guard parts.count == 2, let exponent = Int(parts[1]) else { return "\(number)" }
            let digits = parts[0].split(separator: ".")
            let whole = String(digits[0])
            let fraction = digits.count > 1 && digits[1] != "0" ? String(digits[1]) : ""
            let all = whole + fraction
            let point = whole.count + exponent
            let sign = number < 0 ? "-" : ""
            if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + all }
            if point >= all.count { return sign + all + String(repeating: "0", count: point - all.count) }
            return sign + String(all.prefix(point)) + "." + String(all.dropFirst(point))
        }
    }
#endif
