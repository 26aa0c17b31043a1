#if Server
    /// Why a server cannot start.
    public struct ServerSetupError: Error, Sendable, CustomStringConvertible {
        /// What is wrong and what to do.
        public let description: String

        /// Describes what is wrong.
        public init(_ description: String) { self.description = description }
    }
#endif
