/// Primary keys for new objects that have none.
enum NewPrimaryKey {
    /// A key that no other object has: a UUID that begins with the time; for integers, which only servers assign, a random negative
    /// number until the server has answered.
    static func value(for slot: SlotDescription) -> Value {
        switch slot.type {
        case .integer64?: .integer(Int64.random(in: .min..<0))
        case .uuid?: .uuid(TimeOrderedUUID.next())
        default: .string(TimeOrderedUUID.next().uuidString)
        }
    }
}
