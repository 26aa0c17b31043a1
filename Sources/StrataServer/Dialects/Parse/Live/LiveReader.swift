#if Server
    import Foundation
    import Strata

    /// Compares what has changed with a subscription, by the rules and the conditions of queries.
    struct LiveReader {
        let service: ParseService
        let scope: DataScope
        let caller: Caller

        /// How many bytes of events are made at once.
        private static let size = 1 << 20

        // MARK: The beginning

        /// Begins a subscription with the objects that match now.
        func begin(_ subscription: inout LiveSubscription) throws(ServerError) {
            let grant = try service.server.precheck(.read, subscription.schema, caller)
            subscription.position = scope.visibleSequence
            subscription.start = scope.visibleSequence
            let isOpen = subscription.condition.isEmpty && Self.isForGood(grant)
            if !isOpen { subscription.memory.remembersMatches() }
            guard let schema = scope.catalogue[subscription.schema] else {
                guard caller.isDevelopment else { throw .noSchema(subscription.schema) }
                return
            }
            guard let condition = try condition(subscription, schema, grant), !isOpen else { return }
            let key = FetchColumn("key", .keyPath([schema.keyField]))
            let limit = service.options.limits.sockets.matches
            let request = FetchRequest<ManagedObject>(entity: schema.entityName, where: condition, limit: limit + 1)
                .select(key)
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

        /// One change: an object, or the mark that it left.
        private struct Change {
            let sequence: Int64
            let object: ManagedObject
            let isDeletion: Bool
        }

        /// The events of the next changes, in their order.
        /// - Returns: The events, and whether there are more.
        func advance(
            _ subscription: inout LiveSubscription
        ) throws(ServerError) -> (events: [JSONObject], isDone: Bool) {
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
            let objects = changes.filter { !$0.isDeletion }.map(\.object)
            let matching = try shown(objects, schema, try condition(subscription, schema, grant))
            // Who loses sight of an object learns that, and nothing else of it.
            let lost = objects.filter { object in
                object.text(schema.keyField).map { matching[$0] == nil && subscription.memory.contains($0) == true }
                    == true
            }
            let left = try shown(lost, schema, try grant.predicate(schema, scope))
            var (events, size) = ([JSONObject](), 0)
            for change in changes {
                subscription.position = change.sequence
                guard let key = change.object.text(change.isDeletion ? "identifier" : schema.keyField) else { continue }
                let new =
                    change.isDeletion
                    ? deletion(key, change.object, subscription)
                    : try self.events(key, change.object, schema, matching[key], left[key], subscription)
                for event in new { size += try event.text().utf8.count }
                events += new
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
            func between(_ name: String) -> FetchPredicate {
                .comparison(.keyPath([name]), .greater, .constant(.integer(start)), [])
                    && .comparison(.keyPath([name]), .lessOrEqual, .constant(.integer(visible)), [])
            }
            var gone = between("sequence") && DataScope.equal("schema", .string(schema.name))
            if let owner = grant.owner, Self.isForGood(grant) {
                gone = gone && DataScope.equal("owner", .string(owner))
            }
            let objects = try scope.fetch(
                FetchRequest(
                    entity: schema.entityName, where: between("sm_sequence"), sortedBy: [FetchSort("sm_sequence")],
                    limit: limit + 1))
            let stones = try scope.fetch(
                FetchRequest(
                    entity: "ServerTombstone", where: gone, sortedBy: [FetchSort("sequence")], limit: limit + 1))
            try scope.checkReading()
            var changes = objects.map {
                Change(sequence: $0.whole("sm_sequence") ?? 0, object: $0, isDeletion: false)
            }
            changes += stones.map { Change(sequence: $0.whole("sequence") ?? 0, object: $0, isDeletion: true) }
            changes.sort { $0.sequence < $1.sequence }
            guard changes.count > limit else { return (changes, visible) }
            changes.removeLast(changes.count - limit)
            return (changes, changes.last?.sequence ?? visible)
        }

        /// Those of some objects that meet a condition, as they are shown.
        private func shown(
            _ objects: [ManagedObject], _ schema: ServerSchema, _ condition: FetchPredicate?
        ) throws(ServerError) -> [String: ManagedObject] {
            guard !objects.isEmpty else { return [:] }
            let keys = objects.compactMap { $0.text(schema.keyField) }
            var found = objects
            if let condition {
                let among = FetchPredicate.comparison(
                    .keyPath([schema.keyField]), .isIn, .constant(.list(keys.map(Value.string))), [])
                found = try scope.fetch(FetchRequest(entity: schema.entityName, where: among && condition))
            }
            return Dictionary(
                found.map { ($0.text(schema.keyField) ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        }

        // MARK: Events

        private func events(
            _ key: String, _ object: ManagedObject, _ schema: ServerSchema, _ shown: ManagedObject?,
            _ left: ManagedObject?, _ subscription: LiveSubscription
        ) throws(ServerError) -> [JSONObject] {
            let memory = subscription.memory
            guard let shown else {
                guard memory.contains(key) == true else { return [] }
                memory.remove(key)
                var outline: JSONObject = [:]
                if let left { outline = try members(left, schema, subscription.keys) }
                return [named("leave", outline, key, subscription)]
            }
            let isNew = (object.whole("sm_created") ?? 0) > subscription.start && !memory.wasTold(key)
            let isRemembered = memory.contains(key)
            let wasThere = isRemembered ?? !isNew
            if let watch = subscription.watch {
                let digest = try members(shown, schema, watch).text(without: ["createdAt", "updatedAt"]).hashValue
                let isNoticed = try memory.notices(digest, of: key)
                if wasThere, !isNoticed { return [] }
            }
            var events: [JSONObject] = []
            if isNew {
                memory.tell(key)
                // An earlier object had the same key, and its deletion was not reported yet.
                if isRemembered == nil, (object.whole("sm_deleted") ?? 0) > subscription.start {
                    events.append(named("delete", [:], key, subscription))
                }
            }
            try memory.add(key)
            events.append(
                named(
                    wasThere ? "update" : isNew ? "create" : "enter", try members(shown, schema, subscription.keys),
                    key, subscription))
            return events
        }

        private func deletion(
            _ key: String, _ stone: ManagedObject, _ subscription: LiveSubscription
        ) -> [JSONObject] {
            let start = subscription.start
            let wasTold = subscription.memory.untell(key)
            let wasThere =
                subscription.memory.contains(key)
                ?? (wasTold || (stone.whole("created") ?? 0) <= start || (stone.whole("earlier") ?? 0) > start)
            subscription.memory.remove(key)
            return wasThere ? [named("delete", [:], key, subscription)] : []
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
                "object": .object(object(members, key, subscription)),
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
                return String(decoding: try JSONValue.object(self).data(), as: UTF8.self)
            } catch {
                throw ServerError(500, "An object cannot be written: \(error).")
            }
        }

        fileprivate func text(without names: Set<String>) throws(ServerError) -> String {
            try JSONObject(filter { !names.contains($0.name) }).text()
        }
    }
#endif
