import Foundation

/// Values that come from outside without a type: what dictionaries and JSON have in the place of an attribute's type.
enum ImportedValue {
    /// Whether a value stands for nil.
    static func isNull(_ value: Any) -> Bool { value is NSNull || (value as? Value)?.isNull == true }

    /// The value for a slot.
    ///
    /// Numbers of other types count if nothing is lost. Text counts for dates in ISO 8601, for UUIDs, URIs and decimal
    /// numbers, and in Base64 for bytes.
    /// - Returns: nil if it does not fit.
    static func value(_ value: Any, _ slot: SlotDescription) -> Value? {
        guard let boxed = boxed(value, slot.type), !boxed.isNull, Unboxed.fits(boxed, slot) else { return nil }
        return boxed
    }

    private static func boxed(_ value: Any, _ type: AttributeType?) -> Value? {
        if type?.isJSON == true { return JSONFragment(untyped: value)?.value ?? Unboxed.value(value, type) }
        if let text = value as? String { return boxed(text, type) }
        if let boxed = Unboxed.value(value, type) { return boxed }
        if let number = value as? NSNumber { return boxed(number, type) }
        return nil
    }

    private static func boxed(_ text: String, _ type: AttributeType?) -> Value? {
        switch type {
        case .date?: date(text).map(Value.date)
        case .uuid?: UUID(uuidString: text).map(Value.uuid)
        case .uri?: URL(string: text).map(Value.uri)
        case .decimal?: decimal(text).map(Value.decimal)
        case .binary?: Data(base64Encoded: text).map(Value.binary)
        case .transformable?: Unboxed.value(text, type)
        default: .string(text)
        }
    }

    private static func boxed(_ number: NSNumber, _ type: AttributeType?) -> Value? {
        switch type {
        case .boolean?: .boolean(number.boolValue)
        case .decimal?: .decimal(number.decimalValue)
        case .double?, .float?: .double(number.doubleValue)
        default:
            Int64(exactly: number.doubleValue) == nil && number.doubleValue.magnitude < 1e15
                ? nil : .integer(number.int64Value)
        }
    }

    /// A date in ISO 8601, with or without fractions of a second.
    static func date(_ text: String) -> Date? {
        (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// A decimal number; nil unless the whole text is one.
    private static func decimal(_ text: String) -> Decimal? {
        guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil,
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN
        else { return nil }
        return number
    }
}
