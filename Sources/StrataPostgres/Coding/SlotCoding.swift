#if Postgres
    import Foundation
    import StrataStore

    extension SlotStorage {
        /// The type of the columns that keep such slots.
        /// - Parameter isJSON: Whether the text is JSON, which is kept as it is written.
        func postgresType(isJSON: Bool) -> PostgresType {
            switch self {
            case .integer, .key: .integer
            case .boolean: .boolean
            case .double: .double
            case .date: .timestamp
            case .text: isJSON ? .json : .text
            case .decimal: .numeric
            case .bytes: .bytes
            case .uuid: .uuid
            case .geoPoint: .point
            }
        }
    }

    /// Why a value cannot be kept.
    enum SlotFault: Error, Sendable, Hashable {
        case notANumber
        case dateOutOfRange
        case zeroCharacter
        case malformed

        var reason: String {
            switch self {
            case .notANumber: "a value that is not a number (NaN) cannot be kept; use nil"
            case .dateOutOfRange: "PostgreSQL keeps dates from 4714-11-24 BC to 294276-12-31, and the infinite ones"
            case .zeroCharacter: "PostgreSQL cannot keep text with the character U+0000; remove it"
            case .malformed: "the value is not of the type of the attribute"
            }
        }
    }

    /// Values of packed rows in PostgreSQL's binary format, in both directions.
    enum SlotCoding {
        /// Writes the value of a slot after its length, or the length that stands for null.
        static func write(
            _ row: RowPointer, _ slot: Int, _ storage: SlotStorage, to writer: inout ByteWriter
        ) throws(SlotFault) {
            guard row.isPresent(slot) else { return writer.appendNull() }
            try writer.appendSized { (writer) throws(SlotFault) in
                try writeContent(row, slot, storage, to: &writer)
            }
        }

        private static func writeContent(
            _ row: RowPointer, _ slot: Int, _ storage: SlotStorage, to writer: inout ByteWriter
        ) throws(SlotFault) {
            switch storage {
            case .integer, .key: writer.append(row.word(slot))
            case .boolean: writer.append(UInt8(row.word(slot) == 0 ? 0 : 1))
            case .double:
                let number = Double(bitPattern: row.word(slot))
                guard !number.isNaN else { throw .notANumber }
                // Zero has no sign, as in other stores.
                writer.append(number == 0 ? 0 : number)
            case .date:
                let seconds = Double(bitPattern: row.word(slot))
                guard !seconds.isNaN else { throw .notANumber }
                guard let microseconds = TimestampCoding.microseconds(seconds) else { throw .dateOutOfRange }
                writer.append(microseconds)
            case .text:
                let bytes = row.bytes(slot)
                guard !bytes.contains(0) else { throw .zeroCharacter }
                writer.append(bytes)
            case .decimal:
                let bytes = row.bytes(slot)
                guard NumericCoding.write(bytes, to: &writer) else {
                    throw bytes.elementsEqual("NaN".utf8) ? .notANumber : .malformed
                }
            case .bytes: writer.append(row.bytes(slot))
            case .uuid:
                guard row.bytes(slot).count == 16 else { throw .malformed }
                writer.append(row.bytes(slot))
            case .geoPoint:
                let bytes = row.bytes(slot)
                guard bytes.count == 16 else { throw .malformed }
                let latitude = bytes.loadUnaligned(as: UInt64.self).littleEndian
                let longitude = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
                guard !Double(bitPattern: latitude).isNaN, !Double(bitPattern: longitude).isNaN else {
                    throw .notANumber
                }
                writer.append(longitude)
                writer.append(latitude)
            }
        }

        /// Reads a value that is not null into a slot.
        /// - Returns: false if the bytes are not a value of the type.
        static func read(
            _ bytes: UnsafeRawBufferPointer, _ slot: Int, _ storage: SlotStorage, into builder: inout RowBatchBuilder
        ) -> Bool {
            func word(_ offset: Int = 0) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            switch storage {
            case .integer, .key, .double:
                guard bytes.count == 8 else { return false }
                builder.setWord(word(), slot: slot)
            case .boolean:
                guard bytes.count == 1 else { return false }
                builder.setInteger(bytes[0] == 0 ? 0 : 1, slot: slot)
            case .date:
                guard bytes.count == 8 else { return false }
                builder.setDouble(TimestampCoding.seconds(Int64(bitPattern: word())), slot: slot)
            case .text, .bytes: builder.setBytes(bytes, slot: slot)
            case .decimal:
                guard let text = NumericCoding.text(bytes) else { return false }
                text.withUnsafeBytes { builder.setBytes($0, slot: slot) }
            case .uuid:
                guard bytes.count == 16 else { return false }
                builder.setBytes(bytes, slot: slot)
            case .geoPoint:
                guard bytes.count == 16 else { return false }
                let point = (word(8).littleEndian, word(0).littleEndian)
                withUnsafeBytes(of: point) { builder.setBytes($0, slot: slot) }
            }
            return true
        }
    }
#endif
