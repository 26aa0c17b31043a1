#if Server
    import Crypto
    import CryptoExtras
    import Foundation
    import StrataStore

    /// Hashes passwords with scrypt on a queue of its own, one at a time, because each hash takes tens of megabytes and
    /// milliseconds: a flood of log-ins waits in line instead of taking the machine.
    final class PasswordHasher: Sendable {
        private let cost: PasswordCost
        private let queue = DispatchQueue(label: "strata.server.passwords", qos: .background)
        private let waiting = Guarded(0)
        private static let longestLine = 256
        /// Verified in place of the hash of an account that does not exist, so that the time tells nothing.
        private let decoy: String

        init(cost: PasswordCost) {
            self.cost = cost
            decoy = [
                "scrypt", String(cost.rounds), String(cost.blockSize), String(cost.parallelism),
                Data(repeating: 1, count: 16).base64EncodedString(),
                Data(repeating: 2, count: 32).base64EncodedString(),
            ].joined(separator: "$")
        }

        /// A password as it is kept: the parameters, the salt and the hash.
        func hash(_ password: String) async throws(ServerError) -> String {
            try Self.check(password)
            let cost = cost
            return try await work { () throws(ServerError) in
                var salt = Data(count: 16)
                for index in salt.indices { salt[index] = .random(in: .min ... .max) }
                let hash = try Self.derive(password, salt, cost, count: 32)
                return [
                    "scrypt", String(cost.rounds), String(cost.blockSize), String(cost.parallelism),
                    salt.base64EncodedString(), hash.base64EncodedString(),
                ].joined(separator: "$")
            }
        }

        /// Whether a password is the one of a hash; no password is that of nil, but finding out takes as long.
        func verify(_ password: String, _ kept: String?) async throws(ServerError) -> Bool {
            let parts = (kept ?? decoy).split(separator: "$")
            guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]), let size = Int(parts[2]),
                let lanes = Int(parts[3]), let salt = Data(base64Encoded: String(parts[4])),
                let expected = Data(base64Encoded: String(parts[5])), password.utf8.count <= 1024
            else { return false }
            let cost = PasswordCost(rounds: rounds, blockSize: size, parallelism: lanes)
            let found = try await work { () throws(ServerError) in
                try Self.derive(password, salt, cost, count: expected.count)
            }
            return ConstantTime.areEqual(found, expected) && kept != nil
        }

        static func check(_ password: String) throws(ServerError) {
            guard (1...1024).contains(password.utf8.count) else {
                throw .badRequest("A password has 1 to 1,024 bytes.")
            }
        }

        private static func derive(
            _ password: String, _ salt: Data, _ cost: PasswordCost, count: Int
        ) throws(ServerError) -> Data {
            do {
                let key = try KDF.Scrypt.deriveKey(
                    from: Data(password.utf8), salt: salt, outputByteCount: count, rounds: cost.rounds,
                    blockSize: cost.blockSize, parallelism: cost.parallelism)
                return key.withUnsafeBytes { Data($0) }
            } catch {
                throw ServerError(500, "The password cannot be hashed.")
            }
        }

        private func work<T: Sendable>(
            _ body: @escaping @Sendable () throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            let isFree = waiting.withLock { waiting in
                guard waiting < Self.longestLine else { return false }
                waiting += 1
                return true
            }
            guard isFree else { throw ServerError(503, "Too many are logging in.", retryAfter: 2) }
            let result: Result<T, ServerError> = await withCheckedContinuation { continuation in
                queue.async {
                    let result = Result { () throws(ServerError) in try body() }
                    self.waiting.withLock { $0 -= 1 }
                    continuation.resume(returning: result)
                }
            }
            return try result.get()
        }
    }
#endif
