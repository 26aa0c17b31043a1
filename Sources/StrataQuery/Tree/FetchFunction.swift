/// The functions of expressions, arithmetic and set operators among them.
///
///     try FetchPredicate(format: "abs(population - %d) < %d", 50_000, 1_000)
///     try FetchExpression(format: "ceiling(population / 1000.0)")
///     let doubled = FetchExpression.function(.multiply, [.keyPath(["population"]), .constant(2)])
///
/// The raw value is the name by which `NSExpression` knows the function; the format language takes it as
/// `modulus:by:(a, b)` and, for the part before the first colon, as `modulus(a, b)`. Functions of an attribute are
/// computed for each object, without an index.
///
/// Nil among the operands gives nil, except that aggregates leave nil out. Undefined results are nil, too: division by
/// zero, a whole number that does not fit 64 bits, the square root or logarithm of a negative number. None of these
/// traps. An operand of another kind, such as a text in arithmetic, is a ``PredicateEvaluationError``.
///
/// A path over an unordered relationship is a set: `sum(cities.population)` adds equal populations once. Use the
/// ``CollectionOperator`` for all of them: `cities.@sum.population`.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
    /// `a + b`.
    case add = "add:to:"
    /// `a - b`.
    case subtract = "from:subtract:"
    /// `a * b`.
    case multiply = "multiply:by:"
    /// `a / b`; two whole numbers give a whole number, rounded towards zero.
    case divide = "divide:by:"
    /// `a ** b`; whole where both are whole and `b` is not negative.
    case power = "raise:toPower:"
    /// The remainder of `a` divided by `b`, with the sign of `a`; `a %% b`.
    case modulus = "modulus:by:"
    /// The bits that both whole numbers have.
    case bitwiseAnd = "bitwiseAnd:with:"
    /// The bits that either whole number has.
    case bitwiseOr = "bitwiseOr:with:"
    /// The bits that just one of two whole numbers has.
    case bitwiseXor = "bitwiseXor:with:"
    /// The bits moved up.
    case leftShift = "leftshift:by:"
    /// The bits moved down; the sign stays.
    case rightShift = "rightshift:by:"
    /// All bits turned over.
    case onesComplement = "onesComplement:"
    /// Elements of either collection: `a UNION b`.
    case union = "UNION"
    /// Elements of both collections: `a INTERSECT b`.
    case intersect = "INTERSECT"
    /// Elements of the first collection that the second lacks: `a MINUS b`.
    case minus = "MINUS"
    /// The sum of a collection, or of several arguments, nil left out; 0 of nothing. A sum of whole numbers stops at
    /// the ends of 64 bits.
    case sum = "sum:"
    /// The number of elements of a collection.
    case count = "count:"
    /// The smallest value of a collection, or of several arguments; nil of nothing.
    case minimum = "min:"
    /// The largest value of a collection, or of several arguments; nil of nothing.
    case maximum = "max:"
    /// The mean of a collection; nil of nothing.
    case average = "average:"
    /// The middle of a collection of numbers, or the mean of the two in the middle; nil of nothing.
    case median = "median:"
    /// The values that a collection has most often, as a list in ascending order.
    case mode = "mode:"
    /// The standard deviation of a collection as the whole population; nil of nothing.
    case standardDeviation = "stddev:"
    /// The number without its sign.
    case absolute = "abs:"
    /// The square root.
    case squareRoot = "sqrt:"
    /// The logarithm to base 10.
    case logarithm = "log:"
    /// The natural logarithm.
    case naturalLogarithm = "ln:"
    /// e to the power of the number.
    case exponential = "exp:"
    /// The largest whole number that is not greater.
    case floor = "floor:"
    /// The smallest whole number that is not less.
    case ceiling = "ceiling:"
    /// The whole part.
    case truncate = "trunc:"
    /// The time of the evaluation; a fetch or an evaluation has one time throughout.
    case now = "now"
    /// A random number: without argument from 0 up to 1, with a whole number n a whole number from 0 up to n.
    case random = "random"
    /// The text in upper case.
    case uppercase = "uppercase:"
    /// The text in lower case.
    case lowercase = "lowercase:"

    /// How many arguments the function takes.
    public var arity: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .random: 0...1
        case .minimum, .maximum, .sum, .count, .average, .median, .mode, .standardDeviation: 1...64
        case .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift, .union, .intersect, .minus:
            2...2
        default: 1...1
        }
    }

    /// The operator between two operands, if the function is written as one.
    public var infix: String? {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .power: "**"
        case .union, .intersect, .minus: rawValue
        default: nil
        }
    }

    /// The function with the given name as formats spell it, with or without colons; nil if there is none. Set
    /// operators have no name.
    public static func named(_ name: String) -> FetchFunction? { byName[name] }

    private static let byName: [String: FetchFunction] = {
        var names: [String: FetchFunction] = [:]
        for function in allCases where ![.union, .intersect, .minus].contains(function) {
            names[function.rawValue] = function
            names[String(function.rawValue.prefix { $0 != ":" })] = function
        }
        names["now:"] = .now
        names["random:"] = .random
        names["from"] = nil
        names["subtract"] = .subtract
        return names
    }()
}
