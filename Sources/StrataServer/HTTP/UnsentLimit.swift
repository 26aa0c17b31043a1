#if Server
    import NIOCore

    /// Limits how much of an answer the system takes before the client has room for it.
    ///
    /// Without a limit, the send queue of a connection grows to megabytes, and takes nothing new before a third of it
    /// has gone. A client that reads 100 KB a second would seem to stand still for half a minute, and as many clients
    /// as there are connections could each hold that much memory.
    enum UnsentLimit {
        /// The system asks for more when half of these bytes are left. It does not count what is on its way, so that
        /// fast connections are not slowed down.
        private static let limit: SocketOptionValue = 128 * 1024

        // `TCP_NOTSENT_LOWAT`, by the number that the system's header gives it.
        #if canImport(Darwin)
            private static let option = ChannelOptions.tcpOption(.init(rawValue: 0x201))
        #else
            private static let option = ChannelOptions.tcpOption(.init(rawValue: 25))
        #endif

        /// Sets the limit. A system without the option works without one.
        static func set(_ channel: any Channel) {
            try? channel.syncOptions?.setOption(option, value: limit)
        }
    }
#endif
