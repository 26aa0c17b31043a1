#if Server
    /// What all servers of one database remember for a time.
    protocol SharedMemory: Sendable {
        /// Keeps a text until a time, unless another one of that name is kept already. Times are in milliseconds since 1970.
        /// - Returns: Whether it is kept.
        func keep(_ text: String, named name: String, until: Int64, now: Int64) throws(ServerError) -> Bool
        /// Keeps a text until a time, in place of another one of that name.
        func replace(_ text: String, named name: String, until: Int64, now: Int64) throws(ServerError)
        /// A text that is kept; nil if there is none.
        func text(named name: String, now: Int64) throws(ServerError) -> String?
    }
#endif
