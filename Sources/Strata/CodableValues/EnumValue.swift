import StrataStore

/// A Swift enumeration that an attribute can have. Stores keep the raw value:
///
///     enum Status: String, EnumValue { case draft, live }
///
/// The model says which attributes have it, and whether the raw values are text or whole numbers. Conditions compare
/// with cases: `$0.status == .live`. A raw value in a store that no case has is a damaged value: it reads as nil, or as
/// ``AttributeValue/zeroValue`` where the model requires a value, and is kept as it is.
public protocol EnumValue: RawRepresentable, CaseIterable, Codable, RowValue, ComparableAttribute, PredicateArgument
where RawValue: RowValue & ComparableAttribute, Wrapped == Self, Kind == Self {}

extension EnumValue {
    /// The raw value, boxed.
    public var attributeValue: Value { rawValue.attributeValue }

    /// Takes the raw value of a case.
    public init?(_ value: Value) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }

    /// The case whose raw value is empty or zero; the first case if there is none.
    public static var zeroValue: Self { Self(rawValue: .zeroValue) ?? allCases[allCases.startIndex] }

    /// The raw value.
    public var predicateArgument: Value { rawValue.attributeValue }

    /// Reads a case; ``AttributeValue/zeroValue`` for a raw value that no case has.
    @inlinable
    public static func load(_ row: RowPointer, _ slot: Int) -> Self { validated(row, slot) ?? zeroValue }

    /// Reads a case; nil for a raw value that no case has.
    @inlinable
    public static func validated(_ row: RowPointer, _ slot: Int) -> Self? {
        RawValue.validated(row, slot).flatMap(Self.init(rawValue:))
    }

    /// Writes the raw value.
    @inlinable
    public func store(to slab: inout RowSlab, _ slot: Int, _ layout: @autoclosure () -> [SlotDescription]) {
        rawValue.store(to: &slab, slot, layout())
    }
}

extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped: EnumValue {
    /// The raw value, for conditions on text and numbers: `$0.status.rawValue.hasPrefix("dr")`.
    public var rawValue: ValueExpression<Operand.Wrapped.RawValue?> { ValueExpression(expression) }
}
