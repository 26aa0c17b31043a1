import StrataModel

extension AttributeDescription {
    /// The Swift type of values that are not nil.
    func swiftType(in model: ManagedObjectModel) -> String {
        if let entity = declaration.referencedEntity.flatMap(model.entity(named:)) {
            return "ObjectReference<\(GeneratedNames.userClass(entity.declaration))>"
        }
        return declaration.enumeration?.name ?? type.swiftType(attribute: name)
    }
}

extension CompositeElement {
    /// The Swift type of values that are not nil.
    var swiftType: String { enumeration?.name ?? type.swiftType(attribute: name) }
}

extension AttributeType {
    /// The Swift type of values that are not nil; for a composite the struct of the attribute.
    func swiftType(attribute: String) -> String {
        switch self {
        case .integer16: "Int16"
        case .integer32: "Int32"
        case .integer64: "Int64"
        case .integer: "Int"
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
        case .json(let type): type.name
        case .array(let element): "[\(element.swiftType(attribute: attribute))]"
        case .composite: GeneratedNames.composite(attribute)
        }
    }

    /// Whether values are kept in encoded form and are read by accessors of their own.
    var isTransformable: Bool {
        if case .transformable = self { true } else { false }
    }

    /// Whether values are of a `Codable` type and are read by accessors of their own.
    var isEncoded: Bool { isTransformable || isJSON }

    /// The elements of a composite; nil for everything else.
    var elements: [CompositeElement]? {
        if case .composite(let elements) = self { elements } else { nil }
    }
}

/// The names of the accessors that `ManagedObject` has for a slot.
struct SlotAccess {
    var type: AttributeType
    var isOptional: Bool

    private var kind: String {
        switch type {
        case .transformable: "Transformable"
        case .json: "Codable"
        case .array: "Array"
        default: "Value"
        }
    }

    func read(_ slot: Int) -> String {
        "\(isOptional ? "_optional\(kind)" : "_" + kind.prefix(1).lowercased() + kind.dropFirst())(\(slot))"
    }

    func write(_ value: String, _ slot: Int) -> String {
        "_set\(isOptional ? "Optional" : "")\(kind)(\(value), \(slot))"
    }
}
