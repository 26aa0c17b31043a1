/// The Swift enumeration that the values of a string or integer attribute belong to, by their raw values.
///
/// Stores keep the raw value. So an attribute may become an enumeration, or get other cases, without a migration: neither
/// is part of the version hash.
public struct EnumerationType: Sendable, Hashable {
    /// The name of the Swift type.
    public var name: String
    /// The cases, if the model declares them: the generator then writes the type. Empty if your app declares the type.
    public var cases: [EnumerationCase]

    /// Names an enumeration.
    public init(_ name: String, cases: [EnumerationCase] = []) {
        self.name = name
        self.cases = cases
    }

    /// The enumeration of a Swift type, with its cases as they are.
    /// - Parameters:
    ///   - type: The Swift type.
    ///   - name: How it is called in messages and model files; nil for the name of the type.
    ///   - rawValues: The type of the raw values, for code that wants the compiler to check it.
    public init<T: RawRepresentable & CaseIterable>(
        _ type: T.Type, name: String? = nil, rawValues: T.RawValue.Type = T.RawValue.self
    ) where T.RawValue: AttributeValue {
        self.init(
            name ?? String(describing: type),
            cases: type.allCases.map { EnumerationCase(String(describing: $0), $0.rawValue.attributeValue) })
    }

    /// Whether a value is the raw value of a case; true for every value if the model does not know the cases.
    public func contains(_ value: Value) -> Bool { cases.isEmpty || cases.contains { $0.rawValue == value } }
}

/// A case of an ``EnumerationType``.
public struct EnumerationCase: Sendable, Hashable {
    /// The name, in camelCase.
    public var name: String
    /// What stores keep: ``Value/string(_:)`` or ``Value/integer(_:)``.
    public var rawValue: Value

    /// Declares a case.
    public init(_ name: String, _ rawValue: Value) {
        self.name = name
        self.rawValue = rawValue
    }
}
