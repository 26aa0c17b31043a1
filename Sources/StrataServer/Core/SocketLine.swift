#if Server
    import StrataStore

    /// What a dialect does with a web socket.
    protocol SocketDialogue: Sendable {
        /// Reads and sends texts until the connection ends; its end ends the connection.
        func hold(_ line: SocketLine) async
    }

    /// Why a web socket is closed, by the numbers of RFC 6455.
    enum SocketClosing: Int, Sendable {
        case normal = 1000
        /// The server ends.
        case goingAway = 1001
        case protocolError = 1002
        case notUTF8 = 1007
        /// The client does what it may not.
        case policy = 1008
        case tooLarge = 1009
        /// The client may try again.
        case tryAgain = 1013
    }

    /// What carries the texts of a web socket.
    protocol SocketCarrier: Sendable {
        /// Sends a text, and returns when the client has room for more.
        /// - Returns: Whether the connection is still open.
        func send(_ text: String) async -> Bool
        /// Closes the connection once all that was sent is gone.
        func close(_ reason: SocketClosing)
        /// The texts that came have been read.
        func readOn()
    }

    /// A part of the memory that clients may use, which is given back when the last owner is released.
    protocol MemoryShare: Sendable {
        /// Takes more.
        /// - Throws: ``ServerError`` 503 if there is no more.
        func take(_ bytes: Int) throws(ServerError)
    }

    /// The server's end of a web socket: what has come for a dialogue, in one line, and the way back.
    ///
    /// One task reads. What wakes it is merged while it works, so that a dialogue that is slow has no more to remember.
    final class SocketLine: Sendable {
        enum Arrival: Sendable, Hashable {
            case text(String)
            /// A message that is not text.
            case binary
            /// Something that the dialogue listens to has changed; see ``SocketLine/wake(_:)``.
            case woken(Set<String>)
            /// Another interval between two pings is over.
            case tick

            fileprivate var size: Int { if case .text(let text) = self { text.utf8.count } else { 0 } }
        }

        private struct State {
            var messages: [Arrival] = []
            /// The bytes of the messages.
            var size = 0
            var woken: Set<String> = []
            var isTicked = false
            var isClosed = false
            var isWokenLast = false
            var waiter: CheckedContinuation<Void, Never>?

            /// What is next. Messages and changes take turns, so that neither waits for the end of the other.
            mutating func next() -> Arrival? {
                if isTicked {
                    isTicked = false
                    return .tick
                }
                if !woken.isEmpty, messages.isEmpty || !isWokenLast {
                    defer { woken = [] }
                    isWokenLast = true
                    return .woken(woken)
                }
                isWokenLast = false
                guard !messages.isEmpty else { return nil }
                size -= messages[0].size
                return messages.removeFirst()
            }

            var hasRoom: Bool { messages.count < SocketLine.room && size < SocketLine.roomSize }
        }

        /// No more is read from the connection while as many messages wait.
        private static let room = 16
        /// Nor while as many bytes wait.
        private static let roomSize = 64 * 1024

        private let state = Guarded(State())
        private let carrier: any SocketCarrier
        private let share: @Sendable () -> any MemoryShare

        /// - Parameter share: Makes a share of the memory that the client may use.
        init(_ carrier: any SocketCarrier, share: @escaping @Sendable () -> any MemoryShare) {
            self.carrier = carrier
            self.share = share
        }

        // MARK: For the dialogue

        /// What comes next; nil when the connection has ended.
        func next() async -> Arrival? {
            while true {
                let (arrival, isClosed, hasRoom) = state.withLock { state in
                    let wasFull = !state.hasRoom
                    let arrival = state.isClosed ? nil : state.next()
                    return (arrival, state.isClosed, wasFull && state.hasRoom)
                }
                if hasRoom { carrier.readOn() }
                if arrival != nil || isClosed { return arrival }
                await withCheckedContinuation { continuation in
                    let isThere = state.withLock { state in
                        let isThere =
                            state.isClosed || state.isTicked || !state.woken.isEmpty || !state.messages.isEmpty
                        if !isThere { state.waiter = continuation }
                        return isThere
                    }
                    if isThere { continuation.resume() }
                }
            }
        }

        /// Sends a text, and returns when the client has room for more.
        /// - Returns: Whether the connection is still open.
        func send(_ text: String) async -> Bool { await carrier.send(text) }

        /// Closes the connection once all that was sent is gone.
        func close(_ reason: SocketClosing) { carrier.close(reason) }

        /// A share of the memory that the client may use.
        func memory() -> any MemoryShare { share() }

        // MARK: For the connection and for what the dialogue listens to

        /// A message has come.
        func receive(_ message: Arrival) {
            change { state in
                state.messages.append(message)
                state.size += message.size
            }
        }

        /// Whether there is room for another message.
        var hasRoom: Bool { state.withLock { $0.hasRoom } }

        /// What has a name has changed.
        func wake(_ name: String) { change { _ = $0.woken.insert(name) } }

        /// Another interval between two pings is over.
        func tick() { change { $0.isTicked = true } }

        /// The connection has ended.
        func end() { change { $0.isClosed = true } }

        private func change(_ body: (inout State) -> Void) {
            let waiter = state.withLock { state in
                body(&state)
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
#endif
