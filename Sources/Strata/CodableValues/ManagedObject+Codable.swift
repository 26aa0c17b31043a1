import Foundation

// What generated accessors of attributes call that are kept as JSON.

extension ManagedObject {
    /// Reads a required value that is kept as JSON; its zero value if there is none or the text is not one of the type.
    public final func _codable<T: TransformableValue>(_ slot: Int) -> T { _optionalCodable(slot) ?? T.zeroValue }

    /// Reads an optional value that is kept as JSON; nil if the text is not one of the type.
    public final func _optionalCodable<T: Decodable>(_ slot: Int) -> T? {
        let text: String? = _optionalValue(slot)
        guard let text else { return nil }
        if let value: T = JSONCoding.value(of: text) { return value }
        reportUndecodable(slot)
        return nil
    }

    /// Writes a value as JSON.
    public final func _setCodable<T: Encodable>(_ value: T, _ slot: Int) {
        _setValue(JSONCoding.text(of: value), slot)
    }

    /// Writes an optional value as JSON.
    public final func _setOptionalCodable<T: Encodable>(_ value: T?, _ slot: Int) {
        _setOptionalValue(value.map { JSONCoding.text(of: $0) }, slot)
    }
}

extension ManagedObject {
    /// A property by name in a type that attributes keep in another form: a case of an enumeration, a `Codable` value.
    final func converted<T>(_ value: Any?, _ name: String, to type: T.Type) -> T? {
        if let type = type as? any EnumValue.Type, let raw = value as? any AttributeValue {
            return type.init(raw.attributeValue) as? T
        }
        guard let slot = binding.entity.slot(named: name), slot.type?.isJSON == true,
            let type = type as? any Decodable.Type
        else { return nil }
        return decoded(type, slot.index) as? T
    }

    private func decoded<T: Decodable>(_ type: T.Type, _ slot: Int) -> T? { _optionalCodable(slot) }
}

/// Swift values as JSON text with sorted keys, so that equal values have equal text.
enum JSONCoding {
    /// The text of a value that a typed accessor sets, which cannot throw.
    static func text(of value: some Encodable) -> String {
        do {
            return try encoded(value)
        } catch {
            fatalError(
                "\(type(of: value)) cannot be kept: its encode(to:) threw \(error); make it encode every value it can have"
            )
        }
    }

    static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<T: Decodable>(of text: String) -> T? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(T.self, from: Data(text.utf8))
    }
}
