#if Server
    import StrataStore

    /// The first of several answers to a request, for one who waits for it.
    final class FirstAnswer: Sendable {
        private enum State {
            case open
            case awaited(CheckedContinuation<ServerResponse, Never>)
            case given(ServerResponse)
        }

        private let state = Guarded(State.open)

        /// Gives an answer, which counts if it is the first.
        func give(_ answer: ServerResponse) {
            let waiter: CheckedContinuation<ServerResponse, Never>? = state.withLock { state in
                switch state {
                case .given: return nil
                case .open:
                    state = .given(answer)
                    return nil
                case .awaited(let waiter):
                    state = .given(answer)
                    return waiter
                }
            }
            waiter?.resume(returning: answer)
        }

        /// The answer, as soon as there is one. Only one task may ask.
        var value: ServerResponse {
            get async {
                await withCheckedContinuation { continuation in
                    let answer: ServerResponse? = state.withLock { state in
                        if case .given(let answer) = state { return answer }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let answer { continuation.resume(returning: answer) }
                }
            }
        }
    }
#endif
