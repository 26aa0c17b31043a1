import Foundation

/// A source of the device's position.
///
///     struct Map: LocationProvider {
///         let pin: GeoPoint?
///         func currentLocation() async throws -> GeoPoint {
///             guard let pin else { throw StackMobError.locationManagerFailed.error("no place is chosen") }
///             return pin
///         }
///     }
///
///     let here = try await GeoPoint.current(from: Map(pin: GeoPoint(latitude: 59.9, longitude: 10.7)))
///
/// Linux has no service for that; an app gives what it has: a receiver, a map that the user points at, a ``FixedLocation``. On
/// Apple platforms, wrap Core Location. Use the position in conditions such as ``StackMobCondition/near(_:_:maximumRadians:)``.
public protocol LocationProvider: Sendable {
    /// Where the device is now.
    /// - Throws: Any error if that cannot be told; who asked gets it as part of a ``RemoteError`` with code -110.
    func currentLocation() async throws -> GeoPoint
}

/// A location provider with a place that does not move: for tests, and for devices that stay where they are.
///
///     let provider = FixedLocation(GeoPoint(latitude: 59.91, longitude: 10.75))
///     let here = try await GeoPoint.current(from: provider)
///     let query = StackMobQuery("cafe").where("place", within: 5, kilometersOf: here)
///
/// `GeoPoint.current(from:)` checks the place: one with a latitude beyond 90 degrees is an error with code -110.
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
