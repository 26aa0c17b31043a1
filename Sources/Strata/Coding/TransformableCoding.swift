import Foundation

/// The encoded form of transformables: JSON with sorted keys, so that equal values have equal bytes.
enum TransformableCoding {
    static func encode(_ value: some TransformableValue) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(value)
    }

    /// Encodes a value of a typed accessor, which cannot throw.
    static func encodeOrTrap(_ value: some TransformableValue) -> Data {
        do {
            return try encode(value)
        } catch {
            fatalError(
                """
                a value of \(type(of: value)) cannot be stored: its encode(to:) threw \(error); make it encode every \
                value, or set the property with setValue(_:forKey:), which throws
                """)
        }
    }

    static func decode<T: TransformableValue>(_ type: T.Type, from data: Data) -> T? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(type, from: data)
    }
}
