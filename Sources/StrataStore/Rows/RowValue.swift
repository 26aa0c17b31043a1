import Foundation

/// An ``AttributeValue`` that knows its place in a packed row. All types that a model can declare conform.
///
/// Generated accessors read and write rows through it, so that a value goes from the row to the property without boxing. You do
/// not conform types to it: enumerations, `Codable` types and transformables have forms that the model stores as one of the
/// types that conform.
///
/// Reading never fails. ``load(_:_:)`` gives the zero of the type, or the nearest value, for content that is not a value of the
/// type; ``validated(_:_:)`` gives nil, by which a ``DamagedValue`` is found.
public protocol RowValue: AttributeValue {
    /// Reads the value of a slot that has one. What is not a value of the type reads as ``AttributeValue/zeroValue``, or as
    /// the nearest value; see ``RowValue/validated(_:_:)``.
    static func load(_ row: RowPointer, _ slot: Int) -> Self
    /// Reads the value of a slot that has one.
    /// - Returns: nil if the slot holds what is not a value of the type; see ``DamagedValue``.
    static func validated(_ row: RowPointer, _ slot: Int) -> Self?
    /// Writes the value to a slot of a row that nobody else can see.
    /// - Parameter layout: The slots of the row's entity, asked for where the row needs more room.
    func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription])
}

extension RowValue {
    /// Everything that the slot can hold is a value of the type.
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Self? { load(row, slot) }
}

extension RowValue where Self: FixedWidthInteger {
    /// Reads a whole number that fits the width of the type.
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Self? {
        Self(exactly: Int64(bitPattern: row.word(slot)))
    }
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
extension Int: RowValue {}

extension Double: RowValue {
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Double? {
        let number = load(row, slot)
        return number.isNaN ? nil : number
    }
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Double { Double(bitPattern: row.word(slot)) }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(bitPattern, slot, in: slab)
    }
}

extension Float: RowValue {
    /// Reads a number that the type can hold, if perhaps with fewer digits.
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Float? {
        let number = Double(bitPattern: row.word(slot))
        let narrow = Float(number)
        return number.isNaN || narrow.isInfinite != number.isInfinite ? nil : narrow
    }
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Float { Float(Double(bitPattern: row.word(slot))) }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(Double(self).bitPattern, slot, in: slab)
    }
}

extension Bool: RowValue {
    /// Reads 0 or 1.
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Bool? {
        let word = row.word(slot)
        return word > 1 ? nil : word == 1
    }
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Bool { row.word(slot) != 0 }
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        RowEditing.setWord(self ? 1 : 0, slot, in: slab)
    }
}

extension Date: RowValue {
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Date? {
        let date = load(row, slot)
        return date.timeIntervalSinceReferenceDate.isNaN ? nil : date
    }
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
    public static func load(_ row: RowPointer, _ slot: Int) -> URL { validated(row, slot) ?? .zeroValue }
    /// Reads a URI that can be parsed.
    public static func validated(_ row: RowPointer, _ slot: Int) -> URL? { URL(string: String.load(row, slot)) }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        absoluteString.store(to: &slab, slot, layout())
    }
}

extension Decimal: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> Decimal {
        validated(row, slot) ?? (row.bytes(slot).elementsEqual("NaN".utf8) ? .nan : .zeroValue)
    }
    /// Reads a number that the type can hold.
    public static func validated(_ row: RowPointer, _ slot: Int) -> Decimal? {
        let number = Decimal(string: String.load(row, slot), locale: Locale(identifier: "en_US_POSIX"))
        return number?.isNaN == true ? nil : number
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
    public static func load(_ row: RowPointer, _ slot: Int) -> UUID { validated(row, slot) ?? .zeroValue }
    public static func validated(_ row: RowPointer, _ slot: Int) -> UUID? {
        let bytes = row.bytes(slot)
        guard bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        withUnsafeBytes(of: uuid) { RowEditing.setBytes($0, slot, layout: layout(), in: &slab) }
    }
}

extension GeoPoint: RowValue {
    public static func load(_ row: RowPointer, _ slot: Int) -> GeoPoint { validated(row, slot) ?? .zeroValue }
    /// Reads two coordinates, in or out of their ranges.
    public static func validated(_ row: RowPointer, _ slot: Int) -> GeoPoint? {
        let bytes = row.bytes(slot)
        guard bytes.count == 16 else { return nil }
        let point = GeoPoint(
            latitude: Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))),
            longitude: Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        )
        return point.latitude.isNaN || point.longitude.isNaN ? nil : point
    }
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        let words = (latitude.bitPattern.littleEndian, longitude.bitPattern.littleEndian)
        withUnsafeBytes(of: words) { RowEditing.setBytes($0, slot, layout: layout(), in: &slab) }
    }
}
