import Foundation
import StrataStore

/// Values on their way to SQLite and back.
package enum SQLCoding {
    /// A value as SQLite keeps it; nil for what is not a single value, and for NaN, which SQLite cannot tell from nil.
    package static func encode(_ value: Value) -> SQLValue? {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .double(let number): number.isNaN ? nil : .double(number)
        case .decimal(let number): .text(number.description)
        case .string(let text): .text(text)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .date(let date):
            date.timeIntervalSinceReferenceDate.isNaN ? nil : .double(date.timeIntervalSinceReferenceDate)
        case .binary(let data): .blob(data)
        case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .uri(let uri): .text(uri.absoluteString)
        case .geoPoint(let point): .blob(bytes(point))
        case .object(let key): .integer(key)
        case .composite, .list, .set: nil
        }
    }

    /// The bytes in which equal points are equal: zero has one sign. A point with a coordinate that is not a number
    /// equals none.
    package static func canonicalBytes(_ point: GeoPoint) -> Data {
        bytes(GeoPoint(latitude: point.latitude + 0, longitude: point.longitude + 0))
    }

    /// A point as it is, as rows keep it.
    package static func bytes(_ point: GeoPoint) -> Data {
        let words = (point.latitude.bitPattern.littleEndian, point.longitude.bitPattern.littleEndian)
        return withUnsafeBytes(of: words) { Data($0) }
    }
}
