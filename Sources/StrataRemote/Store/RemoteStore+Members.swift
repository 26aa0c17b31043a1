import StrataSQLite
import StrataStore

// Which objects are the members of to-many relationships, where their owners do not list them.

extension RemoteStore {
    public func prepareMembers(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Bool {
        var options = self.options(options)
        guard options.fetchPolicy != .cacheOnly, !owners.isEmpty else { return false }
        // What the request says in addition is about the objects that it fetches.
        options.extras = FetchExtras()
        // A server that cannot be reached is asked once, not for each owner.
        let fallsBack = options.fetchPolicy == .networkElseCache
        if fallsBack { options.fetchPolicy = .networkOnly }
        let entity = model.entities[entityIndex]
        do throws(StoreError) {
            try await bring(entity.relationships[relationshipIndex], entity, owners, options)
            return true
        } catch {
            guard fallsBack, error.isUnreachable else { throw error }
            return false
        }
    }

    private func bring(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, _ owners: [Int64], _ options: Options
    ) async throws(StoreError) {
        switch relationship.storage {
        case .slot: return
        case .pairs(isPrimary: true):
            if !backend.lists(relationship, of: entity) {
                try await bringMembers(of: relationship, entity, owners, options)
            }
        case .pairs(isPrimary: false), .inverseSlot:
            guard let inverse = model.inverse(of: relationship) else { return }
            let destination = model.destination(of: relationship)
            if !inverse.isToMany || backend.lists(inverse, of: destination) {
                try await bringReferring(by: inverse, destination, to: owners, options)
            } else {
                try await bringMembers(of: relationship, entity, owners, options)
            }
        }
    }

    /// Brings the objects that refer to some others: their own records tell that they do.
    private func bringReferring(
        by inverse: RelationshipDescription, _ entity: EntityDescription, to owners: [Int64], _ options: Options
    ) async throws(StoreError) {
        let size = min(max(1, backend.capabilities.maximumIDs), 100)
        for start in stride(from: 0, to: owners.count, by: size) {
            let part = Array(owners[start..<min(start + size, owners.count)])
            var plans = [plan(entity, where: inverse, leadsTo: part)]
            if part.count > 1, (try? planner.plan(plans[0], finishesLocally: false)) == nil {
                plans = part.map { plan(entity, where: inverse, leadsTo: [$0]) }
            }
            for plan in plans { _ = try await prepare(plan, reading: [], options) }
        }
    }

    private func plan(
        _ entity: EntityDescription, where inverse: RelationshipDescription, leadsTo owners: [Int64]
    ) -> FetchPlan {
        let path = FetchExpression.keyPath([inverse.name])
        var conditions = owners.map { owner in
            FetchPredicate.comparison(path, inverse.isToMany ? .contains : .equal, .constant(.object(owner)), [])
        }
        if owners.count > 1, !inverse.isToMany {
            conditions = [.comparison(path, .isIn, .constant(.list(owners.map(Value.object))), [])]
        }
        var plan = FetchPlan(entityIndex: entity.index)
        plan.predicate = conditions.count > 1 ? .or(conditions) : conditions[0]
        return plan
    }

    // MARK: Relationships that no record lists

    private func bringMembers(
        of relationship: RelationshipDescription, _ entity: EntityDescription, _ owners: [Int64], _ options: Options
    ) async throws(StoreError) {
        let names = try mirror.ids(entityIndex: entity.index, keys: owners)
        var known: Set<Int64> = []
        if options.fetchPolicy == .cacheElseNetwork {
            let pairs = try mirror.store.memberKeys(
                entityIndex: entity.index, relationshipIndex: relationship.index, owners: owners)
            known = Set(pairs.map(\.owner))
        }
        for owner in owners {
            // The back end does not know an object without a name.
            guard let name = names[owner], !known.contains(owner) else { continue }
            try await bringMembers(of: relationship, entity, owner, name.id, options)
        }
    }

    private func bringMembers(
        of relationship: RelationshipDescription, _ entity: EntityDescription, _ owner: Int64, _ id: String,
        _ options: Options
    ) async throws(StoreError) {
        let query: RemotePlan
        if case .pairs(isPrimary: false) = relationship.storage, let inverse = model.inverse(of: relationship) {
            query = try planner.plan(
                plan(model.destination(of: relationship), where: inverse, leadsTo: [owner]), finishesLocally: false)
        } else {
            query = try planner.plan(
                membersOf: RemoteMembership(entity: entity, id: id, relationship: relationship.name),
                model.destination(of: relationship))
        }
        guard !query.isEmpty else { return }
        // A save that is answered meanwhile may have changed them.
        for _ in 0..<3 {
            let ticket = mirror.ticket()
            var members: [Int64] = []
            for part in query.queries(in: model) { members += try await bring(part, ticket, options).0 }
            let (mirror, found) = (mirror, members)
            let isPlaced = try await surroundings.elsewhere { () throws(StoreError) in
                try mirror.setMembers(found, of: relationship, entity, owner: owner, id, ticket)
            }
            if isPlaced { return }
        }
    }
}

extension RemotePlanner {
    /// Plans a query for the members of a relationship.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` naming the relationship if the back end cannot be asked for them.
    func plan(
        membersOf membership: RemoteMembership, _ destination: EntityDescription
    ) throws(StoreError) -> RemotePlan {
        let name = "\(membership.entity.name).\(membership.relationship)"
        guard backend.capabilities.features.contains(.memberQueries) else {
            throw .unsupported(
                store: backend.name, feature: "the members of \(name), which neither end of the relationship lists")
        }
        var query = RemoteQuery(entity: destination)
        query.memberOf = membership
        return try taken(query, withSubentities: destination.hasSubentities, as: "the members of \(name)")
    }
}

extension Mirror {
    /// Makes the members of an object those that a server told, with what waits in the outbox on top.
    /// - Parameters:
    ///   - id: The primary key of the owner.
    ///   - ticket: Taken before the server was asked.
    /// - Returns: false if the members may have changed since, so that nothing was done.
    func setMembers(
        _ members: [Int64], of relationship: RelationshipDescription, _ entity: EntityDescription, owner: Int64,
        _ id: String, _ ticket: ReadTicket
    ) throws(StoreError) -> Bool {
        try applying { (session) throws(StoreError) in
            let name = RemoteIdentity(entity: entity.rootName, id: id)
            guard !order.isOvertaken(name, ticket) else { return false }
            let isHere = try session.transaction.rows(entityIndex: entity.index, keys: [owner]).count > 0
            guard isHere, !order.isDeleted(name, since: ticket), case .pairs(let isPrimary) = relationship.storage
            else {
                return true
            }
            let found = try session.transaction.rows(entityIndex: relationship.destinationIndex, keys: members)
            let present = Set(found.rows.map(\.row.key))
            session.members.pairs.append(
                .init(
                    relationship: relationship, entity: entity, owner: owner, members: members.filter(present.contains),
                    isPrimary: isPrimary))
            try session.placeMembers()
            try session.write()
            return true
        }
    }
}
