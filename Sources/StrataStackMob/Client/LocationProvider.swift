import Foundation

/// Tells where this device is. Linux has no such service; an app gives what it has: a receiver, a map that the user
/// points at, a fixed place.
public protocol LocationProvider: Sendable {
    /// Where the device is now.
    /// - Throws: Any error if that cannot be told; who asked gets it as part of a ``RemoteError`` with code -110.
    func currentLocation() async throws -> GeoPoint
}

/// A place that does not move.
public struct FixedLocation: LocationProvider {
    /// The place.
    public var point: GeoPoint

    /// Takes a place.
    public init(_ point: GeoPoint) { self.point = point }

    /// The place.
    public func currentLocation() async throws -> GeoPoint { point }
}

extension GeoPoint {
    /// Where the device is.
    /// - Throws: ``RemoteError`` with code -110 if the provider cannot tell, or tells what is not a place on the earth.
    public static func current(from provider: any LocationProvider) async throws(RemoteError) -> GeoPoint {
        let point: GeoPoint
        do {
            point = try await provider.currentLocation()
        } catch {
            throw StackMobError.locationManagerFailed.error("the location provider failed: \(error)")
        }
        guard point.isValid else {
            throw StackMobError.locationManagerFailed.error(
                "the location provider returned \(point), which is not a place on the earth")
        }
        return point
    }
}
