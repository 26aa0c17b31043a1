#if Server
    import Foundation
    import StrataWire

    extension JSONValue {
        /// A number as the dialect's other servers spell it: a whole one without a fraction.
        static func number(_ number: Double) -> JSONValue {
            guard abs(number) < 1e15, let whole = Int64(exactly: number) else { return .double(number) }
            return .integer(whole)
        }

        /// The value with all numbers as ``number(_:)`` has them, so that equal numbers are equal values.
        var withPlainNumbers: JSONValue {
            switch self {
            case .double(let number): .number(number)
            case .array(let elements): .array(elements.map(\.withPlainNumbers))
            case .object(let members): .object(members.mapValues(\.withPlainNumbers))
            case .null, .boolean, .integer, .decimal, .string: self
            }
        }

        /// Whether this is a number that is not whole.
        var hasFraction: Bool {
            switch self {
            case .double(let number): number.rounded() != number
            case .decimal(let number): number.description.contains(".")
            default: false
            }
        }

        /// The text that the store keeps of a value.
        /// - Throws: ``ServerError`` 400 for what JSON cannot spell.
        func stored() throws(ServerError) -> String {
            do throws(JSONWritingError) {
                return try text(sortingNames: true)
            } catch {
                throw .badRequest("A value cannot be kept: \(error).")
            }
        }

        /// The value of a text that the store keeps; nil if there is none.
        static func ofStored(_ text: String?) -> JSONValue? { text.flatMap { try? JSONValue(parsing: $0) } }
    }
#endif
