/// The Swift enumeration that the values of a string or integer attribute belong to, by their raw values.
///
///     enum Status: String, CaseIterable { case draft, live }
///
///     Entity("Article") {
///         Attribute("status", .string, default: .value("draft")).enumeration(Status.self)
///     }
///
/// If the model knows the cases, a save checks that the value is one of them. A raw value in the store that no case
/// has, written by another program or a newer version of the app, is kept; the generated property reads it as nil, or
/// as ``AttributeValue/zeroValue`` if a value is required.
///
/// Stores keep the raw value. So an attribute may become an enumeration, or get other cases, without a migration:
/// neither is part of the version hash. For Swift types that generated properties use, see ``EnumValue``.
public struct EnumerationType: Sendable, Hashable {
    /// The name of the Swift type.
    public var name: String
    /// The cases, if the model declares them: the generator then writes the type. Empty if your app declares the type.
    public var cases: [EnumerationCase]

    /// Names an enumeration.
    /// - Parameters:
    ///   - name: The name of the Swift type, which may be nested: `Article.Status`.
    ///   - cases: The cases. If there are none, your app declares the type, and saves accept every raw value.
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

/// A case of an ``EnumerationType``: its name in Swift, and the raw value that stores keep.
///
///     let level = EnumerationType("Level", cases: [EnumerationCase("low", -1), EnumerationCase("high", 10)])
///     Entity("Alarm") {
///         Attribute("level", .integer, default: .value(-1)).enumeration(level)
///     }
///
/// You declare cases if the generator is to write the enumeration. For one that your app declares,
/// ``EnumerationType/init(_:name:rawValues:)`` takes them from the Swift type. Names and raw values are each unique
/// within the enumeration, and a raw value has the type of the attribute. You can rename a case freely; a new raw value
/// leaves the old one in the rows.
public struct EnumerationCase: Sendable, Hashable {
    /// The name, in camelCase.
    public var name: String
    /// What stores keep: ``Value/string(_:)`` or ``Value/integer(_:)``.
    public var rawValue: Value

    /// Declares a case: `EnumerationCase("museum", "museum")`, `EnumerationCase("low", -1)`.
    public init(_ name: String, _ rawValue: Value) {
        self.name = name
        self.rawValue = rawValue
    }
}
