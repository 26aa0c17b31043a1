/// An attribute of an entity, as the checked model knows it: the declaration, and where its value is in rows.
///
///     guard let attribute = model.entity(named: "City")?.attribute(named: "population") else { return }
///     print(attribute.type.name, attribute.isOptional, attribute.declaration.isUnique)
///
/// Use it in code that works with any model: an editor for properties, an export, a store. You get it from
/// ``EntityDescription/attributes``, which includes inherited attributes, or ``EntityDescription/attribute(named:)``.
/// The ``declaration`` has everything that the model says about the attribute, such as rules, the default and user
/// info.
public struct AttributeDescription: Sendable, Hashable {
    /// What the model declares.
    public let declaration: Attribute
    /// The positions in ``EntityDescription/slots``: one, or one for each element of a composite.
    public let slots: Range<Int>
    /// The name of the entity that declares it: the entity itself, or one that it inherits from.
    public let declaringEntity: String

    /// The name, in camelCase.
    public var name: String { declaration.name }
    /// The type.
    public var type: AttributeType { declaration.type }
    /// Whether the value may be nil.
    public var isOptional: Bool { declaration.isOptional }
    /// Whether the value is kept only in memory.
    public var isTransient: Bool { declaration.isTransient }
    /// How the value is computed, for derived attributes.
    public var derivation: Derivation? { declaration.derivation }
}
