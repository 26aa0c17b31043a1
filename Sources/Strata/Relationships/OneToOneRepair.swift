import StrataStore

/// Makes the ends of one-to-one relationships agree again after rows were merged one by one: two contexts may have changed
/// both ends of one relationship, each in its own way.
struct OneToOneRepair {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// After newer rows were put under pending changes: an object that was given another partner here is no longer the
    /// partner of the one that the newer row gives it. A store that fails meanwhile is asked again before the save.
    func repairAll() {
        for object in core.tracker.objects {
            guard object.flags.isDisjoint(with: .withoutRow), let changes = object.changes,
                let snapshot = changes.snapshot
            else { continue }
            for (slot, relationship) in object.binding.toOnes where changes.slots.contains(slot) {
                guard let inverse = model.inverse(of: relationship)?.slot, snapshot.row.isPresent(slot) else {
                    continue
                }
                let old = Int64(bitPattern: snapshot.row.word(slot))
                guard old != object.targetKey(slot) else { continue }
                core.unresolved.perform(on: object) { (core) throws(PersistenceError) in
                    guard
                        let partner = try core.oneToOneRepair.read(old, of: relationship, from: object, slot: slot),
                        partner.targetKey(inverse) == object.key, !partner.isDeleted
                    else { return }
                    partner.writeTargetKey(nil, inverse)
                }
            }
        }
        for object in core.tracker.takeDeletedElsewhere() where object.flags.isDisjoint(with: [.deleted, .missing]) {
            core.unresolved.perform(on: object) { (core) throws(PersistenceError) in
                try core.oneToOneRepair.release(object)
            }
        }
    }

    /// Clears the references of an object that others deleted: to what went with it, and to partners that have another one.
    private func release(_ object: ManagedObject) throws(PersistenceError) {
        for (slot, relationship) in object.binding.toOnes {
            // Objects that were deleted with it are not targets, not even for a child that reads the row.
            let keys = [object.row, object.changes?.snapshot?.row].compactMap { row in
                row.flatMap { $0.isPresent(slot) ? Int64(bitPattern: $0.word(slot)) : nil }
            }
            for key in Set(keys) {
                let target = try read(key, of: relationship, from: object, slot: slot)
                if target?.flags.contains(.missing) == true { object.clearReference(slot, to: [key]) }
            }
            guard let inverse = model.inverse(of: relationship)?.slot, let key = object.targetKey(slot),
                let partner = try read(key, of: relationship, from: object, slot: slot)
            else { continue }
            if partner.targetKey(inverse) != object.key, !partner.isDeleted { object.writeTargetKey(nil, slot) }
        }
    }

    /// The object of a key in a to-one slot, with its row; nil as well if its values are only at a server: it is there, and refers to
    /// nothing here.
    private func read(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) throws(PersistenceError) -> ManagedObject? {
        do throws(PersistenceError) {
            return try core.targets.loaded(key, of: relationship, from: object, slot: slot)
        } catch {
            guard case .store(.needsNetwork) = error else { throw error }
            return nil
        }
    }

    /// After a conflict was resolved: the partners that an object has by its merged row are its partners, and the
    /// others that it could have had are not.
    /// - Parameter keys: By slot, the keys in the snapshot, in memory and in the store.
    func settle(_ object: ManagedObject, _ keys: [Int: Set<Int64>]) throws(PersistenceError) {
        for (slot, relationship) in object.binding.toOnes {
            guard let wayBack = model.inverse(of: relationship), let inverse = wayBack.slot, let keys = keys[slot]
            else { continue }
            let chosen = object.isDeleted ? nil : object.targetKey(slot)
            for key in keys.union(chosen.map { [$0] } ?? []).sorted() {
                guard let partner = try current(key, of: relationship, from: object, slot: slot) else { continue }
                let back = partner.targetKey(inverse)
                if key != chosen {
                    if back == object.key { partner.writeTargetKey(nil, inverse) }
                } else if back != object.key {
                    if let back, let rival = try current(back, of: wayBack, from: partner, slot: inverse),
                        rival.targetKey(slot) == key
                    {
                        rival.writeTargetKey(nil, slot)
                    }
                    partner.writeTargetKey(object.key, inverse)
                }
            }
        }
    }

    /// The keys in the one-to-one slots of some rows.
    func keys(in rows: [RowPointer], _ binding: EntityBinding) -> [Int: Set<Int64>] {
        var result: [Int: Set<Int64>] = [:]
        for (slot, relationship) in binding.toOnes where model.inverse(of: relationship)?.slot != nil {
            result[slot] = Set(rows.filter { $0.isPresent(slot) }.map { Int64(bitPattern: $0.word(slot)) })
        }
        return result
    }

    /// The object of a key with the row that the store has now, unless values of it are changed here; the commit checks
    /// the version then.
    private func current(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) throws(PersistenceError) -> ManagedObject? {
        guard let partner = try core.targets.loaded(key, of: relationship, from: object, slot: slot) else { return nil }
        if partner.flags.isDisjoint(with: [.inserted, .deleted, .missing]), partner.storedChanges.isEmpty {
            try core.refresher.reread(partner)
        }
        return partner.isDeleted ? nil : partner
    }
}

extension ContextCore {
    var oneToOneRepair: OneToOneRepair { OneToOneRepair(core: self) }
}
