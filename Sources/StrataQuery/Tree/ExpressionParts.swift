/// An element of an ordered collection, or the number of elements: what is in the brackets of a format.
///
///     try FetchPredicate(format: "sights[FIRST].name == %@", "Plaza Mayor")
///     try FetchPredicate(format: "languages[0] == %@ AND languages[SIZE] > 1", "es")
///
/// It applies to ordered to-many relationships, arrays, and composites. Positions outside of the collection give nil,
/// and so does an index of nil; none of them is an error. Unordered relationships have no first element: ``size`` works
/// with them, and everything else is a ``PredicateEvaluationError/wrongOperand(found:context:)``. In code, build it
/// with ``FetchExpression/index(_:_:)``.
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

/// A component of a key path that computes something from a whole collection.
///
///     try FetchPredicate(format: "cities.@sum.population > %d", 10_000_000)
///     FetchSort("cities.@count", ascending: false)
///
/// The part before it must lead to a collection; the part after it is taken of each element, and nil is left out. Typed
/// keys have methods for the aggregates: `$0.cities.sum(\.population)`. The aggregates give one value, so you can sort
/// by them and compare them. In SQL, each is a subquery for each object, for which the relationship has an index.
///
/// Put the operator before the attribute. `cities.population.@count` counts the different values, because a path over
/// an unordered relationship is a set.
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

/// The types that `CAST` converts to. The raw value is the name in the format language.
///
///     try FetchPredicate(format: "founded > CAST(%d, 'NSDate')", 0)    // after the reference date
///     try FetchPredicate(format: "CAST(code, 'NSNumber') >= 10")       // text as a number
///
/// Use a cast for a literal that the language lacks, such as a date or a UUID, or to compare an attribute as another
/// type. An argument of the right type is usually simpler. A cast of a constant is computed once, when the format is
/// read; a cast of an attribute is computed for each object, without an index.
///
/// Nil stays nil, and a value that has no such form becomes nil instead of an error. Names work without `NS`, too.
public enum CastType: String, Sendable, Hashable, CaseIterable {
    /// Seconds since 2001-01-01 00:00 UTC become a date; a text in ISO 8601, too.
    case date = "NSDate"
    /// A date becomes seconds since 2001-01-01 00:00 UTC; text becomes the number that it spells; truth values become 1
    /// and 0.
    case number = "NSNumber"
    /// The exact decimal number.
    case decimal = "NSDecimalNumber"
    /// The value as text: dates in ISO 8601 without fractions of a second, truth values as `1` and `0`, bytes in
    /// hexadecimal.
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

/// The methods that `FUNCTION(receiver, 'name', arguments…)` may call; there are no others.
///
///     try FetchPredicate(format: "FUNCTION(name, 'length') > %d", 20)
///     try FetchPredicate(format: "FUNCTION(name, 'substringToIndex:', 1) == %@", "L")
///
/// They are there for formats that were written for `NSPredicate`. In new conditions, prefer operators such as
/// `BEGINSWITH`, which can use an index; a method is computed for each object. Lengths and positions count UTF-16
/// units, as in Foundation.
///
/// Nil as the receiver or as an argument gives nil. A receiver that does not have the method is a
/// ``PredicateEvaluationError``. The raw value is the name, with a colon for each argument.
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
    /// The whole number that a text begins with, 0 if it does not begin with one; the whole part of a number.
    case integerValue
    /// The number that a text spells, 0 if it does not spell one; a number as a double.
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
