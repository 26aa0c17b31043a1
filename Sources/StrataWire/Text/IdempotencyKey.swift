import Foundation

/// The header by which `strata-server` recognizes a repeated write.
package enum IdempotencyKey {
    /// Its name.
    package static let header = "Idempotency-Key"

    /// The header of a write.
    package static func headers(_ token: UUID) -> [String: String] { [header: token.uuidString] }
}
