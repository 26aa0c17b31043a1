#if Server
    import Foundation

    /// A query whose results somebody follows, and how far.
    struct LiveSubscription: Sendable {
        /// What the client calls it.
        let id: JSONValue
        let className: String
        /// The schema that the class is.
        let schema: String
        let condition: JSONObject
        /// The fields that are sent; nil for all.
        let keys: [String]?
        /// The fields whose changes count; nil for all.
        let watch: [String]?
        /// The session of the subscription; nil for that of the connection.
        let session: String?

        /// The number of the last change that has been looked at.
        var position: Int64 = 0
        /// Where the present round began, which may take several reads.
        var start: Int64 = 0
        /// What was created and told in the present round.
        var told: Set<String> = []
        /// The objects that match; nil where no object that matched can stop to.
        var matching: Set<String>?
        /// Digests of the watched fields.
        var digests: [String: Int] = [:]
        /// What the two take of the client's memory.
        var memory: LiveMemory

        /// Reads a query.
        /// - Throws: ``ServerError`` with the code of the protocol.
        init(
            _ message: JSONObject, id: JSONValue, _ service: ParseService, _ share: any MemoryShare
        ) throws(ServerError) {
            guard let query = message["query"]?.members, let className = query["className"]?.string else {
                throw ParseWhere.fault("a subscription takes {\"query\":{\"className\",\"where\"}}")
            }
            self.id = id
            self.className = className
            schema = try service.schemaName(className)
            if let classes = service.mount.liveClasses, !classes.contains(className) {
                throw ParseCode.operationForbidden.error(
                    "The server has no live queries of \(className.prefix(80)).", status: 403)
            }
            switch query["where"] {
            case nil, .null: condition = [:]
            case let value?:
                guard let members = value.members else { throw ParseWhere.fault("where takes an object") }
                condition = members
            }
            keys = try Self.names(query["keys"] ?? query["fields"], "keys")
            watch = try Self.names(query["watch"], "watch")
            session = message["sessionToken"]?.string
            memory = LiveMemory(share, limit: service.options.limits.sockets.matches)
        }

        private static func names(_ value: JSONValue?, _ name: String) throws(ServerError) -> [String]? {
            guard let value, !value.isNull else { return nil }
            guard let elements = value.elements, elements.allSatisfy({ $0.string != nil }) else {
                throw ParseWhere.fault("\(name) takes an array of names")
            }
            return elements.compactMap(\.string)
        }

        /// Whether a change of watched fields is told, and those of all others are not.
        mutating func notices(_ digest: Int, of key: String) throws(ServerError) -> Bool {
            guard digests[key] != digest else { return false }
            if digests[key] == nil { try memory.add() }
            digests[key] = digest
            return true
        }

        /// An object begins to match.
        mutating func add(_ key: String) throws(ServerError) {
            if matching?.insert(key).inserted == true { try memory.add() }
        }

        /// An object no longer matches.
        mutating func remove(_ key: String) {
            if matching?.remove(key) != nil { memory.remove() }
            if digests.removeValue(forKey: key) != nil { memory.remove() }
        }
    }

    /// What a subscription remembers of objects, within the memory of its client.
    struct LiveMemory: Sendable {
        /// A key of an object and its place in a set, in bytes, roughly.
        private static let size = 96
        private static let step = 100

        private let share: any MemoryShare
        private let limit: Int
        private var (count, paid) = (0, 0)

        init(_ share: any MemoryShare, limit: Int) {
            self.share = share
            self.limit = limit
        }

        mutating func add() throws(ServerError) {
            count += 1
            guard count <= limit else {
                throw ParseCode.tooMany.error("The query matches more than \(limit) objects; narrow it.")
            }
            guard count > paid else { return }
            try share.take(Self.step * Self.size)
            paid += Self.step
        }

        mutating func remove() { count -= 1 }
    }
#endif
