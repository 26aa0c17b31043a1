#if Server
    import NIOCore

    /// The time until which something has to happen on a connection.
    ///
    /// Requests move that time all the while, so the timer of the event loop is left as it is, and looks again when it fires. It
    /// is set again at once only for a time that is earlier.
    final class ConnectionTimer {
        private let loop: any EventLoop
        private var deadline: NIODeadline?
        /// How far the deadline can be moved.
        private var limit = NIODeadline.distantFuture
        private var scheduled: Scheduled<Void>?
        private var wakesAt = NIODeadline.distantFuture
        private var expired: (() -> Void)?

        /// - Parameter expired: Called on the event loop each time that a deadline passes, until ``end()``.
        init(_ loop: any EventLoop, expired: @escaping () -> Void) {
            self.loop = loop
            self.expired = expired
        }

        /// Sets the deadline; nil for none.
        /// - Parameter limit: How far ``extend(by:)`` can move it.
        func set(_ deadline: NIODeadline?, limit: NIODeadline = .distantFuture) {
            self.limit = limit
            self.deadline = deadline.map { min($0, limit) }
            if let deadline = self.deadline, deadline < wakesAt, expired != nil { wake(at: deadline) }
        }

        /// Moves the deadline to so much time from now, if that is later.
        func extend(by time: TimeAmount) {
            if let deadline { self.deadline = max(deadline, min(.now() + time, limit)) }
        }

        func end() {
            expired = nil
            deadline = nil
            scheduled?.cancel()
            scheduled = nil
        }

        private func wake(at time: NIODeadline) {
            scheduled?.cancel()
            wakesAt = time
            scheduled = loop.assumeIsolated().scheduleTask(deadline: time) { [self] in look() }
        }

        private func look() {
            scheduled = nil
            wakesAt = .distantFuture
            guard let deadline else { return }
            guard deadline <= .now() else { return wake(at: deadline) }
            self.deadline = nil
            expired?()
        }
    }

    extension TimeAmount {
        /// As many seconds, at most a billion.
        init(seconds: Double) { self = .nanoseconds(Int64(min(seconds, 1e9) * 1e9)) }
    }
#endif
