/// An attribute of an entity, as the checked model knows it.
public struct AttributeDescription: Sendable, Hashable {
    /// What the model declares.
    public let declaration: Attribute
    /// The slots of the attribute in rows: one, or one for each leaf of a composite.
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
