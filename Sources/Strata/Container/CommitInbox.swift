import StrataStore
import Synchronization

/// Where a context finds the commits of others. Any thread may post; the context takes the content out in its own
/// isolation, at its next boundary.
///
/// A context that does not look for a long time costs little memory: many commits become a set of keys to refresh, and many
/// keys become "refresh everything".
final class CommitInbox: Sendable {
    /// What has arrived since the context looked last.
    enum Content: Sendable {
        /// Single commits, in their order.
        case commits([CommitNotification])
        /// Objects to refresh, by hierarchy, because there were too many commits.
        case keys([Int: Set<Int64>])
        /// Everything is to be refreshed, because there were too many keys.
        case everything
    }

    fileprivate struct State: Sendable {
        var content = Content.commits([])
        /// The rows of the commits, or the number of keys.
        var size = 0
        /// Called after a post to an empty inbox, on the poster's thread.
        var onFirstPost: (@Sendable () -> Void)?

        mutating func removeAll() {
            content = .commits([])
            size = 0
        }
    }

    /// Beyond this many rows, commits are reduced to keys.
    static let mostRows = 4_096
    /// Beyond this many commits, they are reduced to keys.
    static let mostCommits = 256
    /// Beyond this many keys, everything is to be refreshed.
    static let mostKeys = 20_000

    /// The number of the context, which tells its own commits from those of others.
    let contextNumber: Int
    /// Who posts. The core of the context keeps it alive.
    private unowned let coordinator: StoreCoordinator
    private let state = Guarded(State())
    /// Whether there is anything to take: contexts ask at each boundary, and most often there is not.
    private let isFull = Atomic<Bool>(false)
    private let opened = Atomic<Bool>(false)
    /// Whether the coordinator knows the inbox. Most contexts of a server never open theirs.
    private let isRegistered = Atomic<Bool>(false)

    private static let counter = Atomic<Int>(0)

    private var model: ManagedObjectModel { coordinator.model }

    init(_ coordinator: StoreCoordinator) {
        self.coordinator = coordinator
        contextNumber = Self.counter.add(1, ordering: .relaxed).newValue
    }

    /// Whether commits are kept. If a context does not merge them, they would be kept until it is released.
    var isOpen: Bool {
        get { opened.load(ordering: .relaxed) }
        set {
            if newValue, !isRegistered.exchange(true, ordering: .relaxed) { coordinator.add(self) }
            opened.store(newValue, ordering: .relaxed)
            if !newValue { _ = takeAll() }
        }
    }

    /// Keeps a commit of another context.
    func post(_ notification: CommitNotification) {
        post { $0.add(notification, model) }
    }

    /// Keeps keys of objects that look different now.
    func post(_ keys: [Int: Set<Int64>]) {
        post { $0.add(keys, model) }
    }

    /// Notes that anything may have changed.
    func postEverything() {
        post { state in
            state.content = .everything
            state.size = 0
        }
    }

    private func post(_ change: (inout State) -> Void) {
        guard isOpen else { return }
        let onFirstPost = state.withLock { state in
            let wasFull = isFull.exchange(true, ordering: .acquiringAndReleasing)
            change(&state)
            return wasFull ? nil : state.onFirstPost
        }
        onFirstPost?()
    }

    /// Puts back what could not be applied.
    func putBack(_ content: Content) {
        state.withLock { state in
            isFull.store(true, ordering: .releasing)
            state.putBack(content, model)
        }
    }

    /// Whether there is anything to take.
    var hasContent: Bool { isFull.load(ordering: .acquiring) }

    /// Empties the inbox.
    func takeAll() -> Content {
        guard hasContent else { return .commits([]) }
        return state.withLock { state in
            isFull.store(false, ordering: .releasing)
            defer { state.removeAll() }
            return state.content
        }
    }

    func setOnFirstPost(_ handler: (@Sendable () -> Void)?) {
        state.withLock { $0.onFirstPost = handler }
    }
}

extension CommitInbox.State {
    mutating func add(_ notification: CommitNotification, _ model: ManagedObjectModel) {
        switch content {
        case .commits(var commits):
            let size = size + notification.size
            guard commits.count < CommitInbox.mostCommits, size <= CommitInbox.mostRows else {
                reduceToKeys(commits + [notification], model)
                return
            }
            content = .commits([])
            commits.append(notification)
            content = .commits(commits)
            self.size = size
        case .keys: addKeys(notification.affectedKeys(model).mapValues(Set.init))
        case .everything: break
        }
    }

    mutating func add(_ keys: [Int: Set<Int64>], _ model: ManagedObjectModel) {
        if case .commits(let commits) = content { reduceToKeys(commits, model) }
        addKeys(keys)
    }

    mutating func putBack(_ old: CommitInbox.Content, _ model: ManagedObjectModel) {
        let newer = content
        content = old
        size = 0
        if case .keys(let keys) = old { size = keys.values.reduce(0) { $0 + $1.count } }
        switch newer {
        case .commits(let commits): for commit in commits { add(commit, model) }
        case .keys(let keys): addKeys(keys)
        case .everything: content = .everything
        }
    }

    private mutating func reduceToKeys(_ commits: [CommitNotification], _ model: ManagedObjectModel) {
        content = .keys([:])
        size = 0
        for commit in commits { addKeys(commit.affectedKeys(model).mapValues(Set.init)) }
    }

    private mutating func addKeys(_ more: [Int: Set<Int64>]) {
        guard case .keys(var keys) = content else { return }
        content = .everything
        for (root, added) in more {
            let before = keys[root]?.count ?? 0
            keys[root, default: []].formUnion(added)
            size += (keys[root]?.count ?? 0) - before
        }
        if size <= CommitInbox.mostKeys { content = .keys(keys) } else { size = 0 }
    }
}
