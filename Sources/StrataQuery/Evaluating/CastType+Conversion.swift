import Foundation

extension CastType {
    /// The type with the given name in a format. Foundation's names may stand without their `NS`.
    public init?(named name: String) {
        guard let type = CastType(rawValue: name) ?? CastType(rawValue: "NS" + name) else { return nil }
        self = type
    }

    /// The value of a cast of a constant, for those casts that stand for literals which the language lacks.
    func constant(of value: Value) -> Value? {
        switch (self, value) {
        case (.date, .integer), (.date, .double), (.decimal, .string), (.uuid, .string), (.uri, .string),
            (.data, .string), (.geoPoint, .string), (.set, .list), (.object, .integer), (.dictionary, .list):
            let constant = convert(value)
            return constant.isNull ? nil : constant
        case (.number, .string(let text)):
            return ["nan", "inf", "-inf"].contains(text) ? Double(text).map(Value.double) : nil
        default: return nil
        }
    }

    /// The value as this type; null if it has no such form.
    public func convert(_ value: Value) -> Value {
        switch self {
        case .date: date(value)
        case .number: number(value)
        case .decimal: decimal(value)
        case .string: string(value)
        case .boolean: NumberOperation(value).map { .boolean($0.asDouble != 0) } ?? .null
        case .uuid: convert(value, like: UUID.init(uuidString:), Value.uuid)
        case .uri: convert(value, like: URL.init(string:), Value.uri)
        case .data: convert(value, like: HexadecimalText.data, Value.binary)
        case .geoPoint: GeoPoint(predicateValue: value).map(Value.geoPoint) ?? .null
        case .set: elements(value).map { .set(ValueSet($0)) } ?? .null
        case .array: elements(value).map(Value.list) ?? .null
        case .object:
            if case .object = value { value } else { NumberOperation(value)?.asInteger.map(Value.object) ?? .null }
        case .dictionary: dictionary(value)
        }
    }

    private func convert<T>(_ value: Value, like read: (String) -> T?, _ make: (T) -> Value) -> Value {
        switch (value, self) {
        case (.string(let text), _): read(text).map(make) ?? .null
        case (.uuid, .uuid), (.uri, .uri), (.binary, .data): value
        default: .null
        }
    }

    private func date(_ value: Value) -> Value {
        switch value {
        case .date: return value
        case .string(let text):
            let fractions = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let date = (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractions))
            return date.map(Value.date) ?? .null
        default:
            return NumberOperation(value).map { .date(Date(timeIntervalSinceReferenceDate: $0.asDouble)) } ?? .null
        }
    }

    private func number(_ value: Value) -> Value {
        switch value {
        case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
        case .string(let text):
            if let whole = Int64(text) { return .integer(whole) }
            return Double(text).map(Value.double) ?? .null
        default: return NumberOperation(value)?.value ?? .null
        }
    }

    private func decimal(_ value: Value) -> Value {
        switch value {
        case .string("NaN"): return .decimal(.nan)
        case .string(let text): return Decimal(string: text, locale: Self.posix).map(Value.decimal) ?? .null
        case .date(let date): return finite(date.timeIntervalSinceReferenceDate)
        default:
            switch NumberOperation(value) {
            case .integer(let number): return .decimal(Decimal(number))
            case .decimal(let number): return .decimal(number)
            case .double(let number): return finite(number)
            case nil: return .null
            }
        }
    }

    private func finite(_ number: Double) -> Value { number.isFinite ? .decimal(Decimal(number)) : .null }

    private func string(_ value: Value) -> Value {
        switch value {
        case .string: value
        case .integer(let number): .string(String(number))
        case .double(let number): .string(Int64(exactly: number).map { String($0) } ?? String(number))
        case .decimal(let number): .string(number.description)
        case .boolean(let flag): .string(flag ? "1" : "0")
        case .date(let date): .string(date.formatted(.iso8601))
        case .uuid(let uuid): .string(uuid.uuidString)
        case .uri(let uri): .string(uri.absoluteString)
        case .binary(let data): .string(HexadecimalText.of(data))
        case .geoPoint(let point): .string(point.description)
        case .object(let key): .string(String(key))
        case .null, .composite, .list, .set: .null
        }
    }

    private func elements(_ value: Value) -> [Value]? {
        switch value {
        case .list(let elements): elements
        case .set(let elements): elements.members
        default: nil
        }
    }

    private func dictionary(_ value: Value) -> Value {
        if case .composite = value { return value }
        guard case .list(let parts) = value, parts.count.isMultiple(of: 2) else { return .null }
        var result: [String: Value] = [:]
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard case .string(let name) = parts[index] else { return .null }
            result[name] = parts[index + 1]
        }
        return .composite(result)
    }

    private static let posix = Locale(identifier: "en_US_POSIX")
}

extension GeoPoint {
    /// The point that a value stands for: a geo point, a list of latitude and longitude, or both as text with a comma.
    init?(predicateValue value: Value) {
        switch value {
        case .geoPoint(let point): self = point
        case .list(let parts):
            guard parts.count == 2, let latitude = NumberOperation(parts[0]), let longitude = NumberOperation(parts[1])
            else { return nil }
            self.init(latitude: latitude.asDouble, longitude: longitude.asDouble)
        case .string(let text):
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, let latitude = Double(parts[0]), let longitude = Double(parts[1]) else {
                return nil
            }
            self.init(latitude: latitude, longitude: longitude)
        default: return nil
        }
    }
}
