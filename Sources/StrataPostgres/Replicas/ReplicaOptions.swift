#if Postgres
    import Foundation
    import StrataStore

    extension PostgresStore {
        /// The replicas of a server, and how contexts that may read them do so.
        ///
        ///     var options = PostgresStore.Options()
        ///     options.replicas = PostgresStore.Replicas(
        ///         ["postgres://app@replica.example.com/cities"], maximumStaleness: .seconds(2))
        public struct Replicas: Sendable, Hashable {
            /// The addresses, as in ``PostgresStore/open(model:at:options:)``: each leads to one streaming replica of the server.
            public var addresses: [String]
            /// How old the state that a replica shows may be when a read begins: 10 milliseconds to an hour. Where that is not
            /// proved, the primary is read.
            public var maximumStaleness: Duration
            /// How long a replica is left alone that has failed, or cannot be used, before it is tried again.
            public var retryPause: Duration = .seconds(5)
            /// How long a statement may take on a replica. After that the replica is given up for this read, and the primary is
            /// asked.
            public var timeout: Duration = .seconds(30)
            /// The maximum number of connections to each replica, 1 to 1,000.
            public var connectionLimit = 8

            /// Replicas by their addresses.
            public init(_ addresses: [String], maximumStaleness: Duration = .seconds(5)) {
                self.addresses = addresses
                self.maximumStaleness = maximumStaleness
            }

            func check() throws(StoreError) {
                func refuse(_ name: String, _ value: some CustomStringConvertible, _ range: String) -> StoreError {
                    .invalidOption(name: "replicas.\(name)", value: value.description, reason: "it must be \(range)")
                }
                guard (0.01...3600).contains(maximumStaleness.inSeconds) else {
                    throw refuse("maximumStaleness", maximumStaleness, "10 milliseconds to an hour")
                }
                for (name, value) in [("retryPause", retryPause), ("timeout", timeout)]
                where !(0.01...86_400).contains(value.inSeconds) {
                    throw refuse(name, value, "10 milliseconds to a day")
                }
                guard (1...1000).contains(connectionLimit) else {
                    throw refuse("connectionLimit", connectionLimit, "1 to 1,000")
                }
            }

            /// How often the positions of the servers are looked at while reads go on.
            var interval: Duration { min(maximumStaleness / 4, .seconds(1)) }
        }

        /// A replica of a store as this process sees it.
        public struct ReplicaState: Sendable, Hashable {
            /// The address, without its password.
            public let address: String
            /// Whether the replica is used: it answers, and is a replica of the store's server with the same model.
            public let isUsable: Bool
            /// Why it is not used; nil if it is.
            public let problem: String?
            /// How many bytes of the primary's log it had not replayed when both were last looked at; nil before that.
            public let missingBytes: Int?
            /// How many reads it has answered.
            public let answers: Int
        }
    }
#endif
