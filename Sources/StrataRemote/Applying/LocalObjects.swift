import StrataStore

/// What has been read of the objects that records are about, as the transaction found them.
struct LocalObjects {
    /// By topmost entity and key.
    var rows: [RowIdentity: RowReference] = [:]
    /// What has been looked up of objects before, by topmost entity.
    var known: [Int: [String: KnownObject]] = [:]
    /// The entries of the outbox, as far as they have been looked for, by topmost entity and key.
    var waiting: [RowIdentity: [OutboxEntry]] = [:]
    /// Whether the outbox is empty; nil if it has not been looked at.
    var outboxIsEmpty: Bool?
    /// Whether there are references to objects that were deleted; nil if nobody has looked.
    var hasLinks: Bool?
    /// The versions of objects that were deleted here and come back, by topmost entity and key.
    var deletedVersions: [RowIdentity: Int64] = [:]
}
