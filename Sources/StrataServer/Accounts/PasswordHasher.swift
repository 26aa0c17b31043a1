#if Server
    import Crypto
    import CryptoExtras
    import Foundation

    /// Hashes passwords with scrypt, in a line that is fair to all clients.
    final class PasswordHasher: Sendable {
        let policy: PasswordPolicy
        private let line = HashLine()
        /// Verified in place of the hash of an account that does not exist, so that the time tells nothing.
        private let decoy: String

        init(_ policy: PasswordPolicy) {
            self.policy = policy
            decoy = Self.spelling(policy.cost, Data(repeating: 1, count: 16), Data(repeating: 2, count: 32))
        }

        private static func spelling(_ cost: PasswordCost, _ salt: Data, _ hash: Data) -> String {
            [
                "scrypt", String(cost.rounds), String(cost.blockSize), String(cost.parallelism),
                salt.base64EncodedString(), hash.base64EncodedString(),
            ].joined(separator: "$")
        }

        /// A password as it is kept: the parameters, the salt and the hash.
        /// - Throws: ``ServerError`` 400 for one that ``PasswordPolicy`` refuses.
        func hash(_ password: String, for client: String) async throws(ServerError) -> String {
            try check(password)
            let cost = policy.cost
            return try await line.run(for: client) { () throws(ServerError) in
                let salt = Self.salt()
                let hash = try Self.derive(password, salt, cost, count: 32)
                return Self.spelling(cost, salt, hash.withUnsafeBytes { Data($0) })
            }
        }

        private static func salt() -> Data {
            var generator = SystemRandomNumberGenerator()
            return Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        /// Whether a password is the one of a hash; no password is that of nil, but finding out takes as long.
        func verify(_ password: String, _ kept: String?, for client: String) async throws(ServerError) -> Bool {
            let parts = (kept ?? decoy).split(separator: "$")
            guard let cost = Self.cost(parts), let salt = Data(base64Encoded: String(parts[4])),
                let expected = Data(base64Encoded: String(parts[5])), password.utf8.count <= 1024
            else { return false }
            let found = try await line.run(for: client) { () throws(ServerError) in
                try Self.derive(password, salt, cost, count: expected.count)
            }
            // Keys are compared in constant time.
            return found == SymmetricKey(data: expected) && kept != nil
        }

        /// Whether a hash was made at another cost than that of today.
        func isOutdated(_ kept: String) -> Bool { Self.cost(kept.split(separator: "$")) != policy.cost }

        private static func cost(_ parts: [Substring]) -> PasswordCost? {
            guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]), let size = Int(parts[2]),
                let lanes = Int(parts[3])
            else { return nil }
            return PasswordCost(rounds: rounds, blockSize: size, parallelism: lanes)
        }

        func check(_ password: String) throws(ServerError) {
            guard (policy.minimumLength...max(1024, policy.minimumLength)).contains(password.utf8.count) else {
                throw .badRequest("A password has \(policy.minimumLength) to 1,024 bytes.")
            }
        }

        private static func derive(
            _ password: String, _ salt: Data, _ cost: PasswordCost, count: Int
        ) throws(ServerError) -> SymmetricKey {
            do {
                return try KDF.Scrypt.deriveKey(
                    from: Data(password.utf8), salt: salt, outputByteCount: count, rounds: cost.rounds,
                    blockSize: cost.blockSize, parallelism: cost.parallelism)
            } catch {
                throw ServerError(500, "The password cannot be hashed.")
            }
        }
    }
#endif
