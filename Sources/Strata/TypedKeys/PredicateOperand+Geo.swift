/// Positions on the earth; see `GeoCondition`. Nil matches none of these.
extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped == GeoPoint {
    private func within(
        _ distance: Double, _ unit: GeoUnit, _ point: GeoPoint, _ earthRadius: Double
    ) -> FetchPredicate {
        .geo(
            .within(
                expression, .constant(.geoPoint(point)), distance: .constant(.double(distance)), unit,
                earthRadius: earthRadius))
    }

    /// Not further from a point than this many kilometres, on an earth of a radius in kilometres.
    public func isWithin(
        kilometers: Double, of point: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius
    ) -> FetchPredicate { within(kilometers, .kilometers, point, earthRadius) }

    /// Not further from a point than this many miles of 1.609344 km, on an earth of a radius in kilometres.
    public func isWithin(
        miles: Double, of point: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius
    ) -> FetchPredicate { within(miles, .miles, point, earthRadius) }

    /// Not further from a point than an angle at the centre of the earth.
    public func isWithin(
        radians: Double, of point: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius
    ) -> FetchPredicate { within(radians, .radians, point, earthRadius) }

    /// In a box, edges included. If its west is greater than its east, it crosses the 180° meridian.
    public func isInBox(southWest: GeoPoint, northEast: GeoPoint) -> FetchPredicate {
        .geo(
            .box(
                expression, southWest: .constant(.geoPoint(southWest)), northEast: .constant(.geoPoint(northEast))))
    }

    /// There is a position. A fetch without an order of its own gives the nearest to the point first.
    public func isNear(
        _ point: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius
    ) -> FetchPredicate {
        .geo(.near(expression, .constant(.geoPoint(point)), earthRadius: earthRadius))
    }

    /// The distance in kilometres to a point, on an earth of a radius in kilometres.
    public func distance(
        to point: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius
    ) -> ValueExpression<Double?> {
        ValueExpression(.distance(expression, .constant(.geoPoint(point)), earthRadius: earthRadius))
    }
}
