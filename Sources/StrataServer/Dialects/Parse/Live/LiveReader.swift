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
            subscription.matching = isOpen ? nil : []
            guard let schema = scope.catalogue[subscription.schema] else {
                guard caller.isDevelopment else { throw .noSchema(subscription.schema) }
                return
            }
            guard let condition = try condition(subscription, schema, grant), !isOpen else { return }
            let request = FetchRequest<ManagedObject>(entity: schema.entityName, where: condition)
            let found = try scope.fetchLazily(request)
            for object in found {
                if let key = object.text(schema.keyField) { try subscription.add(key) }
            }
            try scope.checkReading()
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
                object.text(schema.keyField).map { matching[$0] == nil && subscription.matching?.contains($0) == true }
                    == true
            }
            let left = try shown(lost, schema, try grant.predicate(schema, scope))
            var (events, size) = ([JSONObject](), 0)
            for change in changes {
                subscription.position = change.sequence
                guard let key = change.object.text(change.isDeletion ? "identifier" : schema.keyField) else { continue }
                let new =
                    change.isDeletion
                    ? deletion(key, change.object, &subscription)
                    : try self.events(key, change.object, schema, matching[key], left[key], &subscription)
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
            _ left: ManagedObject?, _ subscription: inout LiveSubscription
        ) throws(ServerError) -> [JSONObject] {
            guard let shown else {
                guard subscription.matching?.contains(key) == true else { return [] }
                subscription.remove(key)
                var outline: JSONObject = [:]
                if let left { outline = try members(left, schema, subscription.keys) }
                return [named("leave", outline, key, subscription)]
            }
            let isNew = (object.whole("sm_created") ?? 0) > subscription.start && !subscription.told.contains(key)
            let wasThere = subscription.matching.map { $0.contains(key) } ?? !isNew
            if let watch = subscription.watch {
                let digest = try members(shown, schema, watch).text(without: ["createdAt", "updatedAt"]).hashValue
                let isNoticed = try subscription.notices(digest, of: key)
                if wasThere, !isNoticed { return [] }
            }
            var events: [JSONObject] = []
            if isNew {
                subscription.told.insert(key)
                // An object of the same key was there before and is told to be gone, if it may have been told of.
                if subscription.matching == nil, (object.whole("sm_deleted") ?? 0) > subscription.start {
                    events.append(named("delete", [:], key, subscription))
                }
            }
            try subscription.add(key)
            events.append(
                named(
                    wasThere ? "update" : isNew ? "create" : "enter", try members(shown, schema, subscription.keys),
                    key, subscription))
            return events
        }

        private func deletion(
            _ key: String, _ stone: ManagedObject, _ subscription: inout LiveSubscription
        ) -> [JSONObject] {
            let start = subscription.start
            let wasTold = subscription.told.remove(key) != nil
            let wasThere =
                subscription.matching.map { $0.contains(key) }
                ?? (wasTold || (stone.whole("created") ?? 0) <= start || (stone.whole("earlier") ?? 0) > start)
            subscription.remove(key)
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
            var object: JSONObject = ["__type": "Object", "className": .string(subscription.className)]
            object.merge(members)
            object["objectId"] = .string(key)
            return ["op": .string(operation), "requestId": subscription.id, "object": .object(object)]
        }
    }

    extension LiveSubscription {
        /// All changes up to a number have been told.
        fileprivate mutating func finish(at position: Int64) {
            (self.position, start) = (position, position)
            told = []
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
