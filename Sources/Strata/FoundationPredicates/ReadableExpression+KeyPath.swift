import Foundation

extension PredicateExpressions.KeyPath: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let base = try reader.part(root)
        if case .identity = base, keyPath as AnyKeyPath == \ObjectID.uri { return base }
        guard case .value(let value, let owner) = base else {
            throw unreadable("it does not lead on from a property")
        }
        if let type = Root.Output.self as? any (ManagedObject & ManagedObjectProtocol).Type {
            return try property(of: value, type)
        }
        if let type = Root.Output.self as? any MemberKeyPaths.Type, let part = type.part(value, keyPath) { return part }
        if let name = (Root.Output.self as? any PredicateMembers.Type)?.propertyKeyPaths.name(of: keyPath) {
            return .value(value.appending([name]))
        }
        if let type = Root.Output.self as? any EnumValue.Type, type.isRawValue(keyPath) { return base }
        if let owner, let name = owner.propertyKeyPaths.name(of: keyPath) {
            return .value(value.appending([String(name.drop { $0 != "." }.dropFirst())]))
        }
        throw unreadable("predicates know no such property of \(Root.Output.self)")
    }

    private func property(
        of value: FetchExpression, _ type: any (ManagedObject & ManagedObjectProtocol).Type
    ) throws(UnreadablePredicateError) -> PredicatePart {
        if keyPath as AnyKeyPath == type.objectIDKeyPath { return .identity(value) }
        guard let name = type.propertyKeyPaths.name(of: keyPath) else {
            throw unreadable(
                "it is not a property of the model that predicates can use; stores cannot compute what the "
                    + "application computes, nor look into transformables")
        }
        return .value(value.appending([name]), owner: type)
    }

    private func unreadable(_ reason: String) -> UnreadablePredicateError {
        UnreadablePredicateError(part: "KeyPath from \(Root.Output.self) to \(Output.self)", reason: reason)
    }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    fileprivate static var objectIDKeyPath: AnyKeyPath { \Self.objectID }
}

extension EnumValue {
    /// Whether a key path gives the raw value of each case. The one that the compiler makes for a concrete type is not equal
    /// to that of this extension.
    fileprivate static func isRawValue(_ keyPath: AnyKeyPath) -> Bool {
        guard let keyPath = keyPath as? Swift.KeyPath<Self, RawValue> else { return false }
        return allCases.allSatisfy { $0[keyPath: keyPath] == $0.rawValue }
    }
}

/// Types with members that the one tree knows, too.
private protocol MemberKeyPaths {
    static func part(_ value: FetchExpression, _ keyPath: AnyKeyPath) -> PredicatePart?
}

extension Set: MemberKeyPaths {
    fileprivate static func part(_ value: FetchExpression, _ keyPath: AnyKeyPath) -> PredicatePart? {
        if keyPath == \Self.count { return .value(value.appending([CollectionOperator.count.rawValue])) }
        if keyPath == \Self.isEmpty { return .condition(Self.isEmpty(value)) }
        return nil
    }
}

extension Array: MemberKeyPaths {
    fileprivate static func part(_ value: FetchExpression, _ keyPath: AnyKeyPath) -> PredicatePart? {
        if keyPath == \Self.count { return .value(value.appending([CollectionOperator.count.rawValue])) }
        if keyPath == \Self.isEmpty { return .condition(Self.isEmpty(value)) }
        if keyPath == \Self.first { return .value(.index(value, .first)) }
        if keyPath == \Self.last { return .value(.index(value, .last)) }
        return nil
    }
}

extension MemberKeyPaths {
    fileprivate static func isEmpty(_ value: FetchExpression) -> FetchPredicate {
        .comparison(value.appending([CollectionOperator.count.rawValue]), .equal, .constant(.integer(0)), [])
    }
}

extension String: MemberKeyPaths {
    fileprivate static func part(_ value: FetchExpression, _ keyPath: AnyKeyPath) -> PredicatePart? {
        keyPath == \Self.isEmpty ? .condition(.comparison(value, .equal, .constant(.string("")), [])) : nil
    }
}

extension Date: MemberKeyPaths {
    fileprivate static func part(_ value: FetchExpression, _ keyPath: AnyKeyPath) -> PredicatePart? {
        keyPath == \Self.timeIntervalSinceReferenceDate ? .value(.cast(value, .number)) : nil
    }
}
