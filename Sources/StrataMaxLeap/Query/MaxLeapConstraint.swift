/// A constraint on the value of one field.
///
///     let query = MaxLeapQuery("Post")
///         .where("likes", .greaterOrEqual(10))
///         .where("title", .hasPrefix("A"))
///         .where("place", .within(kilometers: 5, of: GeoPoint(latitude: 48.86, longitude: 2.35)))
///         .where("author", .inQuery(MaxLeapQuery("_User").where("city", .equal("Paris"))))
///
/// Several constraints on a field must all hold. ``equal(_:)`` of an array field means that the array has the value; null
/// stands for a field that is missing. Only numbers, texts and dates have an order. Constraints on places put the nearest
/// objects first, unless the query has an order.
public indirect enum MaxLeapConstraint: Sendable, Hashable {
    /// The value, or an array with it; null for fields without one.
    case equal(MaxLeapValue)
    /// Another value, or none.
    case notEqual(MaxLeapValue)
    /// Less: a number, text or date.
    case less(MaxLeapValue)
    /// Less or equal.
    case lessOrEqual(MaxLeapValue)
    /// Greater.
    case greater(MaxLeapValue)
    /// Greater or equal.
    case greaterOrEqual(MaxLeapValue)
    /// One of several values.
    case isIn([MaxLeapValue])
    /// None of several values.
    case isNotIn([MaxLeapValue])
    /// An array with all of several values.
    case all([MaxLeapValue])
    /// An array with this many elements.
    case size(Int)
    /// There, or not there.
    case exists(Bool)
    /// A text in which a regular expression is found. Options are letters: `i` for either case, `m` for lines, `s` for
    /// points that match line breaks, `x` for expressions with comments.
    case matches(String, options: String = "")
    /// Nearest first, up to a distance in radians if there is one. An order of the query comes before it.
    case near(GeoPoint, maximumRadians: Double? = nil)
    /// In a box, from its south-west to its north-east corner.
    case box(southWest: GeoPoint, northEast: GeoPoint)
    /// An object that a query finds.
    case inQuery(MaxLeapQuery)
    /// No object that a query finds.
    case notInQuery(MaxLeapQuery)
    /// What an object that a query finds has in a field of its own.
    case select(key: String, MaxLeapQuery)
    /// What no object that a query finds has in that field.
    case dontSelect(key: String, MaxLeapQuery)

    /// The miles in a radian, as the clients of MaxLeap and Parse have it.
    public static let milesPerRadian = 3958.8
    /// The kilometres in a radian, as the clients of MaxLeap and Parse have it.
    public static let kilometersPerRadian = 6371.0

    /// Text with another one in it.
    public static func contains(_ text: String) -> MaxLeapConstraint { .matches(MaxLeapRegex.quoted(text)) }
    /// Text that begins with another one.
    public static func hasPrefix(_ text: String) -> MaxLeapConstraint { .matches("^" + MaxLeapRegex.quoted(text)) }
    /// Text that ends with another one. As everywhere in such expressions, a line break after it does not count.
    public static func hasSuffix(_ text: String) -> MaxLeapConstraint { .matches(MaxLeapRegex.quoted(text) + "$") }
    /// No further than this many miles, nearest first.
    public static func within(miles: Double, of point: GeoPoint) -> MaxLeapConstraint {
        .near(point, maximumRadians: miles / milesPerRadian)
    }
    /// No further than this many kilometres, nearest first.
    public static func within(kilometers: Double, of point: GeoPoint) -> MaxLeapConstraint {
        .near(point, maximumRadians: kilometers / kilometersPerRadian)
    }
    /// No further than this many radians, nearest first.
    public static func within(radians: Double, of point: GeoPoint) -> MaxLeapConstraint {
        .near(point, maximumRadians: radians)
    }
}

extension MaxLeapConstraint {
    /// How a constraint follows its key.
    enum Form: Equatable {
        /// As the value itself.
        case value(JSONValue)
        /// As operators.
        case operators(JSONObject)

