import Foundation

/// How a value of an attribute becomes a value of another type, in a migration. It never guesses: a value without an
/// exact form in the new type does not fit.
///
///     let conversion = ValueConversion(from: .string, to: .integer16)
///     print(conversion.convert("12") ?? "-", conversion.convert("12.5") == nil)  // 12 true
///
/// A migration uses it for every attribute whose type changes. Before you change a type, ``reach`` tells you whether
/// all values fit, some of them, or whether you need a ``MigrationStage`` with code of your own. Misfits are counted
/// before anything is changed; a ``MigrationAnswer`` says what they become. You can also use it in such code, to
/// convert values as an inferred step would.
public struct ValueConversion: Sendable, Hashable {
    /// The type before.
    public let source: AttributeType
    /// The type after.
    public let target: AttributeType

    /// Whether every value fits, or only some.
    public enum Reach: Sendable, Hashable {
        /// Every value has an exact form in the new type.
        case all
        /// Some values may not fit; they are counted before anything is changed.
        case some
        /// The bytes stay as they are; what they mean is up to the new type.
        case bytes
        /// There is no conversion; write a custom stage.
        case none
    }

    /// A conversion between two types.
    public init(from source: AttributeType, to target: AttributeType) {
        self.source = source
        self.target = target
    }

    /// Whether values have the same form in both types, so that nothing has to be written.
    public var isIdentity: Bool {
        switch (source, target) {
        case (.json, .json), (.array, .json): true
        case (.array(let before), .array(let after)): ValueConversion(from: before, to: after).isIdentity
        case _ where source == target || source.storedName == target.storedName && !isOpaque: true
        case _ where source.isInteger && target.isInteger: target.integerRange.contains(source.integerRange)
        default: (source, target) == (.float, .double)
        }
    }

    private var isOpaque: Bool { source.isOpaque || target.isOpaque }

    /// Which values fit.
    public var reach: Reach {
        if isIdentity { return .all }
        switch (source, target) {
        case (.transformable, .transformable), (.binary, .transformable), (.transformable, .binary): return .bytes
        case _ where source.isInteger && target.isInteger: return .some
        case _ where source.isInteger:
            switch target {
            case .decimal, .string: return .all
            case .double: return source == .integer16 || source == .integer32 ? .all : .some
            case .float: return source == .integer16 ? .all : .some
            case .boolean: return .some
            default: return .none
            }
        case (.boolean, .string): return .all
        case (.boolean, _) where target.isInteger: return .all
        case (.double, .string), (.float, .string), (.decimal, .string), (.uuid, .string), (.uri, .string),
            (.json, .string), (.array, .string):
            return .all
        case (.double, _) where target.isNumeric, (.float, _) where target.isNumeric,
            (.decimal, _) where target.isNumeric:
            return .some
        case (.date, .string): return .some
        case (.string, .boolean), (.string, .date), (.string, .uuid), (.string, .uri): return .some
        case (.string, _) where target.isNumeric: return .some
        default: return .none
        }
    }

    /// The value in the new type.
    /// - Returns: nil if it does not fit; ``Value/null`` for ``Value/null``.
    public func convert(_ value: Value) -> Value? {
        if value.isNull || isIdentity || reach == .bytes { return value }
        switch target {
        case .integer16, .integer32, .integer64, .integer:
            return integer(value).flatMap { target.integerRange.contains($0) ? .integer($0) : nil }
        case .double: return double(value).map(Value.double)
        case .float: return double(value).flatMap { Double(Float($0)) == $0 ? .double($0) : nil }
        case .decimal: return decimal(value).map(Value.decimal)
        case .boolean:
            switch value {
            case .integer(0), .string("false"), .string("0"): return .boolean(false)
            case .integer(1), .string("true"), .string("1"): return .boolean(true)
            default: return nil
            }
        case .string: return string(value).map(Value.string)
        case .date:
            guard case .string(let text) = value else { return nil }
            let fractions = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            return ((try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractions))).map(Value.date)
        case .uuid:
            if case .string(let text) = value { return UUID(uuidString: text).map(Value.uuid) }
            return nil
        case .uri:
            if case .string(let text) = value, let uri = URL(string: text), uri.absoluteString == text {
                return .uri(uri)
            }
            return nil
        default: return nil
        }
    }

    private func integer(_ value: Value) -> Int64? {
        switch value {
        case .integer(let number): return number
        case .boolean(let flag): return flag ? 1 : 0
        case .double(let number): return Int64(exactly: number)
        case .decimal(let number):
            let text = number.description
            return Int64(text)
        case .string(let text): return Int64(text)
        default: return nil
        }
    }

    private func double(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): return Int64(exactly: Double(number)) == number ? Double(number) : nil
        case .double(let number): return number
        case .decimal(let number):
            guard let double = Double(number.description), Decimal(string: "\(double)", locale: Self.posix) == number
            else { return nil }
            return double
        case .string(let text):
            guard let number = Double(text), number.isFinite, !text.lowercased().contains("x") else { return nil }
            return number
        default: return nil
        }
    }

    private static let posix = Locale(identifier: "en_US_POSIX")

    private func decimal(_ value: Value) -> Decimal? {
        switch value {
        case .integer(let number): return Decimal(number)
        case .double(let number): return number.isFinite ? Decimal(string: "\(number)", locale: Self.posix) : nil
        case .string(let text):
            // `Decimal(string:)` reads as far as it can.
            guard text.wholeMatch(of: /[+\-]?[0-9]+(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil else { return nil }
            return Decimal(string: text, locale: Self.posix)
        default: return nil
        }
    }

    private func string(_ value: Value) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .double(let number): return source == .float ? String(Float(number)) : String(number)
        case .decimal(let number): return number.description
        case .boolean(let flag): return String(flag)
        case .uuid(let uuid): return uuid.uuidString
        case .uri(let uri): return uri.absoluteString
        case .string(let text): return text
        case .date(let date):
            let text = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            let back = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            return back == date ? text : nil
        default: return nil
        }
    }
}

extension AttributeType {
    /// Whether the model does not know what the bytes mean.
    fileprivate var isOpaque: Bool { if case .transformable = self { true } else { false } }

    /// The whole numbers of an integer type.
    var integerRange: ClosedRange<Int64> {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }
}
