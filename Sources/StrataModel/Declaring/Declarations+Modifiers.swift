import Foundation

extension Attribute {
    /// The value may be nil.
    public func optional() -> Attribute { with(\.isOptional, true) }
    /// The value is kept only in memory, and lost when the object is released. Conditions cannot use it in a store.
    public func transient() -> Attribute { with(\.isTransient, true) }
    /// The store keeps an index of only this attribute: a spatial one for a geo point. For several properties, see
    /// ``Index``.
    public func indexed() -> Attribute { with(\.isIndexed, true) }
    /// No two objects may have the same value; nil is not compared. A save that violates it is a conflict; see
    /// ``MergePolicy``.
    public func unique() -> Attribute { with(\.isUnique, true) }
    /// Binary data above the store's threshold is kept in a file of its own; see
    /// `SQLiteStore.Options.externalStorageThreshold`, by default 128 KiB.
    public func externalStorage() -> Attribute { with(\.allowsExternalStorage, true) }
    /// History keeps the values that a change or a delete replaces.
    public func preservesValueInHistory() -> Attribute { with(\.isPreservedInHistory, true) }
    /// The attribute is computed, and your code can only read it; see ``Derivation``.
    public func derived(_ derivation: Derivation) -> Attribute { with(\.derivation, derivation) }
    /// New objects have this value: `.defaultValue(0)`.
    public func defaultValue(_ value: Value) -> Attribute { with(\.defaultValue, .value(value)) }
    /// Each new object gets a value of its own: `.defaultValue(.now)`.
    public func defaultValue(_ value: AttributeDefault) -> Attribute { with(\.defaultValue, value) }
    /// The names that this attribute had in earlier versions, the latest first: a store of any of them can be migrated.
    /// Without this declaration, a rename is a removal and an addition.
    public func renamed(from names: String...) -> Attribute { with(\.formerNames, names) }
    /// Custom information about the attribute, for your app.
    public func userInfo(_ info: [String: String]) -> Attribute { with(\.userInfo, info) }
    /// Describes the attribute.
    public func documented(_ text: String) -> Attribute { with(\.documentation, text) }
    /// The values are the raw values of a Swift enumeration that your app declares.
    public func enumeration(named name: String) -> Attribute { with(\.enumeration, EnumerationType(name)) }
    /// The values are the raw values of a Swift enumeration: `.enumeration(Status.self)`.
    public func enumeration<T: RawRepresentable & CaseIterable>(_ type: T.Type) -> Attribute
    where T.RawValue: AttributeValue { with(\.enumeration, EnumerationType(type)) }
    /// The values are the raw values of an enumeration.
    public func enumeration(_ type: EnumerationType?) -> Attribute { with(\.enumeration, type) }
    /// The values are weak references to objects of an entity, which may be in another store:
    /// `Attribute("city", .uri, optional: true).references("City")`. See ``Attribute/referencedEntity``.
    public func references(_ entity: String) -> Attribute { with(\.referencedEntity, entity) }
    /// The whole text must match the regular expression; see ``ValidationRules/pattern``.
    public func matching(_ pattern: String) -> Attribute { with(\.rules.pattern, pattern) }

