#if Server
    import Foundation
    import Strata
    import StrataStore

    // What a server does before each read and write because others write to the same database.
    extension Database {
        /// How often a database that is being grown is looked at again.
        private static let reopeningLimit = 100

        /// Learns what other servers have written.
        /// - Returns: The number of the last change.
        func catchUp() throws(ServerError) -> Int64 {
            let container = state.withLock(\.container)
            container.forgetSharedRows()
            let counter: SharedCounter?
            do throws(PersistenceError) {
                counter = try SharedCounter(in: container.newContext())
            } catch {
                throw ServerError(error)
            }
            guard let counter else {
                throw ServerError(500, "The database has no counter of changes; start the server again.")
            }
            sequences.advance(to: counter)
            if state.withLock({ $0.version < counter.version }) { try reopen(counter.version) }
            state.withLock { $0.committed = max($0.committed, counter.sequence) }
            return counter.sequence
        }

        /// Wakes a dialogue when objects of schemas have changed, or ``ChangeSignal/sessions`` have ended.
        func listen(_ line: SocketLine, to schemas: Set<String>) {
            if signal.add(line, schemas), storage.isShared { Task { await poll() } }
        }

        /// Asks for what other servers write, while a dialogue listens.
        private func poll() async {
            var last = state.withLock(\.committed)
            while signal.isHeard {
                try? await Task.sleep(for: .seconds(1))
                // Where the database does not answer, the next round asks again.
                guard let now = try? await follow({ $0.visibleSequence }), now != last else { continue }
                last = now
                signal.postAll()
            }
        }

        /// Opens the database again, because another server has grown it.
        private func reopen(_ version: Int64) throws(ServerError) {
            reopening.lock()
            defer { reopening.unlock() }
            for _ in 0..<Self.reopeningLimit {
                if state.withLock({ $0.version >= version || $0.isClosed }) { return }
                do {
                    if let stored = try storage.stored(),
                        let container = try storage.open(
                            try StorageModel.make(stored.catalogue, hints: hints, isShared: true))
                    {
                        return state.withLock {
                            guard !$0.isClosed else { return container.close() }
                            $0.catalogue = stored.catalogue
                            $0.version = stored.version
                            // Reads that are under way go on with the old container.
                            $0.container = container
                        }
                    }
                } catch let error as PersistenceError {
                    throw ServerError(error)
                } catch {
                    throw ServerError(503, "The database was changed by another server.", retryAfter: 1)
                }
                // It was grown once more since its catalogue was read.
                Thread.sleep(forTimeInterval: 0.02)
            }
            throw ServerError(
                503, "Another server has a database with other schemas; give all servers the same model file.",
                retryAfter: 5)
        }
    }
#endif
