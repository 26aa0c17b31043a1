import Foundation

extension RowPointer {
    /// The value of a slot, boxed. JSON is given by its content; see ``JSONType``. Bytes that are in a file of their
    /// own are given as ``Value/binary(_:)`` with the file's name. Content that is not a value of the slot's type is
    /// given as the store holds it if a ``Value`` can express it, a number that is too wide for instance, and as nil
    /// otherwise; see ``damagedValue(_:of:)``.
    public func value(_ slot: SlotDescription) -> Value {
        guard isPresent(slot.index) else { return .null }
        switch slot.storage {
        case .integer: return .integer(Int64(bitPattern: word(slot.index)))
        case .double: return .double(Double.load(self, slot.index))
        case .boolean:
            return Bool.validated(self, slot.index).map(Value.boolean)
                ?? .integer(Int64(bitPattern: word(slot.index)))
        case .date: return .date(Date.load(self, slot.index))
        case .key: return .object(Int64(bitPattern: word(slot.index)))
        case .text:
            // What is not JSON has no members.
            if slot.type?.isJSON == true { return JSONText.value(of: bytes(slot.index)) ?? .null }
            let uri = slot.type == .uri ? URL.validated(self, slot.index) : nil
            return uri.map(Value.uri) ?? .string(String.load(self, slot.index))
        case .decimal: return Decimal.validated(self, slot.index).map(Value.decimal) ?? .null
        case .bytes: return .binary(Data.load(self, slot.index))
        case .uuid: return UUID.validated(self, slot.index).map(Value.uuid) ?? .null
        case .geoPoint: return GeoPoint.validated(self, slot.index).map(Value.geoPoint) ?? .null
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

    /// Whether ``setValue(_:_:layout:in:)`` would write a value.
    package static func accepts(_ value: Value, _ slot: SlotDescription) -> Bool {
        value.isNull || rowValue(value, for: slot) != nil
    }

    private static func rowValue(_ value: Value, for slot: SlotDescription) -> (any RowValue)? {
        guard let type = slot.type else {
            if case .object(let key) = value { return key }
            return nil
        }
        switch type {
        case .integer16: return Int16(value)
        case .integer32: return Int32(value)
        case .integer64, .integer: return Int64(value)
        case .decimal: return Decimal(value)
        case .double: return Double(value)
        case .float: return Float(value)
        case .string: return String(value)
        case .boolean: return Bool(value)
        case .date: return Date(value)
        case .binary, .transformable: return Data(value)
        case .uuid: return UUID(value)
        case .uri: return URL(value)
        case .json: return JSONText.text(of: value)
        case .array(let element):
            guard case .list(let elements) = value, element.firstMisfit(in: elements) == nil else { return nil }
            return JSONText.text(of: value)
        case .geoPoint: return GeoPoint(value)
        case .composite: return nil
        }
    }
}
