import Synchronization

/// A save that reached the store, as other contexts hear of it.
struct CommitNotice: Sendable {
    /// The context that saved; nil if none did.
    let contextNumber: Int?
    let changes: ChangeSet
    let effects: CommitEffects
    /// The rows before the updates of ``changes``, in the same order.
    let previousRows: [RowReference]
    /// The last known rows of the deletes of ``changes``, where one was known.
    let deletedRows: [RowReference?]
}

/// Where a context finds the saves of others. Anybody may post; the context takes them out in its own isolation, at its
/// next boundary.
final class NoticeMailbox: Sendable {
    let contextNumber: Int
    private let notices = Guarded<[CommitNotice]>([])
    /// Whether there is anything to take: contexts ask at each boundary, and most often there is not.
    private let isFull = Atomic<Bool>(false)
    /// Called after a post to an empty mailbox, from the poster's thread.
    private let onFirstPost = Guarded<(@Sendable () -> Void)?>(nil)

    private let opened = Atomic<Bool>(false)

    init(contextNumber: Int) { self.contextNumber = contextNumber }

    /// Whether notices are kept. Those of a context that does not want them would pile up for as long as it lives.
    var isOpen: Bool {
        get { opened.load(ordering: .relaxed) }
        set { opened.store(newValue, ordering: .relaxed) }
    }

    func post(_ notice: CommitNotice) {
        guard isOpen else { return }
        let isFirst = notices.withLock { list in
            list.append(notice)
            isFull.store(true, ordering: .releasing)
            return list.count == 1
        }
        if isFirst { onFirstPost.withLock(\.self)?() }
    }

    /// Whether there is anything to take.
    var hasNotices: Bool { isFull.load(ordering: .acquiring) }

    func takeAll() -> [CommitNotice] {
        guard hasNotices else { return [] }
        return notices.withLock { list in
            defer { list = [] }
            isFull.store(false, ordering: .releasing)
            return list
        }
    }

    func setOnFirstPost(_ handler: (@Sendable () -> Void)?) {
        onFirstPost.withLock { $0 = handler }
    }
}
