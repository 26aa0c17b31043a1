#if Server
    import Foundation

    /// Tells the time; tests have their own.
    public struct ServerClock: Sendable {
        /// Milliseconds since 1970.
        var now: @Sendable () -> Int64

        /// The milliseconds since 1970 now.
        var milliseconds: Int64 { now() }

        /// The clock of the machine.
        public static let system = ServerClock { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

        /// A clock that asks a closure for the milliseconds since 1970.
        public init(milliseconds: @escaping @Sendable () -> Int64) { now = milliseconds }
    }
#endif
