#if Server
    import StrataStore

    /// Counts the open connections of each address.
    final class ConnectionCounts: Sendable {
        private let maximum: Int
        private let exempt: [ClientNetwork]
        private let counts = Guarded<[String: Int]>([:])

        /// - Parameters:
        ///   - maximum: How many an address may have.
        ///   - exempt: Who may have any number.
        init(maximum: Int, exempt: [ClientNetwork]) {
            self.maximum = maximum
            self.exempt = exempt
        }

        /// Counts a connection.
        /// - Returns: Whether the address may have it.
        func open(_ address: String) -> Bool {
            if exempt.contains(where: { $0.contains(address) }) { return true }
            return counts.withLock { counts in
                let name = ClientNetwork.name(of: address)
                counts[name, default: 0] += 1
                return counts[name, default: 0] <= maximum
            }
        }

        /// A connection that was counted is closed.
        func close(_ address: String) {
            if exempt.contains(where: { $0.contains(address) }) { return }
            counts.withLock { counts in
                let name = ClientNetwork.name(of: address)
                guard let count = counts[name] else { return }
                counts[name] = count > 1 ? count - 1 : nil
            }
        }
    }
#endif
