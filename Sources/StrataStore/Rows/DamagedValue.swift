import Foundation

/// A stored value that is not a value of its attribute: a number outside of the attribute's width, text that is not a URI or no
/// JSON, a raw value that no case of the enumeration has.
///
///     context.onFaultError = { error, object in
///         guard case .damagedValue(let damage) = error else { return }
///         print("\(damage.entity).\(damage.property) of \(damage.key) holds \(damage.content)")
///     }
///
/// A shell, another program or a damaged disk may leave such values. A fetch brings their rows all the same, and the row keeps
/// what the store holds, so that a save of other properties writes nothing in its place. Code that reads the value calls
/// `RowValue.validated(_:_:)` and reports damage with this type, once for each object and property. The property reads as nil
/// or zero until you set it; to repair the value, assign another one and save.
public struct DamagedValue: Error, Sendable, Hashable {
    /// The name of the entity.
    public let entity: String
    /// The name of the attribute; `address.street` for the element of a composite.
    public let property: String
    /// The key of the object.
    public let key: Int64
    /// The type that the value should have.
    public let type: AttributeType
    /// What the store holds, as far as a ``Value`` can say it: a number, text or bytes.
    public let content: Value

    /// Names a damaged value.
    package init(entity: String, property: String, key: Int64, type: AttributeType, content: Value) {
        self.entity = entity
        self.property = property
        self.key = key
        self.type = type
        self.content = content
    }
}

extension DamagedValue: CustomStringConvertible {
    /// Describes the value and what to do.
    public var description: String {
        "\(entity).\(property) of object \(key) holds \(content), which is not a value of type \(type.name); "
            + "it reads as nil or zero until another value is set"
    }
}

extension RowPointer {
    /// What a slot holds that is not a value of its type; nil if all is well, or if there is no value.
    ///
    /// Costs as much as reading the value. A store refuses values of another kind altogether, so that this is about those
    /// that fit the layout of the row.
    /// - Parameter entity: The entity of the row.
    public func damagedValue(_ slot: SlotDescription, of entity: EntityDescription) -> DamagedValue? {
        guard let type = slot.type, isPresent(slot.index), !isExternal(slot) else { return nil }
        if isValid(slot.index, type), slot.enumeration?.contains(value(slot)) ?? true { return nil }
        return DamagedValue(entity: entity.name, property: slot.name, key: key, type: type, content: content(of: slot))
    }

    private func isExternal(_ slot: SlotDescription) -> Bool { !slot.storage.isInline && isExternal(slot.index) }

    private func isValid(_ slot: Int, _ type: AttributeType) -> Bool {
        switch type {
        case .integer16: Int16.validated(self, slot) != nil
        case .integer32: Int32.validated(self, slot) != nil
        case .decimal: Decimal.validated(self, slot) != nil
        case .double: Double.validated(self, slot) != nil
        case .float: Float.validated(self, slot) != nil
        case .boolean: Bool.validated(self, slot) != nil
        case .date: Date.validated(self, slot) != nil
        case .uuid: UUID.validated(self, slot) != nil
        case .uri: URL.validated(self, slot) != nil
        case .geoPoint: GeoPoint.validated(self, slot) != nil
        case .json: JSONText.value(of: bytes(slot)) != nil
        case .array(let element):
            if case .list(let elements)? = JSONText.value(of: bytes(slot)) {
                element.firstMisfit(in: elements) == nil
            } else {
                false
            }
        case .integer64, .integer, .string, .binary, .transformable, .composite: true
        }
    }

    /// What a slot holds, whether or not it is a value of its type.
    private func content(of slot: SlotDescription) -> Value {
        switch slot.storage {
        case .integer, .boolean, .key: .integer(Int64(bitPattern: word(slot.index)))
        case .double, .date: .double(Double(bitPattern: word(slot.index)))
        case .text, .decimal: .string(String(decoding: bytes(slot.index), as: UTF8.self))
        case .bytes, .uuid, .geoPoint: .binary(Data(bytes(slot.index)))
        }
    }
}

extension RowReference {
    /// What a slot holds that is not a value of its type; see ``RowPointer/damagedValue(_:of:)``.
    public func damagedValue(_ slot: SlotDescription, of entity: EntityDescription) -> DamagedValue? {
        withExtendedLifetime(slab) { row.damagedValue(slot, of: entity) }
    }
}
