import StrataSQLite
import StrataStore

/// What a save has still to say of objects after earlier writes of them.
extension SaveSending {
    /// What is left of a write once the server is known to have carried out an earlier one of the object.
    func rest(of write: MirrorWrite, behind earlier: UnknownWrite, _ record: RemoteRecord?) -> MirrorWrite {
        guard write.kind != .delete else {
            var rest = write
            rest.write.baseVersion = record?.version ?? rest.write.baseVersion
            return rest
        }
        let told = earlier.told
        var rest = write
        rest.kind = .update
        if write.kind == .insert, let record { rest.write.id = store.mirror.canonical(record.id, write.entity) }
        rest.write.isWhole = write.kind == .update && write.write.isWhole
        rest.write.values = write.write.values.filter { told[$0.key] != $0.value }
        leaveOutOperations(of: earlier, record, in: &rest)
        rest.relations = write.relations.filter { relation in
            !earlier.write.relations.contains {
                $0.relationship == relation.relationship && $0.added == relation.added && $0.removed == relation.removed
            }
        }
        if write.kind == .insert { mergeMembers(told, record, into: &rest) }
        rest.write.baseVersion = record?.version
        return rest
    }

    /// What the context has taken back of an earlier write since is as the mirror has it: the server is told that, too, unless
    /// others have changed it.
    /// - Parameters:
    ///   - rest: What is left of a write.
    ///   - record: What the server has now; nil if it did not say.
    func takingBack(
        _ earlier: UnknownWrite, in rest: MirrorWrite, _ write: MirrorWrite, _ record: RemoteRecord?
    ) async -> MirrorWrite {
        guard write.kind == .update, earlier.write.kind == .update else { return rest }
        let sent = earlier.write.write.values.filter { name, value in
            write.write.values[name] == nil && write.computed[name] == nil && earlier.write.computed[name] == nil
                && record?.values[name].map { isEqual($0, value) } ?? true
        }
        let names = Set(sent.keys).union(earlier.write.relations.map(\.relationship))
        if names.isEmpty { return rest }
        // A mirror that cannot be read does not take what is saved either.
        let here = try? await store.surroundings.elsewhere { [mirror = store.mirror] () throws(StoreError) in
            try mirror.values(of: names, in: write.identity)
        }
        guard let here else { return rest }
        var result = rest
        for (name, value) in sent {
            if let own = here[name], !isEqual(own, value) { result.write.values[name] = own }
        }
        for relation in earlier.write.relations {
            guard case .references(let members)? = here[relation.relationship] else { continue }
            let own = write.relations.first { $0.relationship == relation.relationship }
            let known = (own?.added ?? []) + (own?.removed ?? [])
            let removed = relation.added.filter { !known.contains($0) && !members.contains($0) }
            let added = relation.removed.filter { !known.contains($0) && members.contains($0) }
            if added.isEmpty, removed.isEmpty { continue }
            result.relate(
                RemoteRelation(id: rest.write.id, relationship: relation.relationship, added: added, removed: removed))
        }
        return result
    }

    /// A new object lists its members. Others may have changed those since the server made the object: what follows adds and removes
    /// members.
    /// - Parameters:
    ///   - told: What the server was told before.
    ///   - record: What it has now.
    private func mergeMembers(_ told: [String: RemoteValue], _ record: RemoteRecord?, into rest: inout MirrorWrite) {
        let relates = store.backend.capabilities.features.contains(.relating)
        for relationship in rest.entity.relationships where relationship.isToMany {
            let name = relationship.name
            guard case .references(let listed)? = rest.write.values[name] else { continue }
            let before = told.members(of: name)
            let added = listed.filter { !before.contains($0) }
            let removed = before.filter { !listed.contains($0) }
            if relates, !relationship.isOrdered {
                rest.write.values[name] = nil
                if added.isEmpty, removed.isEmpty { continue }
                rest.relations.append(
                    RemoteRelation(id: rest.write.id, relationship: name, added: added, removed: removed))
            } else {
                let others = (record?.values ?? told).members(of: name).filter {
                    !listed.contains($0) && !removed.contains($0)
                }
                rest.write.values[name] = .references(listed + others)
            }
        }
    }
}
