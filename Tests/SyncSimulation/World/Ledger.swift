import StrataRemote

/// What clients saved and deleted, under the names and with the values that they gave.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class Ledger: @unchecked Sendable {
    /// Who saved a value, and what it took the place of.
    struct Save {
        let client: Int
        let seen: RemoteValue
        /// Whether it may be put over what came after it was made up: it waited in a context.
        let isLoose: Bool
        /// The context that saved it, among those of the client's process; nil if the store was used without one.
        var context: Context?
    }

    /// A context of a process of a client.
    struct Context: Equatable {
        let process: Int
        let number: Int
    }

    private(set) var saves: [ModelServer.Write: Save] = [:]
    /// Saves that were given up on the client that made them.
    private(set) var forgotten: Set<ModelServer.Write> = []
    /// Who deleted what.
    private(set) var deletes: [RemoteIdentity: Set<Int>] = [:]
    /// What objects had when they were deleted, and by whom.
    private(set) var buried: [RemoteIdentity: [(client: Int, write: ModelServer.Write)]] = [:]
    /// Tags that items were given, and the clients that did.
    private(set) var additions: [ModelServer.Write: Set<Int>] = [:]
    /// Tags that were taken from items.
    private(set) var removals: Set<ModelServer.Write> = []
    /// The clients that have forgotten everything at some time.
    private(set) var resets: Set<Int> = []
    /// What reached the server.
    private(set) var history: Set<ModelServer.Write> = []

    /// A value was saved, or will be.
    func save(_ write: ModelServer.Write, _ save: Save) { saves[write.given] = save }

    /// An item was given a tag, or will be.
    func add(_ write: ModelServer.Write, by client: Int) { additions[write.given, default: []].insert(client) }

    /// A tag was taken from an item, or will be.
    func remove(_ write: ModelServer.Write) { removals.insert(write.given) }

    /// The server took a value.
    func reached(_ write: ModelServer.Write) { history.insert(write.given) }

    /// An object was deleted.
    func delete(_ identity: RemoteIdentity, with values: [String: RemoteValue], by client: Int) {
        let identity = ModelServer.given(identity)
        deletes[identity, default: []].insert(client)
        for (property, value) in values {
            let write = ModelServer.Write(identity: identity, property: property, value: value).given
            buried[identity, default: []].append((client, write))
        }
    }

    /// A client forgets everything.
    func reset(_ client: Int) { resets.insert(client) }

    /// Values are given up. They may have reached the server.
    func forget(_ writes: some Sequence<ModelServer.Write>) { for write in writes { forgotten.insert(write.given) } }

    /// All that a client saved of some objects is given up.
    func forget(by client: Int, _ isForgotten: (RemoteIdentity) -> Bool) {
        for (write, save) in saves where save.client == client && isForgotten(write.identity) {
            forgotten.insert(write)
        }
        for (write, clients) in additions where clients.contains(client) {
            if isForgotten(write.identity) || write.tag.map(isForgotten) == true { forgotten.insert(write) }
        }
    }
}

extension ModelServer.Write {
    /// A tag of an item.
    init(tag id: String, of item: RemoteIdentity) {
        self.init(identity: item, property: "tags", value: .references([id]))
    }

    /// The tag; nil if it is another value.
    var tag: RemoteIdentity? {
        guard property == "tags", case .references(let ids) = value else { return nil }
        return ids.first.map { RemoteIdentity(entity: "Tag", id: $0) }
    }

    /// As a client gave it.
    var given: ModelServer.Write {
        ModelServer.Write(
            identity: ModelServer.given(identity), property: property, value: ModelServer.given(value))
    }
}
