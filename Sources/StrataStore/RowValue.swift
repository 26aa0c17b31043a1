import Foundation

/// An ``AttributeValue`` that knows its place in a packed row. All types of the model conform.
public protocol RowValue: AttributeValue {
    /// Reads the value of a slot that has one.
    static func load(_ row: RowPointer, _ slot: Int) -> Self
    /// Writes the value to a slot of a row that nobody else can see.
    /// - Parameter layout: The slots of the row's entity, asked for where the row needs more room.
    func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription])
}

extension RowValue where Self: FixedWidthInteger {
    /// Reads a whole number; the stored one clamped to the width of the type.
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Self {
        Self(clamping: Int64(bitPattern: row.word(slot)))
    }
    /// Writes a whole number.
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(UInt64(bitPattern: Int64(self)), slot, in: slab)
    }
}

extension Int16: RowValue {}
extension Int32: RowValue {}
extension Int64: RowValue {}

extension Double: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Double { Double(bitPattern: row.word(slot)) }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(bitPattern, slot, in: slab)
    }
}

extension Float: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Float { Float(Double(bitPattern: row.word(slot))) }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(Double(self).bitPattern, slot, in: slab)
    }
}

extension Bool: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Bool { row.word(slot) != 0 }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(self ? 1 : 0, slot, in: slab)
    }
}

extension Date: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: row.word(slot)))
    }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(timeIntervalSinceReferenceDate.bitPattern, slot, in: slab)
    }
}

extension String: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> String {
        String(decoding: row.bytes(slot), as: UTF8.self)
    }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        var text = self
        text.withUTF8 { RowEditing.setBytes(UnsafeRawBufferPointer($0), slot, layout: layout(), in: &slab) }
    }
}

extension URL: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> URL { URL(string: String.load(row, slot)) ?? .zeroValue }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        absoluteString.store(to: &slab, slot, layout())
    }
}

extension Decimal: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> Decimal {
        Decimal(string: String.load(row, slot), locale: Locale(identifier: "en_US_POSIX")) ?? .zeroValue
    }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        description.store(to: &slab, slot, layout())
    }
}

extension Data: RowValue {
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Data { Data(row.bytes(slot)) }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        withUnsafeBytes { RowEditing.setBytes($0, slot, layout: layout(), in: &slab) }
    }
}

extension UUID: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> UUID {
        let bytes = row.bytes(slot)
        guard bytes.count == 16 else { return .zeroValue }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        withUnsafeBytes(of: uuid) { RowEditing.setBytes($0, slot, layout: layout(), in: &slab) }
    }
}

extension GeoPoint: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> GeoPoint {
        let bytes = row.bytes(slot)
        guard bytes.count == 16 else { return .zeroValue }
        return GeoPoint(
            latitude: Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))),
            longitude: Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        )
    }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        let words = (latitude.bitPattern.littleEndian, longitude.bitPattern.littleEndian)
        withUnsafeBytes(of: words) { RowEditing.setBytes($0, slot, layout: layout(), in: &slab) }
    }
}

extension RowPointer {
    /// The value of a slot, boxed. Bytes that stand in a file of their own are given as ``Value/binary(_:)`` with the
    /// file's name.
    public func value(_ slot: SlotDescription) -> Value {
        guard isPresent(slot.index) else { return .null }
        switch slot.storage {
        case .integer: return .integer(Int64(bitPattern: word(slot.index)))
        case .double: return .double(Double.load(self, slot.index))
        case .boolean: return .boolean(Bool.load(self, slot.index))
        case .date: return .date(Date.load(self, slot.index))
        case .key: return .object(Int64(bitPattern: word(slot.index)))
        case .text: return slot.type == .uri ? .uri(URL.load(self, slot.index)) : .string(String.load(self, slot.index))
        case .decimal: return .decimal(Decimal.load(self, slot.index))
        case .bytes: return .binary(Data.load(self, slot.index))
        case .uuid: return .uuid(UUID.load(self, slot.index))
        case .geoPoint: return .geoPoint(GeoPoint.load(self, slot.index))
        }
    }
}

extension RowEditing {
    /// Writes a boxed value to a slot.
    /// - Returns: false, and the row unchanged, if the value is not of the slot's type or does not fit.
    package static func setValue(
        _ value: Value, _ slot: SlotDescription, layout: [SlotDescription], in slab: inout RowSlab
    ) -> Bool {
        if value.isNull {
            setNil(slot.index, in: slab)
            return true
        }
        guard let boxed = rowValue(value, for: slot) else { return false }
        boxed.store(to: &slab, slot.index, layout)
        return true
    }

    private static func rowValue(_ value: Value, for slot: SlotDescription) -> (any RowValue)? {
        guard let type = slot.type else {
            if case .object(let key) = value { return key }
            return nil
        }
        switch type {
        case .integer16: return Int16(value)
        case .integer32: return Int32(value)
        case .integer64: return Int64(value)
        case .decimal: return Decimal(value)
        case .double: return Double(value)
        case .float: return Float(value)
        case .string: return String(value)
        case .boolean: return Bool(value)
        case .date: return Date(value)
        case .binary, .transformable: return Data(value)
        case .uuid: return UUID(value)
        case .uri: return URL(value)
        case .geoPoint: return GeoPoint(value)
        case .composite: return nil
        }
    }
}
