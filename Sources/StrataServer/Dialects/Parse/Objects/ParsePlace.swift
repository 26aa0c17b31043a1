#if Server
    import Strata

    /// Conditions on places.
    struct ParsePlace {
        /// The radii of the earth as the clients of Parse and MaxLeap have them.
        private static let miles = 3958.8
        private static let kilometers = 6371.0

        private let place: FetchExpression
        private let operand: JSONValue
        private let all: JSONObject

        init(_ field: SchemaField, _ operand: JSONValue, _ all: JSONObject) throws(ServerError) {
            guard field.kind == .geoPoint else { throw ParseWhere.fault("\(field.name) holds no GeoPoint") }
            place = .keyPath([field.name])
            self.operand = operand
            self.all = all
        }

        func predicate(_ name: String) throws(ServerError) -> FetchPredicate {
            switch name {
            case "$nearSphere":
                let center = try point(operand)
                let near = FetchPredicate.geo(.near(place, .constant(.geoPoint(center))))
                guard let radians = try distance() else { return near }
                return near && within(center, radians)
            case "$within":
                guard let corners = operand["$box"]?.elements, corners.count == 2 else {
                    throw ParseWhere.fault("$within takes $box with two corners")
                }
                return .geo(
                    .box(
                        place, southWest: .constant(.geoPoint(try point(corners[0]))),
                        northEast: .constant(.geoPoint(try point(corners[1])))))
            default:
                guard let parts = operand["$centerSphere"]?.elements, parts.count == 2,
                    let radians = parts[1].double, radians.isFinite, radians >= 0
                else { throw ParseWhere.fault("$geoWithin takes $centerSphere with a centre and radians") }
                if let pair = parts[0].elements, pair.count == 2 {
                    return within(
                        try point(["__type": "GeoPoint", "longitude": pair[0], "latitude": pair[1]]), radians)
                }
                return within(try point(parts[0]), radians)
            }
        }

        private func within(_ center: GeoPoint, _ radians: Double) -> FetchPredicate {
            .geo(.within(place, .constant(.geoPoint(center)), distance: .constant(.double(radians)), .radians))
        }

        private func point(_ json: JSONValue) throws(ServerError) -> GeoPoint {
            guard let point = try ParseValues.point(json) else { throw ParseWhere.fault("a place is a GeoPoint") }
            return point
        }

        /// The maximum distance in radians; nil if there is none.
        private func distance() throws(ServerError) -> Double? {
            let units = [
                ("$maxDistance", 1), ("$maxDistanceInRadians", 1), ("$maxDistanceInMiles", Self.miles),
                ("$maxDistanceInKilometers", Self.kilometers),
            ]
            for (name, radius) in units {
                guard let value = all[name] else { continue }
                guard let number = value.double, number.isFinite, number >= 0 else {
                    throw ParseWhere.fault("\(name) takes a number from 0 on")
                }
                return number / radius
            }
            return nil
        }
    }
#endif