        var json: JSONValue {
            switch self {
            case .value(let value): value
            case .operators(let operators): .object(operators)
            }
        }
    }

    /// - Throws: ``RemoteError`` with code 102 for a value that the operator does not take.
    func form(_ key: String) throws(RemoteError) -> Form {
        do throws(RemoteError) {
            switch self {
            case .equal(let value): return .value(try value.json())
            case .notEqual(let value): return .operators(["$ne": try value.json()])
            case .less(let value): return .operators(["$lt": try Self.ordered(value)])
            case .lessOrEqual(let value): return .operators(["$lte": try Self.ordered(value)])
            case .greater(let value): return .operators(["$gt": try Self.ordered(value)])
            case .greaterOrEqual(let value): return .operators(["$gte": try Self.ordered(value)])
            case .isIn(let values): return .operators(["$in": try MaxLeapValue.array(values).json()])
            case .isNotIn(let values): return .operators(["$nin": try MaxLeapValue.array(values).json()])
            case .all(let values): return .operators(["$all": try MaxLeapValue.array(values).json()])
            case .size(let count): return .operators(["$size": .integer(Int64(count))])
            case .exists(let flag): return .operators(["$exists": .boolean(flag)])
            case .matches(let pattern, let options):
                guard options.allSatisfy({ "imsx".contains($0) }) else {
                    throw MaxLeapError.invalidQuery.error(
                        "the options of a regular expression are of i, m, s and x, not \"\(options.prefix(20))\"")
                }
                var operators: JSONObject = ["$regex": .string(pattern)]
                if !options.isEmpty { operators["$options"] = .string(options) }
                return .operators(operators)
            case .near(let point, let radians):
                var operators: JSONObject = ["$nearSphere": try MaxLeapValue.geoPoint(point).json()]
                if let radians {
                    guard radians.isFinite, radians >= 0 else {
                        throw MaxLeapError.invalidQuery.error("a distance is a number from 0 on, not \(radians)")
                    }
                    operators["$maxDistance"] = .double(radians)
                }
                return .operators(operators)
            case .box(let southWest, let northEast):
                let corners = try MaxLeapValue.array([.geoPoint(southWest), .geoPoint(northEast)]).json()
                return .operators(["$within": ["$box": corners]])
            case .inQuery(let query): return .operators(["$inQuery": .object(try query.nested())])
            case .notInQuery(let query): return .operators(["$notInQuery": .object(try query.nested())])
            case .select(let other, let query):
                return .operators(["$select": ["key": .string(other), "query": .object(try query.nested())]])
            case .dontSelect(let other, let query):
                return .operators(["$dontSelect": ["key": .string(other), "query": .object(try query.nested())]])
            }
        } catch {
            var error = error
            error.message = "\(key): \(error.message)"
            throw error
        }
    }

    private static func ordered(_ value: MaxLeapValue) throws(RemoteError) -> JSONValue {
        switch value {
        case .string, .integer, .double, .decimal, .date: return try value.json()
        default:
            throw MaxLeapError.invalidQuery.error(
                "numbers, text and dates are less or greater than others; \(value.kind) is not")
        }
    }

    /// The constraint that holds where this one does not; nil if there is none.
    var negated: MaxLeapConstraint? {
        switch self {
        case .equal(let value): .notEqual(value)
        case .notEqual(let value): .equal(value)
        case .less(let value): .greaterOrEqual(value)
        case .lessOrEqual(let value): .greater(value)
        case .greater(let value): .lessOrEqual(value)
        case .greaterOrEqual(let value): .less(value)
        case .isIn(let values): .isNotIn(values)
        case .isNotIn(let values): .isIn(values)
        case .exists(let flag): .exists(!flag)
        case .inQuery(let query): .notInQuery(query)
        case .notInQuery(let query): .inQuery(query)
        case .select(let key, let query): .dontSelect(key: key, query)
        case .dontSelect(let key, let query): .select(key: key, query)
        case .all, .size, .matches, .near, .box: nil
        }
    }

    /// Whether both this and its negation leave out objects without a value.
    var isOrder: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }
}
