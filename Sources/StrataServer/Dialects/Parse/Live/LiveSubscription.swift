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
        private(set) var start: Int64 = 0
        /// Where the round before it began. A read may miss what is changed at the same moment, and finds it in the next
        /// round: what was before this number is known for sure.
        private(set) var floor: Int64 = 0
        /// What is remembered of objects.
        let memory: LiveMemory

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

        /// Begins after a change.
        mutating func begin(at position: Int64) { (self.position, start, floor) = (position, position, position) }

        /// All changes up to a number have been told.
        mutating func finish(at position: Int64) {
            (self.position, start, floor) = (position, position, start)
            memory.finish()
        }
    }
#endif
