#if Server
    import Foundation
    import Strata

    /// Makes predicates of conditions, by what kind of value each field has.
    struct QueryCompiler {
        let schema: ServerSchema
        /// Whether a field that the schema lacks is one that no object has a value for yet, instead of a mistake.
        let isForgiving: Bool
        let limits: ServerLimits
        /// The field and the point of the first `[near]`, for distances in the answer.
        private(set) var nearest: (field: String, point: GeoPoint)?

        init(schema: ServerSchema, isForgiving: Bool, limits: ServerLimits) {
            self.schema = schema
            self.isForgiving = isForgiving
            self.limits = limits
        }

        /// The predicate of a whole query; nil if it has no conditions.
        mutating func predicate(_ query: QueryReader) throws(ServerError) -> FetchPredicate? {
            var parts: [FetchPredicate] = []
            for condition in query.all { parts.append(try predicate(condition)) }
            if !query.any.isEmpty {
                var members: [FetchPredicate] = []
                for conditions in query.any {
                    var group: [FetchPredicate] = []
                    for condition in conditions {
                        guard condition.operation != "near" else {
                            throw .badRequest("\(condition.field)[near] cannot be used in an OR: it orders the result.")
                        }
                        group.append(try predicate(condition))
                    }
                    members.append(group.count == 1 ? group[0] : .and(group))
                }
                parts.append(.or(members))
            }
            return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
        }

        private mutating func predicate(_ condition: QueryReader.Condition) throws(ServerError) -> FetchPredicate {
            guard let field = schema.field(condition.field) else {
                guard isForgiving, ServerSchema.fault(ofName: condition.field) == nil else {
                    throw .noField(schema, condition.field)
                }
                return try Self.predicateOfNothing(condition)
            }
            switch condition.operation {
            case "null": return try null(field, condition)
            case "near": return try near(field, condition)
            case "within": return try within(field, condition)
            default: break
            }
            guard field.kind != .json else {
                throw .badRequest("\(field.name) holds values of any type: ask with [null].")
            }
            guard field.kind != .geoPoint else {
                throw .badRequest("\(field.name) holds points: ask with [near], [within] or [null].")
            }
            if field.isCollection { return try collection(field, condition) }
            let path = FetchExpression.keyPath([field.name])
            func compare(_ comparison: ComparisonOperator) throws(ServerError) -> FetchPredicate {
                .comparison(path, comparison, .constant(try value(condition.value, field)), [])
            }
            switch condition.operation {
            case nil: return try compare(.equal)
            case "ne": return try compare(.notEqual)
            case "lt": return try compare(.less)
            case "lte": return try compare(.lessOrEqual)
            case "gt": return try compare(.greater)
            case "gte": return try compare(.greaterOrEqual)
            case "in": return .comparison(path, .isIn, .constant(.list(try values(condition, field))), [])
            case "nin":
                return .not(.comparison(path, .isIn, .constant(.list(try values(condition, field))), []))
            case "empty":
                guard field.kind == .string || field.kind == .reference else {
                    throw .badRequest("\(field.name)[empty]: only strings are empty or not.")
                }
                let isEmpty = try flag(condition)
                return .comparison(path, isEmpty ? .equal : .notEqual, .constant(.string("")), [])
            case let other?: throw .badRequest("\(field.name)[\(other)]: there is no such operator.")
            }
        }

        // MARK: Operators

        /// A condition on a field that no object has a value for.
        private static func predicateOfNothing(_ condition: QueryReader.Condition) throws(ServerError) -> FetchPredicate
        {
            switch condition.operation {
            case "null": .constant(condition.value == "true")
            case "ne", "nin": .constant(true)
            case "empty": .constant(condition.value == "false")
            case nil, "lt", "lte", "gt", "gte", "in", "near", "within": .constant(false)
            case let other?:
                throw .badRequest("\(condition.field)[\(other)]: there is no such operator.")
            }
        }

        private func flag(_ condition: QueryReader.Condition) throws(ServerError) -> Bool {
            switch condition.value {
            case "true": true
            case "false": false
            default:
                throw .badRequest("\(condition.field)[\(condition.operation ?? "")] takes true or false.")
            }
        }

        private func null(
            _ field: SchemaField, _ condition: QueryReader.Condition
        ) throws(ServerError) -> FetchPredicate {
            .comparison(.keyPath([field.name]), try flag(condition) ? .equal : .notEqual, .constant(.null), [])
        }

        /// Conditions on collections are about their elements: `=` means that the value is one of them.
        private func collection(
            _ field: SchemaField, _ condition: QueryReader.Condition
        ) throws(ServerError) -> FetchPredicate {
            let texts: [String]
            switch condition.operation {
            case nil, "ne": texts = [condition.value]
            case "in", "nin": texts = try parts(condition)
            default:
                throw .badRequest("\(field.name) holds several values: ask with =, [ne], [in], [nin] or [null].")
            }
            let numbers = field.kind == .list ? texts.compactMap(Double.init).filter(\.isFinite) : []
            let found = CollectionMatch.holding(texts.map(Value.string), numbers: numbers, in: field)
            return condition.operation == "ne" || condition.operation == "nin" ? .not(found) : found
        }

        // MARK: Geo

        private func point(
            _ field: SchemaField, _ condition: QueryReader.Condition
        ) throws(ServerError) -> [Double] {
            guard field.kind == .geoPoint else { throw .badRequest("\(field.name) holds no points.") }
            var numbers: [Double] = []
            for part in condition.value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = Double(part), number.isFinite, numbers.count < 4 else {
                    throw .badRequest("\(field.name)[\(condition.operation ?? "")] takes numbers, comma joined.")
                }
                numbers.append(number)
            }
            return numbers
        }

        private func geoPoint(_ latitude: Double, _ longitude: Double) throws(ServerError) -> GeoPoint {
            let point = GeoPoint(latitude: latitude, longitude: longitude)
            guard point.isValid else { throw .badRequest("\(latitude),\(longitude) is not a place on the earth.") }
            return point
        }

        private mutating func near(
            _ field: SchemaField, _ condition: QueryReader.Condition
        ) throws(ServerError) -> FetchPredicate {
            let numbers = try point(field, condition)
            guard numbers.count == 2 || numbers.count == 3 else {
                throw .badRequest("\(field.name)[near] takes lat,lon or lat,lon,radians.")
            }
            let center = try geoPoint(numbers[0], numbers[1])
            if nearest == nil { nearest = (field.name, center) }
            let place = FetchExpression.keyPath([field.name])
            let near = FetchPredicate.geo(.near(place, .constant(.geoPoint(center))))
            return numbers.count == 2 ? near : near && Self.within(place, center, numbers[2])
        }

        private static func within(_ place: FetchExpression, _ center: GeoPoint, _ radians: Double) -> FetchPredicate {
            .geo(.within(place, .constant(.geoPoint(center)), distance: .constant(.double(radians)), .radians))
        }

        private func within(
            _ field: SchemaField, _ condition: QueryReader.Condition
        ) throws(ServerError) -> FetchPredicate {
            let numbers = try point(field, condition)
            let place = FetchExpression.keyPath([field.name])
            switch numbers.count {
            case 3: return Self.within(place, try geoPoint(numbers[0], numbers[1]), numbers[2])
            case 4:
                let corners = [try geoPoint(numbers[0], numbers[1]), try geoPoint(numbers[2], numbers[3])]
                return .geo(
                    .box(
                        place, southWest: .constant(.geoPoint(corners[0])), northEast: .constant(.geoPoint(corners[1])))
                )
            default:
                throw .badRequest("\(field.name)[within] takes lat,lon,radians or swLat,swLon,neLat,neLon.")
            }
        }

        // MARK: Values

        private func parts(_ condition: QueryReader.Condition) throws(ServerError) -> [String] {
            let parts = condition.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard parts.count <= limits.requests.conditions else {
                throw .badRequest(
                    "\(condition.field) has \(parts.count) values; \(limits.requests.conditions) are the most.")
            }
            return parts
        }

        private func values(
            _ condition: QueryReader.Condition, _ field: SchemaField
        ) throws(ServerError) -> [Value] {
            var values: [Value] = []
            for part in try parts(condition) { values.append(try value(part, field)) }
            return values
        }

        private func value(_ text: String, _ field: SchemaField) throws(ServerError) -> Value {
            switch field.kind {
            case .string, .reference: return .string(text)
            case .boolean:
                if text == "true" { return .boolean(true) }
                if text == "false" { return .boolean(false) }
            case .integer:
                if let number = Int64(text) { return .integer(number) }
                if let number = Double(text), number.isFinite { return .double(number) }
            case .number:
                if let number = Double(text), number.isFinite { return .double(number) }
            case .geoPoint, .list, .references, .json: break
            }
            throw .badRequest("\(field.name) takes \(field.expectation), not '\(text.prefix(80))'.")
        }
    }
#endif
