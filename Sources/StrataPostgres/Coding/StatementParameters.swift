#if Postgres
    import Foundation

    /// The values for the parameters of a statement, in the binary format.
    struct StatementParameters {
        private(set) var writer = ByteWriter()
        /// Where each value is; nil for null.
        private(set) var ranges: [Range<Int>?] = []
        private(set) var types: [UInt32] = []

        init() {}

        var count: Int { ranges.count }

        /// Adds a value that a closure writes, without a length.
        mutating func add<E: Error>(
            _ type: UInt32, _ body: (inout ByteWriter) throws(E) -> Void
        ) throws(E) {
            let start = writer.count
            try body(&writer)
            ranges.append(start..<writer.count)
            types.append(type)
        }

        mutating func addNull(_ type: PostgresType) {
            ranges.append(nil)
            types.append(type.rawValue)
        }

        mutating func add(_ number: Int64) { add(PostgresType.integer.rawValue) { $0.append(number) } }

        mutating func add(_ number: Double) { add(PostgresType.double.rawValue) { $0.append(number) } }

        mutating func add(_ flag: Bool) { add(PostgresType.boolean.rawValue) { $0.append(UInt8(flag ? 1 : 0)) } }

        mutating func add(_ text: String?) {
            guard let text else { return addNull(.text) }
            add(PostgresType.text.rawValue) { $0.append(text) }
        }

        mutating func add(_ uuid: UUID) {
            add(PostgresType.uuid.rawValue) { writer in withUnsafeBytes(of: uuid.uuid) { writer.append($0) } }
        }

        mutating func add(_ data: Data) {
            add(PostgresType.bytes.rawValue) { writer in data.withUnsafeBytes { writer.append($0) } }
        }

        /// Adds an array without nulls.
        mutating func add(_ numbers: some Collection<Int64>) {
            addArray(of: .integer, count: numbers.count) { writer in
                for number in numbers {
                    writer.append(Int32(8))
                    writer.append(number)
                }
            }
        }

        mutating func add(_ texts: some Collection<String>) {
            addArray(of: .text, count: texts.count) { writer in
                for text in texts { writer.appendSized { $0.append(text) } }
            }
        }

        /// Adds an array whose elements a closure writes, each after its length, or -1 for null.
        mutating func addArray<E: Error>(
            of type: PostgresType, count: Int, _ body: (inout ByteWriter) throws(E) -> Void
        ) throws(E) {
            try add(type.arrayNumber) { (writer) throws(E) in
                writer.append(Int32(count == 0 ? 0 : 1))
                writer.append(Int32(1))
                writer.append(type.rawValue)
                guard count > 0 else { return }
                writer.append(Int32(count))
                writer.append(Int32(1))
                try body(&writer)
            }
        }
    }
#endif
