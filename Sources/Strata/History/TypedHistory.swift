extension HistoryFilter {
    /// Changes of objects of a class.
    public static func changes<T: ManagedObject>(of type: T.Type) -> HistoryFilter {
        HistoryFilter(entities: [type.entityName])
    }

    /// Changes of objects of a class, of which updates must have changed one property.
    ///
    ///     let growth = HistoryFilter.changes(of: City.self, to: City.keys.population)
    public static func changes<T: ManagedObject, V>(of type: T.Type, to key: AttributeKey<V>) -> HistoryFilter {
        HistoryFilter(entities: [type.entityName], properties: Set(key.path.names.prefix(1)))
    }

    /// The filter without the transactions of some authors.
    public func excluding(authors: String...) -> HistoryFilter {
        var copy = self
        copy.excludedAuthors.formUnion(authors)
        return copy
    }

    /// The filter with transactions of some authors only.
    public func by(_ authors: String...) -> HistoryFilter {
        var copy = self
        copy.authors = Set(authors)
        return copy
    }

    /// The filter with some kinds of changes only.
    public func kinds(_ kinds: HistoryChange.Kind...) -> HistoryFilter {
        var copy = self
        copy.kinds = Set(kinds)
        return copy
    }
}

extension HistoryChange {
    /// Whether an update changed an attribute.
    public func changed<V>(_ key: AttributeKey<V>) -> Bool { key.path.names.first.map(properties.contains) ?? false }

    /// The value of an attribute before the change; nil if it did not change, or its old values are not kept, or it was nil.
    public func oldValue<V: AttributeValue>(of key: AttributeKey<V>) -> V? {
        oldValues[key.path.names.joined(separator: ".")].flatMap { V($0) }
    }

    /// The value of an attribute before the change; nil if it did not change, or its old values are not kept, or it was nil.
    public func oldValue<V: AttributeValue>(of key: AttributeKey<V?>) -> V? {
        oldValues[key.path.names.joined(separator: ".")].flatMap { V($0) }
    }
}

extension HistoricalObject {
    /// The value of an attribute; nil if it was not of the type.
    /// - Throws: ``HistoryError/valueNotKept(entity:property:)`` if it changed since and its old values are not kept;
    ///   ``HistoryError/unknownProperty(entity:property:nearest:)``.
    public func value<V: AttributeValue>(of key: AttributeKey<V>) throws(HistoryError) -> V? {
        V(try value(of: key.path.names.joined(separator: ".")))
    }

    /// The value of an attribute.
    /// - Throws: ``HistoryError/valueNotKept(entity:property:)`` if it changed since and its old values are not kept;
    ///   ``HistoryError/unknownProperty(entity:property:nearest:)``.
    public func value<V: AttributeValue>(of key: AttributeKey<V?>) throws(HistoryError) -> V? {
        V(try value(of: key.path.names.joined(separator: ".")))
    }
}
