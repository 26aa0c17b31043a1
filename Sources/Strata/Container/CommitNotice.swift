import Synchronization

/// A save that reached the store, as other contexts hear of it.
struct CommitNotice: Sendable {
    /// The context that saved.
    let contextNumber: Int
    let changes: ChangeSet
    /// The rows before the updates of ``changes``, in the same order.
    let previousRows: [RowReference]
    /// The last known rows of the deletes of ``changes``, where one was known.
    let deletedRows: [RowReference?]
}

/// Where a context finds the saves of others. Anybody may post; the context takes them out in its own isolation, at its next boundary.
final class NoticeMailbox: Sendable {
    let contextNumber: Int
    private let notices = Mutex<[CommitNotice]>([])
    /// Called after a post, from the poster's thread.
    private let onPost = Mutex<(@Sendable () -> Void)?>(nil)

    private let opened = Atomic<Bool>(false)

    init(contextNumber: Int) { self.contextNumber = contextNumber }

    /// Whether notices are kept. Those of a context that does not want them would pile up for as long as it lives.
    var isOpen: Bool {
        get { opened.load(ordering: .relaxed) }
        set { opened.store(newValue, ordering: .relaxed) }
    }

    func post(_ notice: CommitNotice) {
        guard isOpen else { return }
        notices.withLock { $0.append(notice) }
        onPost.withLock(\.self)?()
    }

    func takeAll() -> [CommitNotice] {
        notices.withLock { list in
            defer { list = [] }
            return list
        }
    }

    func setOnPost(_ handler: (@Sendable () -> Void)?) {
        onPost.withLock { $0 = handler }
    }
}
