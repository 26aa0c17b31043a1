import Foundation

/// The header `Authorization: MAC …` of a signed request.
package struct MACAuthorization: Sendable, Hashable {
    /// The access token of the session whose key signs.
    package var id: String
    /// The time of the signature in whole seconds since 1970.
    package var timestamp: String
    /// A text that was not used with this time before.
    package var nonce: String
    /// The signature in base64.
    package var mac: String

    /// Describes a header.
    package init(id: String, timestamp: String, nonce: String, mac: String) {
        self.id = id
        self.timestamp = timestamp
        self.nonce = nonce
        self.mac = mac
    }

    /// Reads a header.
    /// - Returns: nil for any other text, and for a part that is missing, empty or longer than 512 bytes.
    package init?(header: String) {
        guard let parameters = AuthorizationHeader.parameters(header, scheme: "MAC") else { return nil }
        func part(_ name: String) -> String? {
            parameters.first { $0.name == name }.flatMap { (1...512).contains($0.value.utf8.count) ? $0.value : nil }
        }
        guard let id = part("id"), let timestamp = part("ts"), let nonce = part("nonce"), let mac = part("mac") else {
            return nil
        }
        self.init(id: id, timestamp: timestamp, nonce: nonce, mac: mac)
    }

    /// The text of the header.
    package var header: String {
        "MAC "
            + [("id", id), ("ts", timestamp), ("nonce", nonce), ("mac", mac)].map(AuthorizationHeader.spelling)
            .joined(separator: ",")
    }
}

#if Remote
    extension MACAuthorization {
        /// Signs a request.
        /// - Parameters:
        ///   - key: The key of the session.
        ///   - timestamp: The time in whole seconds since 1970.
        ///   - nonce: A text that was not used with this time before.
        package init(signing target: MACTarget, id: String, key: String, timestamp: String, nonce: String) {
            let code = HMACSHA1.code(of: target.message(timestamp: timestamp, nonce: nonce), key: key)
            self.init(id: id, timestamp: timestamp, nonce: nonce, mac: code.base64EncodedString())
        }

        /// Whether the signature is that of a request in one of its forms, see
        /// ``MACTarget/candidates(method:target:authority:scheme:)``. The time it takes tells nothing of the right one.
        package func isValid(for candidates: [MACTarget], key: String) -> Bool {
            guard let code = Data(base64Encoded: mac) else { return false }
            return candidates.contains {
                HMACSHA1.isCode(code, of: $0.message(timestamp: timestamp, nonce: nonce), key: key)
            }
        }
    }
#endif