    /// Numbers must lie in the range.
    public func range(_ range: ClosedRange<Int>) -> Attribute {
        between(.integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound)))
    }
    /// Numbers must lie in the range.
    @_disfavoredOverload
    public func range(_ range: ClosedRange<Double>) -> Attribute {
        between(.double(range.lowerBound), .double(range.upperBound))
    }
    /// Dates must lie in the range.
    public func range(_ range: ClosedRange<Date>) -> Attribute {
        between(.date(range.lowerBound), .date(range.upperBound))
    }
    /// Numbers must be at least as large as the lower bound.
    public func range(_ range: PartialRangeFrom<Int>) -> Attribute { between(.integer(Int64(range.lowerBound)), nil) }
    /// Numbers must be at least as large as the lower bound.
    @_disfavoredOverload
    public func range(_ range: PartialRangeFrom<Double>) -> Attribute { between(.double(range.lowerBound), nil) }
    /// Dates must not be before this date.
    public func range(_ range: PartialRangeFrom<Date>) -> Attribute { between(.date(range.lowerBound), nil) }
    /// Numbers must be at most as large as the upper bound.
    public func range(_ range: PartialRangeThrough<Int>) -> Attribute {
        between(nil, .integer(Int64(range.upperBound)))
    }
    /// Numbers must be at most as large as the upper bound.
    @_disfavoredOverload
    public func range(_ range: PartialRangeThrough<Double>) -> Attribute { between(nil, .double(range.upperBound)) }
    /// Dates must not be after this date.
    public func range(_ range: PartialRangeThrough<Date>) -> Attribute { between(nil, .date(range.upperBound)) }
    /// Values must lie between these bounds (inclusive); nil means no bound. Unlike a range literal, the bounds may be
    /// of any kind.
    public func range(minimum: Value?, maximum: Value?) -> Attribute { between(minimum, maximum) }

    /// The number of characters of text, bytes of binary data or elements of an array must be in the range.
    public func length(_ range: ClosedRange<Int>) -> Attribute {
        length(minimum: range.lowerBound, maximum: range.upperBound)
    }
    /// The minimum number of characters of text, bytes of binary data or elements of an array.
    public func length(_ range: PartialRangeFrom<Int>) -> Attribute { length(minimum: range.lowerBound, maximum: nil) }
    /// The maximum number of characters of text, bytes of binary data or elements of an array.
    public func length(_ range: PartialRangeThrough<Int>) -> Attribute {
        length(minimum: nil, maximum: range.upperBound)
    }
    /// The number of characters of text, bytes of binary data or elements of an array; nil means no bound.
    public func length(minimum: Int?, maximum: Int?) -> Attribute {
        with(\.rules.minimumLength, minimum).with(\.rules.maximumLength, maximum)
    }

    private func between(_ minimum: Value?, _ maximum: Value?) -> Attribute {
        with(\.rules.minimum, minimum).with(\.rules.maximum, maximum)
    }

    private func with<T>(_ field: WritableKeyPath<Attribute, T>, _ value: T) -> Attribute {
        var copy = self
        copy[keyPath: field] = value
        return copy
    }
}

extension Relationship {
    /// A to-one relationship may be nil.
    public func optional() -> Relationship { with(\.isOptional, true) }
    /// The minimum and maximum number of objects of a to-many relationship; a maximum of 0 means no limit.
    public func count(_ minimum: Int, _ maximum: Int = 0) -> Relationship {
        with(\.minimumCount, minimum).with(\.maximumCount, maximum)
    }
    /// What happens at the other end when an object is deleted.
    public func deleteRule(_ rule: DeleteRule) -> Relationship { with(\.deleteRule, rule) }
    /// The names that this relationship had in earlier versions, the latest first: a store of any of them can be migrated.
    public func renamed(from names: String...) -> Relationship { with(\.formerNames, names) }
    /// Custom information about the relationship, for your app.
    public func userInfo(_ info: [String: String]) -> Relationship { with(\.userInfo, info) }
    /// Describes the relationship.
    public func documented(_ text: String) -> Relationship { with(\.documentation, text) }

    private func with<T>(_ field: WritableKeyPath<Relationship, T>, _ value: T) -> Relationship {
        var copy = self
        copy[keyPath: field] = value
        return copy
    }
}

extension Entity {
    /// The name of the Swift class, if it is not the entity's name.
    public func className(_ name: String) -> Entity { with(\.className, name) }
    /// The generated class is a base class, named with the suffix `Base`, of a class that you write yourself.
    public func baseClass() -> Entity { with(\.generatesBaseClass, true) }
    /// The names that this entity had in earlier versions, the latest first: a store of any of them can be migrated.
    public func renamed(from names: String...) -> Entity { with(\.formerNames, names) }
    /// Custom information about the entity, for your app.
    public func userInfo(_ info: [String: String]) -> Entity { with(\.userInfo, info) }
    /// Describes the entity.
    public func documented(_ text: String) -> Entity { with(\.documentation, text) }

    private func with<T>(_ field: WritableKeyPath<Entity, T>, _ value: T) -> Entity {
        var copy = self
        copy[keyPath: field] = value
        return copy
    }
}
