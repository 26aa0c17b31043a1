import Foundation

/// A type whose values can be arguments for `%@`, `%K` and the other specifiers of a format.
///
///     struct ISBN: PredicateArgument {
///         var digits: String
///         var predicateArgument: Value { .string(digits) }
///     }
///     try FetchPredicate(format: "isbn == %@ OR title IN %@", ISBN(digits: "9780140449136"), ["Emma", "Dune"])
///
/// The types of attributes conform, with their optionals, arrays, sets and closed ranges, and so do objects, their IDs
/// and cases of an ``EnumValue``. Conform a type of your own that wraps one of these.
///
/// An argument is a value; its text is never parsed, so what a user enters cannot change the condition. Only `%K` takes
/// a key path: give it names that your code chooses.
public protocol PredicateArgument {
    /// The argument as a value.
    var predicateArgument: Value { get }
}

extension Value: PredicateArgument {
    /// The value itself. Use `Value` where elements of several kinds are in one list.
    public var predicateArgument: Value { self }
}

extension String: PredicateArgument {
    /// Text.
    public var predicateArgument: Value { .string(self) }
}

extension Bool: PredicateArgument {
    /// A truth value.
    public var predicateArgument: Value { .boolean(self) }
}

extension BinaryInteger where Self: PredicateArgument {
    /// A whole number; a decimal one if it does not fit 64 bits with a sign.
    public var predicateArgument: Value {
        Int64(exactly: self).map(Value.integer) ?? .decimal(Decimal(UInt64(clamping: self)))
    }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension Double: PredicateArgument {
    /// A floating-point number.
    public var predicateArgument: Value { .double(self) }
}

extension Float: PredicateArgument {
    /// The number, widened without a change of its value.
    public var predicateArgument: Value { .double(Double(self)) }
}

extension Decimal: PredicateArgument {
    /// An exact decimal number.
    public var predicateArgument: Value { .decimal(self) }
}

extension Date: PredicateArgument {
    /// A point in time.
    public var predicateArgument: Value { .date(self) }
}

extension Data: PredicateArgument {
    /// Bytes.
    public var predicateArgument: Value { .binary(self) }
}

extension UUID: PredicateArgument {
    /// A UUID.
    public var predicateArgument: Value { .uuid(self) }
}

extension URL: PredicateArgument {
    /// A URI.
    public var predicateArgument: Value { .uri(self) }
}

extension GeoPoint: PredicateArgument {
    /// A position on the earth.
    public var predicateArgument: Value { .geoPoint(self) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
    /// The value, or nil.
    public var predicateArgument: Value { self?.predicateArgument ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// A list.
    public var predicateArgument: Value { .list(map(\.predicateArgument)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
    /// A set.
    public var predicateArgument: Value { .set(ValueSet(map(\.predicateArgument))) }
}

extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
    /// The two bounds, for `BETWEEN %@`.
    public var predicateArgument: Value { .list([lowerBound.predicateArgument, upperBound.predicateArgument]) }
}
