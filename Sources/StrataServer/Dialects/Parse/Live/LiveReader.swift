#if Server
    import Foundation
    import Strata

    /// Compares what has changed with a subscription, by the rules and the conditions of queries.
    struct LiveReader {
        let service: ParseService
        let scope: DataScope
        let caller: Caller
        /// What the server calls the connection.
        let client: String

        /// How many bytes of events are made at once.
        private static let size = 1 << 20

        // MARK: The beginning

        /// Begins a subscription with the objects that match now.
        func begin(_ subscription: inout LiveSubscription) throws(ServerError) {
            let grant = try service.server.precheck(.read, subscription.schema, caller)
            subscription.begin(at: scope.visibleSequence)
            let isOpen = subscription.condition.isEmpty && Self.isForGood(grant)
            if !isOpen { subscription.memory.remembersMatches() }
            guard let schema = scope.catalogue[subscription.schema] else {
                guard caller.isDevelopment else { throw .noSchema(subscription.schema) }
                return
            }
            guard let condition = try condition(subscription, schema, grant), !isOpen else { return }
            let key = FetchColumn("key", .keyPath([schema.keyField]))
            let limit = service.options.limits.sockets.matches
            // What is made at this moment comes as new.
            let isNew = FetchPredicate.comparison(
                .keyPath(["sm_created"]), .greater, .constant(.integer(scope.visibleSequence)), [])
            let request = FetchRequest<ManagedObject>(
                entity: schema.entityName, where: condition && .not(isNew), limit: limit + 1
            ).select(key)
            for row in try scope.values(request) {
                if case .string(let key)? = row[0].value { try subscription.memory.add(key) }
            }
        }

        /// Whether somebody who may read an object always may: nobody gives an object to another owner.
        private static func isForGood(_ grant: AccessGrant) -> Bool {
            guard case .some(let conditions) = grant else { return true }
            return conditions.allSatisfy { if case .owner = $0 { true } else { false } }
        }

        private func condition(
            _ subscription: LiveSubscription, _ schema: ServerSchema, _ grant: AccessGrant
        ) throws(ServerError) -> FetchPredicate? {
            var compiler = ParseWhere(service, scope, caller, schema)
            let own = try grant.predicate(schema, scope)
            let condition = try compiler.predicate(subscription.condition)
            let parts = [own, condition].compactMap { $0 }
            return parts.isEmpty ? nil : .and(parts)
        }

        /// The objects that match now, as many as a query without a limit finds.
        func results(_ subscription: LiveSubscription) throws(ServerError) -> [JSONValue] {
            let grant = try service.server.precheck(.read, subscription.schema, caller)
            guard let schema = scope.catalogue[subscription.schema] else { return [] }
            let request = FetchRequest<ManagedObject>(
                entity: schema.entityName, where: try condition(subscription, schema, grant),
                limit: min(ParseService.usualLimit, service.options.limits.answers.objects))
            var (results, size) = ([JSONValue](), 0)
            for object in try scope.fetch(request) {
                let found = self.object(
                    try members(object, schema, subscription.keys), object.text(schema.keyField) ?? "", subscription)
                size += try found.text().utf8.count
                guard size <= Self.size else {
                    throw ParseCode.tooMany.error("The results are too large; ask for them with a request.")
                }
                results.append(.object(found))
            }
            return results
        }

        // MARK: Changes

        /// One change: what is known of an object without its values, or of the mark that it left.
        private struct Change {
            let sequence: Int64
            let key: String
            /// The number of the change that made the object.
            let created: Int64
            /// The number of the deletion that it came back from; 0 for none.
            let earlier: Int64
            let isDeletion: Bool

            init?(_ row: FetchedRow, isDeletion: Bool) {
                guard case .string(let key)? = row[0].value else { return nil }
                self.key = key
                func whole(_ place: Int) -> Int64 {
                    if case .integer(let number)? = row[place].value { number } else { 0 }
                }
                (sequence, created, earlier) = (whole(1), whole(2), whole(3))
                self.isDeletion = isDeletion
            }
        }

        /// The events of the next changes, in their order.
        /// - Returns: The events as they are sent, and whether there are no more.
        func advance(
            _ subscription: inout LiveSubscription
        ) throws(ServerError) -> (events: [String], isDone: Bool) {
            let grant = try service.server.precheck(.read, subscription.schema, caller)
            let visible = scope.visibleSequence
            guard subscription.position < visible else { return ([], true) }
            guard let schema = scope.catalogue[subscription.schema] else {
                subscription.finish(at: visible)
                return ([], true)
            }
            guard subscription.position >= (try Tombstones.horizon(of: schema.name, scope)) else {
                throw ServerError(503, "Objects were deleted that are no longer known; connect again.")
            }
            let (changes, end) = try changes(after: subscription.position, upTo: visible, schema, grant)
            let keys = changes.filter { !$0.isDeletion }.map(\.key)
            let matching = try shown(keys, schema, try condition(subscription, schema, grant))
            // Who loses sight of an object learns that, and nothing else of it.
            let lost = keys.filter { matching[$0] == nil && subscription.memory.contains($0) == true }
            let left = try shown(lost, schema, try grant.predicate(schema, scope))
            var (events, size) = ([String](), 0)
            for change in changes {
                subscription.position = change.sequence
                let new =
                    change.isDeletion
                    ? deletion(change, subscription)
                    : try self.events(change, schema, matching[change.key], left[change.key], subscription)
                for event in new {
                    let text = try event.text()
                    size += text.utf8.count
                    events.append(text)
                }
                if size > Self.size { return (events, false) }
            }
            guard end == visible else {
                subscription.position = end
                return (events, false)
            }
            subscription.finish(at: visible)
            return (events, true)
        }

        /// The next changes of objects and deletions, and the number up to which these are all.
        private func changes(
            after start: Int64, upTo visible: Int64, _ schema: ServerSchema, _ grant: AccessGrant
        ) throws(ServerError) -> ([Change], end: Int64) {
            let limit = DataScope.batchSize
            func next(
                _ entity: String, _ names: [String], _ condition: FetchPredicate? = nil
            ) throws(ServerError) -> [FetchedRow] {
                let number = FetchExpression.keyPath([names[1]])
                var parts = [
                    FetchPredicate.comparison(number, .greater, .constant(.integer(start)), []),
                    .comparison(number, .lessOrEqual, .constant(.integer(visible)), []),
                ]
                if let condition { parts.append(condition) }
                return try scope.values(
                    ValueRequest(
                        FetchRequest<ManagedObject>(
                            entity: entity, where: .and(parts), sortedBy: [FetchSort(names[1])], limit: limit + 1),
                        columns: names.map { FetchColumn($0, .keyPath([$0])) }))
            }
            var gone = DataScope.equal("schema", .string(schema.name))
            if let owner = grant.owner, Self.isForGood(grant) {
                gone = gone && DataScope.equal("owner", .string(owner))
            }
            let objects = try next(schema.entityName, [schema.keyField, "sm_sequence", "sm_created", "sm_deleted"])
            let stones = try next("ServerTombstone", ["identifier", "sequence", "created", "earlier"], gone)
            var changes = objects.compactMap { Change($0, isDeletion: false) }
            changes += stones.compactMap { Change($0, isDeletion: true) }
            changes.sort { $0.sequence < $1.sequence }
            guard changes.count > limit else { return (changes, visible) }
            changes.removeLast(changes.count - limit)
            return (changes, changes.last?.sequence ?? visible)
        }

        /// Those objects of some keys that meet a condition. One statement compares and reads them, so that nobody is shown
        /// values of another moment than that of the comparison.
        private func shown(
            _ keys: [String], _ schema: ServerSchema, _ condition: FetchPredicate?
        ) throws(ServerError) -> [String: ManagedObject] {
            guard !keys.isEmpty else { return [:] }
            let among = FetchPredicate.comparison(
                .keyPath([schema.keyField]), .isIn, .constant(.list(keys.map(Value.string))), [])
            let found = try scope.fetch(
                FetchRequest<ManagedObject>(
                    entity: schema.entityName, where: condition.map { among && $0 } ?? among))
            try scope.checkReading()
            return Dictionary(
                found.map { ($0.text(schema.keyField) ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        }

        // MARK: Events

        private func events(
            _ change: Change, _ schema: ServerSchema, _ shown: ManagedObject?, _ left: ManagedObject?,
            _ subscription: LiveSubscription
        ) throws(ServerError) -> [JSONObject] {
            let (memory, key) = (subscription.memory, change.key)
            guard let shown else {
                guard memory.contains(key) == true else { return [] }
                memory.remove(key)
                var outline: JSONObject = [:]
                if let left { outline = try members(left, schema, subscription.keys) }
                return [named("leave", outline, key, subscription)]
            }
            let standing = standing(change, subscription)
            let matched = memory.contains(key)
            let wasThere = matched ?? (standing == .there)
            if let watch = subscription.watch {
                let digest = try members(shown, schema, watch).text(without: ["createdAt", "updatedAt"]).hashValue
                let isNoticed = try memory.notices(digest, of: key)
                if wasThere, !isNoticed { return [] }
            }
            var events: [JSONObject] = []
            if matched == nil, standing == .perhaps { events.append(named("delete", [:], key, subscription)) }
            let isNew = matched == nil || standing == .gone || standing == .perhaps
            if !wasThere { memory.tell(key, isThere: true) }
            try memory.add(key)
            let members = try members(shown, schema, subscription.keys)
            events.append(named(wasThere ? "update" : isNew ? "create" : "enter", members, key, subscription))
            return events
        }

        private func deletion(_ change: Change, _ subscription: LiveSubscription) -> [JSONObject] {
            let (memory, key) = (subscription.memory, change.key)
            let wasThere = memory.contains(key) ?? (standing(change, subscription) != .gone)
            memory.remove(key)
            guard wasThere else { return [] }
            memory.tell(key, isThere: false)
            return [named("delete", [:], key, subscription)]
        }

        /// What a client that has had all events so far takes an object for.
        private func standing(_ change: Change, _ subscription: LiveSubscription) -> LiveMemory.Standing {
            if let told = subscription.memory.standing(of: change.key) { return told }
            if change.created <= subscription.floor { return .there }
            return change.earlier > subscription.floor || subscription.memory.isForgetful ? .perhaps : .gone
        }

        private func members(
            _ object: ManagedObject, _ schema: ServerSchema, _ keys: [String]?
        ) throws(ServerError) -> JSONObject {
            let shape = keys.map { ParseShape(keys: $0) } ?? .everything
            return try ParseEncoder(service: service, scope: scope, caller: caller, shape: shape)
                .json([object], schema)[0]
        }

        private func named(
            _ operation: String, _ members: JSONObject, _ key: String, _ subscription: LiveSubscription
        ) -> JSONObject {
            [
                "op": .string(operation), "requestId": subscription.id,
                "object": .object(object(members, key, subscription)), "clientId": .string(client),
            ]
        }

        private func object(_ members: JSONObject, _ key: String, _ subscription: LiveSubscription) -> JSONObject {
            var object: JSONObject = ["__type": "Object", "className": .string(subscription.className)]
            object.merge(members)
            object["objectId"] = .string(key)
            return object
        }
    }

    extension JSONObject {
        /// The members as JSON.
        func text() throws(ServerError) -> String {
            do throws(JSONWritingError) {
                return try JSONValue.object(self).text()
            } catch {
                throw ServerError(500, "An object cannot be written: \(error).")
            }
        }

        fileprivate func text(without names: Set<String>) throws(ServerError) -> String {
            try JSONObject(filter { !names.contains($0.name) }).text()
        }
    }
#endif
