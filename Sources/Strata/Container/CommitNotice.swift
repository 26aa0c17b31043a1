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

    init(contextNumber: Int) { self.contextNumber = contextNumber }

    func post(_ notice: CommitNotice) {
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
