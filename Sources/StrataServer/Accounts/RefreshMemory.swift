#if Server
    import Crypto
    import Foundation
    import StrataStore

    /// The answers to refresh tokens of the last minute: clients whose requests end at the same moment each send theirs,
    /// and one whose answer was lost sends it again.
    final class RefreshMemory: Sendable {
        private struct Entry {
            var answer: JSONValue
            var until: Int64
        }

        private static let capacity = 10_000
        private let entries = Guarded<[String: Entry]>([:])
        private let shared: (any SharedMemory)?

        /// - Parameter shared: What other servers of the database remember, too; nil if there are none.
        init(shared: (any SharedMemory)? = nil) { self.shared = shared }

        /// The answer that a token had; nil if it was never used, or too long ago.
        func answer(to token: String, milliseconds now: Int64) throws(ServerError) -> JSONValue? {
            let digest = Sessions.digest(token)
            if let shared {
                guard let text = try shared.text(named: Self.name(digest), now: now) else { return nil }
                return Self.opened(text, token)
            }
            return entries.withLock { entries in
                guard let entry = entries[digest], entry.until >= now else { return nil }
                return entry.answer
            }
        }

        /// Remembers an answer. Without room for it, the token has no second answer.
        func keep(
            _ answer: JSONValue, to token: String, until: Int64, milliseconds now: Int64
        ) throws(ServerError) {
            let digest = Sessions.digest(token)
            if let shared {
                guard let text = Self.sealed(answer, token) else { return }
                // The write that gave another answer before may have failed.
                return try shared.replace(text, named: Self.name(digest), until: until, now: now)
            }
            entries.withLock { entries in
                if entries.count >= Self.capacity { entries = entries.filter { $0.value.until >= now } }
                if entries.count < Self.capacity { entries[digest] = Entry(answer: answer, until: until) }
            }
        }

        // MARK: In the database

        private static func name(_ digest: String) -> String { "refresh " + digest }

        /// Only who has the token can read its answer, so that the database holds no token that somebody could use.
        private static func key(_ token: String) -> SymmetricKey {
            SymmetricKey(data: SHA256.hash(data: Data(("answer to " + token).utf8)))
        }

        private static func sealed(_ answer: JSONValue, _ token: String) -> String? {
            try? AES.GCM.seal(Data(answer.description.utf8), using: key(token)).combined?.base64EncodedString()
        }

        private static func opened(_ text: String, _ token: String) -> JSONValue? {
            guard let data = Data(base64Encoded: text), let box = try? AES.GCM.SealedBox(combined: data),
                let plain = try? AES.GCM.open(box, using: key(token))
            else { return nil }
            return try? JSONValue(parsing: plain)
        }
    }
#endif
