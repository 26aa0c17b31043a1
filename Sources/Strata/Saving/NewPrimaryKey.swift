/// Primary keys for new objects that have none.
enum NewPrimaryKey {
    /// Whether a value stands for no key: servers number objects from 1.
    static func isNone(_ value: Value, _ slot: SlotDescription) -> Bool {
        value == .string("") || slot.type == .integer64 && value == .integer(0)
    }

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
