/// New objects on their way to the server. The server may tell of them before the save that made them is in the mirror;
/// they would get other keys there than contexts know them by, so what tells of them waits for the save to end.
final class Births: Sendable {
    private struct Waiter {
        let ids: Set<String>
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// How many saves are under way that make an object with a primary key.
        var ids: [String: Int] = [:]
        var waiters: [Waiter] = []
    }

    private let state = Guarded(State())

    /// A save begins to send new objects. Whatever the entity: to wait for one too many does no harm.
    func begin(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        state.withLock { for id in ids { $0.ids[id, default: 0] += 1 } }
    }

    /// The save is in the mirror, or has failed.
    func end(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        let ready = state.withLock { state in
            for id in ids {
                if let count = state.ids[id] { state.ids[id] = count > 1 ? count - 1 : nil }
            }
            let ready = state.waiters.filter { waiter in waiter.ids.allSatisfy { state.ids[$0] == nil } }
            state.waiters.removeAll { waiter in waiter.ids.allSatisfy { state.ids[$0] == nil } }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Waits until no save makes any object of an answer.
    func settled(_ page: RemotePage) async {
        guard state.withLock({ !$0.ids.isEmpty }) else { return }
        var told: Set<String> = []
        for record in page.records { Self.add(record, to: &told) }
        let ids = told
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                let open = ids.filter { state.ids[$0] != nil }
                if !open.isEmpty { state.waiters.append(Waiter(ids: open, continuation: continuation)) }
                return open.isEmpty
            }
            if isFree { continuation.resume() }
        }
    }

    private static func add(_ record: RemoteRecord, to ids: inout Set<String>) {
        ids.insert(record.id)
        for value in record.values.values {
            switch value {
            case .value: break
            case .reference(let id): if let id { ids.insert(id) }
            case .references(let list): ids.formUnion(list)
            case .record(let inner): add(inner, to: &ids)
            case .records(let list): for inner in list { add(inner, to: &ids) }
            }
        }
    }
}
