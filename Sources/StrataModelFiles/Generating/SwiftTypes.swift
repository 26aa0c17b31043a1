import StrataModel

extension AttributeType {
    /// The Swift type of values that are not nil; for a composite the struct of the attribute.
    func swiftType(attribute: String) -> String {
        switch self {
        case .integer16: "Int16"
        case .integer32: "Int32"
        case .integer64: "Int64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Bool"
        case .date: "Date"
        case .binary: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .geoPoint: "GeoPoint"
        case .transformable(let name): name
        case .composite: GeneratedNames.composite(attribute)
        }
    }

    /// Whether values are kept in encoded form and are read by accessors of their own.
    var isTransformable: Bool {
        if case .transformable = self { true } else { false }
    }

    /// The elements of a composite; nil for all else.
    var elements: [CompositeElement]? {
        if case .composite(let elements) = self { elements } else { nil }
    }
}

/// The names of the accessors that `ManagedObject` has for a slot.
struct SlotAccess {
    var type: AttributeType
    var isOptional: Bool

    func read(_ slot: Int) -> String {
        let name =
            type.isTransformable
            ? (isOptional ? "_optionalTransformable" : "_transformable") : (isOptional ? "_optionalValue" : "_value")
        return "\(name)(\(slot))"
    }

    func write(_ value: String, _ slot: Int) -> String {
        let name =
            type.isTransformable
            ? (isOptional ? "_setOptionalTransformable" : "_setTransformable")
            : (isOptional ? "_setOptionalValue" : "_setValue")
        return "\(name)(\(value), \(slot))"
    }
}
