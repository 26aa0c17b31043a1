#if Postgres
    /// Collects bytes in network order, as the binary format has them.
    struct ByteWriter {
        private(set) var bytes: [UInt8] = []

        var count: Int { bytes.count }

        mutating func append<T: FixedWidthInteger>(_ number: T) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func append(_ number: Double) { append(number.bitPattern) }

        mutating func append(_ buffer: UnsafeRawBufferPointer) { bytes.append(contentsOf: buffer) }

        mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

        /// Appends a value after its length, which is known only afterwards.
        mutating func appendSized<E: Error>(_ body: (inout ByteWriter) throws(E) -> Void) throws(E) {
            let start = bytes.count
            append(Int32(0))
            try body(&self)
            set(Int32(bytes.count - start - 4), at: start)
        }

        /// Appends the length that stands for null.
        mutating func appendNull() { append(Int32(-1)) }

        /// Appends a `bigint` after its length, or the length that stands for null.
        mutating func appendOptional(_ number: Int64?) {
            guard let number else { return appendNull() }
            append(Int32(8))
            append(number)
        }

        mutating func set(_ number: Int32, at position: Int) {
            withUnsafeBytes(of: number.bigEndian) { source in
                for (offset, byte) in source.enumerated() { bytes[position + offset] = byte }
            }
        }

        mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
    }
#endif
