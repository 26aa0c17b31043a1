#if Server
    import StrataStore

    /// Wakes those who follow the changes of schemas once these are on the disk.
    final class ChangeSignal: Sendable {
        /// What stands for the end of sessions; schemas have no capitals in their names.
        static let sessions = "ServerSession"

        private struct State {
            var listeners: [String: [ObjectIdentifier: SocketLine]] = [:]
            var isPolled = false

            mutating func remove(_ line: SocketLine) {
                for (schema, var lines) in listeners where lines.removeValue(forKey: ObjectIdentifier(line)) != nil {
                    listeners[schema] = lines.isEmpty ? nil : lines
                }
            }
        }

        private let state = Guarded(State())

        /// Adds a listener, or changes what it listens to.
        /// - Returns: Whether somebody has to begin to ask for the changes of other servers, if there are any.
        func add(_ line: SocketLine, _ schemas: Set<String>) -> Bool {
            state.withLock { state in
                state.remove(line)
                for schema in schemas { state.listeners[schema, default: [:]][ObjectIdentifier(line)] = line }
                defer { state.isPolled = true }
                return !state.isPolled
            }
        }

        /// Removes a listener.
        func remove(_ line: SocketLine) { state.withLock { $0.remove(line) } }

        /// Whether there still is a listener; who asks for changes stops if there is none.
        var isHeard: Bool {
            state.withLock { state in
                if state.listeners.isEmpty { state.isPolled = false }
                return state.isPolled
            }
        }

        /// Some schemas have changed.
        func post(_ schemas: Set<String>) {
            guard !schemas.isEmpty else { return }
            let woken = state.withLock { state in
                schemas.flatMap { schema in (state.listeners[schema] ?? [:]).values.map { (schema, $0) } }
            }
            for (schema, line) in woken { line.wake(schema) }
        }

        /// Any schema may have changed.
        func postAll() { post(Set(state.withLock { $0.listeners.keys })) }
    }
#endif
