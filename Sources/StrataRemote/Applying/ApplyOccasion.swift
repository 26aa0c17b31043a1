import StrataStore

/// Where the records that a session applies come from, and which changes made here they answer.
struct ApplyOccasion {
    /// Whether the records have all values; false if only some properties were requested.
    var isWhole = true
    /// Taken before the request was sent; nil if no other answer can have come since.
    var ticket: ReadTicket?
    /// An entry of the outbox whose conflict has been decided: what it still has is put on top of what is told.
    var settled: OutboxEntry?
    /// Objects whose entries the same answer settles, by topmost entity and key: their own records tell their members.
    var settling: Set<RowIdentity> = []
    /// A change that the server has carried out, and whether the answer tells what it has made of that, and nobody else's changes.
    var completed: (entry: OutboxEntry, isOwn: Bool)?
    /// If the records are the server's answers to changes made here, which it has carried out: whether they tell nothing that others
    /// have changed since.
    var isOwnEcho: Bool?
    /// Objects whose entries were carried out whatever others have made of them, and what those have changed: anything else that the
    /// answer tells is by others.
    var passing: [RowIdentity: SlotSet] = [:]
}
