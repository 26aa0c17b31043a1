#if Postgres
    import Foundation
    import StrataStore

    /// Listens on a channel, on a thread of its own, and connects again when the connection is lost. Notifications that came
    /// meanwhile are lost, so the handler is called after each connection, too.
    final class PostgresListener: Sendable {
        private let isStopped = Guarded(false)

        /// How often the thread checks whether it is to stop, and how long it waits before it connects again, in milliseconds.
        private static let pause: Int32 = 200

        /// - Parameters:
        ///   - connect: Makes a connection.
        ///   - onNotification: Called with each notification; nil after the connection was made again.
        init(
            channel: String, connect: @escaping @Sendable () throws -> PostgresConnection,
            onNotification: @escaping @Sendable (PostgresConnection.Notification?) -> Void
        ) {
            let isStopped = isStopped
            let ready = DispatchSemaphore(value: 0)
            let thread = Thread {
                var isFirst = true
                while !isStopped.withLock(\.self) {
                    do {
                        let connection = try connect()
                        try connection.run("LISTEN \"\(channel)\"")
                        if isFirst { ready.signal() } else { onNotification(nil) }
                        isFirst = false
                        while !isStopped.withLock(\.self) {
                            for notification in try connection.notifications(waiting: Self.pause) {
                                onNotification(notification)
                            }
                        }
                    } catch {
                        if isFirst { ready.signal() }
                        isFirst = false
                        Thread.sleep(forTimeInterval: Double(Self.pause) / 1000)
                    }
                }
            }
            thread.name = "strata.postgres.listener"
            thread.start()
            // What is committed after the observer has begun must not be missed.
            ready.wait()
        }

        deinit { isStopped.withLock { $0 = true } }
    }
#endif
