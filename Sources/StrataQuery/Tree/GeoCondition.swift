import Foundation

/// Where on the earth a point lies. Points are values of geo-point attributes, or lists of latitude and longitude in
/// degrees; nil and points outside the ranges of coordinates satisfy no condition.
///
///     let here = GeoPoint(latitude: 48.86, longitude: 2.35)
///     City.where { $0.position.isWithin(kilometers: 5, of: here) }
///     try FetchPredicate(format: "withinKilometers(position, %@, 5)", here)
///
/// In the format language the conditions look like functions and take the place of a comparison:
///
/// ```text
/// near(place, {48.86, 2.35})
/// withinKilometers(place, {48.86, 2.35}, 5)
/// withinMiles(place, $here, 3)
/// withinRadians(place, $here, 0.001)
/// withinBox(place, {south, west}, {north, east})
/// ```
///
/// Distances are those on a sphere, by the haversine formula. Back ends use different radii for the earth, so a
/// condition carries its own: a last argument in kilometers, where it is not ``meanEarthRadius``. With a spatial
/// ``Index``, a store looks up areas instead of reading every point.
public enum GeoCondition: Sendable, Hashable {
    /// There is a point, and objects nearer to the other point come first, if the fetch has no order of its own.
    case near(FetchExpression, FetchExpression, earthRadius: Double = meanEarthRadius)
    /// The point is within a distance from the other point.
    case within(
        FetchExpression, FetchExpression, distance: FetchExpression, GeoUnit, earthRadius: Double = meanEarthRadius)
    /// The point lies in a box, edges included. A box whose west is greater than its east crosses the 180° meridian.
    case box(FetchExpression, southWest: FetchExpression, northEast: FetchExpression)

    /// The mean radius of the earth in kilometres: R₁ = (2a + b) / 3 of the WGS 84 ellipsoid, rounded to 0.1 m as by
    /// the IUGG.
    public static let meanEarthRadius = 6371.0088
}

/// The unit of a distance on the earth. The raw value is the name of the condition in the format language.
///
///     let limit = GeoUnit.miles.kilometers(3, earthRadius: GeoCondition.meanEarthRadius)  // 4.828032
///     City.where { $0.position.isWithin(miles: 3, of: city.position) }
///
/// It is a part of ``GeoCondition/within(_:_:distance:_:earthRadius:)``, which keeps the unit as you wrote it, so that
/// a remote store can send it to a server that knows the same one. Kilometers and miles are lengths along the surface.
/// Radians are an angle, and do not depend on the radius of the earth: use them for a server that compares angles.
public enum GeoUnit: String, Sendable, Hashable, CaseIterable {
    /// Kilometers.
    case kilometers = "withinKilometers"
    /// International miles of 1.609344 km.
    case miles = "withinMiles"
    /// The angle at the center of the earth.
    case radians = "withinRadians"

    /// A distance in this unit as kilometres, on an earth of a radius in kilometres.
    public func kilometers(_ distance: Double, earthRadius: Double) -> Double {
        switch self {
        case .kilometers: distance
        case .miles: distance * 1.609344
        case .radians: distance * earthRadius
        }
    }
}

extension GeoPoint {
    /// The distance to another point along a sphere, in the unit of the radius, by the haversine formula.
    public func distance(to other: GeoPoint, earthRadius: Double = GeoCondition.meanEarthRadius) -> Double {
        let radians = Double.pi / 180
        let sinLatitude = sin((other.latitude - latitude) * radians / 2)
        let sinLongitude = sin((other.longitude - longitude) * radians / 2)
        let h =
            sinLatitude * sinLatitude
            + cos(latitude * radians) * cos(other.latitude * radians) * sinLongitude * sinLongitude
        // Rounding may lift the value over 1 for points that lie opposite each other.
        return 2 * earthRadius * asin(min(1, h.squareRoot()))
    }
}

extension FetchPredicate {
    /// The two points and the radius of the first ``GeoCondition/near(_:_:earthRadius:)`` that must hold: what objects
    /// are ordered by, nearest first, if a fetch has no order of its own.
    public var nearestFirst: FetchExpression? {
        switch node {
        case .geo(.near(let place, let point, let radius)): .distance(place, point, earthRadius: radius)
        case .and(let parts): parts.lazy.compactMap(\.nearestFirst).first
        default: nil
        }
    }
}
