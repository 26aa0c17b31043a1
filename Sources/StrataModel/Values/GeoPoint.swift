/// A position on the earth in decimal degrees (WGS 84): the value of an attribute of type ``AttributeType/geoPoint``.
///
///     let lima = GeoPoint(latitude: -12.04, longitude: -77.03)
///     let cusco = GeoPoint(latitude: -13.53, longitude: -71.97)
///     print(lima.distance(to: cusco))  // in kilometers
///
/// Give the latitude first; many map formats, such as GeoJSON, have the longitude first. Values out of range are kept
/// as they are, but such a point satisfies no ``GeoCondition``, and the model does not accept it as a default. Check
/// input with ``isValid``. Points have no order and cannot be unique; conditions use areas and distances, which a
/// spatial ``Index`` makes fast.
public struct GeoPoint: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// Creates a point from degrees. Out-of-range values are kept; check ``isValid``.
    @inlinable
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Whether both coordinates are finite and within their ranges.
    public var isValid: Bool {
        latitude.isFinite && longitude.isFinite && (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }

    /// The point as `latitude,longitude`.
    public var description: String { "\(latitude),\(longitude)" }
}
