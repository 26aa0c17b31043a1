/// Which element of a collection is meant.
public enum FetchIndex: Sendable, Hashable {
    /// The first element; nil if there is none.
    case first
    /// The last element; nil if there is none.
    case last
    /// The number of elements.
    case size
    /// The element at a position that counts from 0, or the value of a composite's key; nil if there is none.
    case at(FetchExpression)
}

/// A component of a key path that works on a whole collection. Nil elements are left out.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
    /// The number of elements. Nothing follows.
    case count = "@count"
    /// The sum of the rest of the path over all elements; 0 of nothing.
    case sum = "@sum"
    /// The mean; nil of nothing.
    case average = "@avg"
    /// The smallest value; nil of nothing.
    case minimum = "@min"
    /// The largest value; nil of nothing.
    case maximum = "@max"
    /// The values of the next component, each once.
    case distinctUnion = "@distinctUnionOfObjects"
    /// The values of the next component.
    case union = "@unionOfObjects"

    /// Whether one value comes of many.
    public var isAggregate: Bool { self != .distinctUnion && self != .union }
}

/// The types that `CAST` converts to. Nil stays nil; a value that has no such form becomes nil.
public enum CastType: String, Sendable, Hashable, CaseIterable {
    /// Seconds since 2001-01-01 00:00 UTC become a date; a text in ISO 8601, too.
    case date = "NSDate"
    /// A date becomes seconds since 2001-01-01 00:00 UTC; text becomes the number that it spells.
    case number = "NSNumber"
    /// The exact decimal number.
    case decimal = "NSDecimalNumber"
    /// The value as text.
    case string = "NSString"
    /// A UUID from text.
    case uuid = "NSUUID"
    /// A URI from text.
    case uri = "NSURL"
    /// Bytes from hexadecimal digits.
    case data = "NSData"
    /// A set of the elements of a collection.
    case set = "NSSet"
    /// A list of the elements of a collection.
    case array = "NSArray"
    /// A point from `latitude,longitude` as text or as a list of two numbers.
    case geoPoint = "GeoPoint"
    /// A reference to an object from its key.
    case object = "ManagedObject"
    /// A truth value: whether a number is not 0.
    case boolean = "Bool"
    /// A composite from a list of alternating names and values.
    case dictionary = "NSDictionary"
}

/// The methods that `FUNCTION(receiver, 'name', arguments…)` may call; there are no others. Nil as the receiver or as
/// an argument gives nil.
public enum FetchMethod: String, Sendable, Hashable, CaseIterable {
    /// The text in upper case.
    case uppercaseString
    /// The text in lower case.
    case lowercaseString
    /// The number of UTF-16 units of a text, or of bytes.
    case length
    /// The number of elements of a collection.
    case count
    /// The text with another after it.
    case stringByAppendingString = "stringByAppendingString:"
    /// The text from a position on, in UTF-16 units; nil if the position lies outside.
    case substringFromIndex = "substringFromIndex:"
    /// The text before a position, in UTF-16 units; nil if the position lies outside.
    case substringToIndex = "substringToIndex:"
    /// Whether a text begins with another.
    case hasPrefix = "hasPrefix:"
    /// Whether a text ends with another.
    case hasSuffix = "hasSuffix:"
    /// The number that a text begins with, or the whole part of a number.
    case integerValue
    /// The number that a text spells, or a number as a double.
    case doubleValue
    /// The first element of a collection.
    case firstObject
    /// The last element of a collection.
    case lastObject
    /// The value of a composite's key, or of an object's property.
    case valueForKey = "valueForKey:"

    /// How many arguments follow the receiver.
    public var arity: Int { rawValue.hasSuffix(":") ? 1 : 0 }
}
