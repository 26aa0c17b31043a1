import Foundation

extension AttributeType {
    /// Whether a value may be in an attribute of the type. Whole numbers may stand for all numbers; nothing else is
    /// converted.
    func accepts(_ value: Value) -> Bool {
        switch (self, value) {
        case (.integer16, .integer(let number)): Int16(exactly: number) != nil
        case (.integer32, .integer(let number)): Int32(exactly: number) != nil
        case (.integer64, .integer), (.integer, .integer), (.decimal, .decimal), (.decimal, .integer),
            (.decimal, .double):
            true
        case (.double, .double), (.double, .integer), (.float, .double), (.float, .integer): true
        case (.string, .string), (.boolean, .boolean), (.date, .date), (.binary, .binary), (.uuid, .uuid), (.uri, .uri):
            true
        case (.geoPoint, .geoPoint(let point)): point.isValid
        case (.transformable, .binary): true
        case (.array(let element), .list(let values)): element.firstMisfit(in: values) == nil
        default: false
        }
    }
}

extension AttributeType {
    /// The position of the first of some values that is not an element of an array of the type. JSON, in which arrays
    /// are kept, has no infinity, and nothing that is not a number.
    package func firstMisfit(in values: [Value]) -> Int? {
        values.firstIndex { value in
            if case .double(let number) = value, !number.isFinite { return true }
            return !accepts(value)
        }
    }
}

extension Value {
    /// Why a value does not fit a type that does not accept it.
    func unfitness(for type: AttributeType) -> String {
        switch (self, type) {
        case (.integer, .integer16), (.integer, .integer32): "outside of what \(type.name) can hold"
        case (.geoPoint, .geoPoint): "no place on the earth"
        case (.list(let values), .array(let element)):
            element.firstMisfit(in: values).map {
                "an array whose element \(values[$0]) is not of type \(element.name)"
            }
                ?? "of type list, not array"
        default: "of type \(kind), not \(type.name)"
        }
    }

    /// The value as a number of any kind, for comparing bounds.
    var number: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .double(let value): value.isFinite ? Decimal(value) : nil
        case .decimal(let value): value.isNaN ? nil : value
        default: nil
        }
    }

    /// Whether a number or date is greater than another one; false for everything else.
    func isAbove(_ other: Value) -> Bool {
        if case .date(let a) = self, case .date(let b) = other { return a > b }
        guard let a = number, let b = other.number else { return false }
        return a > b
    }
}

extension ValidationRules {
    /// How a value breaks the rules, or nil. The rules themselves are sound.
    func violation(by value: Value) -> String? {
        if let minimum, minimum.isAbove(value) { return "is below the minimum \(minimum)" }
        if let maximum, value.isAbove(maximum) { return "is above the maximum \(maximum)" }
        let length: Int? =
            switch value {
            case .string(let text): text.count
            case .binary(let data): data.count
            case .list(let values): values.count
            default: nil
            }
        if let length, let minimumLength, length < minimumLength { return "is shorter than \(minimumLength)" }
        if let length, let maximumLength, length > maximumLength { return "is longer than \(maximumLength)" }
        if let pattern, case .string(let text) = value, let compiled = try? TextPattern(pattern) {
            do throws(PatternTooCostly) {
                if try !compiled.matches(text) { return "does not match '\(pattern)'" }
            } catch {
                return "takes too many steps to match with '\(pattern)'"
            }
        }
        return nil
    }
}
