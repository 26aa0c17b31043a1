#if Postgres
    import Foundation
    import StrataCPostgres

    extension PostgresConnection {
        /// A message that another session has sent by `NOTIFY`.
        struct Notification: Sendable, Hashable {
            let channel: String
            let payload: String
            let process: Int32
        }

        /// The notifications that have come; waits for some.
        /// - Parameter milliseconds: How long to wait.
        func notifications(waiting milliseconds: Int32) throws(PostgresError) -> [Notification] {
            var result = pendingNotifications()
            if result.isEmpty {
                var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                if poll(&descriptor, 1, milliseconds) > 0, PQconsumeInput(handle) == 0 { throw lost() }
                result = pendingNotifications()
            }
            guard isOpen else { throw lost() }
            return result
        }

        private func pendingNotifications() -> [Notification] {
            var result: [Notification] = []
            while let raw = PQnotifies(handle) {
                result.append(
                    Notification(
                        channel: String(cString: raw.pointee.relname), payload: String(cString: raw.pointee.extra),
                        process: raw.pointee.be_pid))
                PQfreemem(raw)
            }
            return result
        }
    }
#endif
