import Foundation
import StrataStore

/// What the code of a custom stage works with: the objects of the old version and those of the new one, side by side.
///
///     let stage = MigrationStage.custom(from: version1, to: version2) { migration in
///         try migration.forEach("Person") { old, new in
///             let words = (old["name"] as? String ?? "").split(separator: " ")
///             new?["firstName"] = words.first.map(String.init)
///             new?["lastName"] = words.last.map(String.init)
///         }
///     }
///
/// When the code runs, everything that can be inferred has been done. The old objects are as they were before,
/// including the values of removed properties. All of a stage is one transaction: if the code throws, the file stays as
/// it was.
public final class StageMigration {
    /// The objects of the old version. Their changes cannot be saved.
    public let old: ManagedObjectContext
    /// The objects of the new version. ``forEach(_:batchSize:_:)`` saves it after each batch; save it yourself otherwise.
    public let new: ManagedObjectContext
    private let session: MigrationSession
    private let mapping: ModelMapping
    private let oldStore: any PersistentStore
    private let newStore: any PersistentStore

    init(
        _ session: MigrationSession, old: PersistentContainer, new: PersistentContainer, mapping: ModelMapping
    ) {
        self.session = session
        self.mapping = mapping
        oldStore = old.store
        newStore = new.store
        self.old = old.newContext()
        self.new = new.newContext()
        self.new.mergePolicy = .overwrite
    }

    /// Goes through all objects of an old entity, those of entities that inherit from it included, in the order of their keys.
    ///
    /// After each batch the new objects are saved, and both contexts forget theirs, so that memory does not grow with the
    /// store. Do not keep objects from one batch to the next; keep their IDs.
    /// - Parameters:
    ///   - entity: The name of the old entity.
    ///   - batchSize: How many objects are in memory at a time.
    ///   - body: Gets the old object and the one that continues it; nil if the new version has none.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``, ``PersistenceError/cancelled``, the errors of saves and of
    ///   the closure.
    public func forEach(
        _ entity: String, batchSize: Int = 500, _ body: (ManagedObject, ManagedObject?) throws -> Void
    ) throws {
        guard oldStore.model.entity(named: entity) != nil else {
            throw PersistenceError.unknownEntity(entity, in: oldStore.model)
        }
        let ids = try old.fetchIDs(FetchRequest<ManagedObject>(entity: entity)).sorted { $0.key < $1.key }
        var done = 0
        while done < ids.count {
            if session.isCancelled() { throw PersistenceError.store(.cancelled) }
            session.report("migrates \(entity)", done, ids.count)
            let batch = Array(ids[done..<min(done + max(1, batchSize), ids.count)])
            // Contexts hold objects weakly: while these exist, the single reads below need no statements.
            let objects = try read(batch, in: old)
            let successors = try read(objects.compactMap { successorID(of: $0.objectID) }, in: new)
            for id in batch {
                let object = try old.existingObject(with: id)
                try body(object, try successor(of: object))
            }
            withExtendedLifetime((objects, successors)) {}
            if new.hasChanges { try new.save() }
            new.reset()
            old.reset()
            done += batch.count
        }
        session.report("migrates \(entity)", ids.count, ids.count)
    }

    /// Goes through all objects of an old class whose model was generated, with those of the new class that continue them; see
    /// ``forEach(_:batchSize:_:)``.
    /// - Throws: ``PersistenceError`` if objects cannot be read or saved, or have another class; the error of the closure.
    public func forEach<Old: ManagedObject, New: ManagedObject>(
        _ old: Old.Type, _ new: New.Type, batchSize: Int = 500, _ body: (Old, New?) throws -> Void
    ) throws {
        try forEach(Old.entityName, batchSize: batchSize) { before, after in
            guard let before = before as? Old else {
                throw PersistenceError.classMismatch(
                    entity: Old.entityName, className: "\(Old.self)", reason: "the stage was not given the class")
            }
            try body(before, after as? New)
        }
    }

    /// Reads the objects of IDs that exist, with a statement for each entity.
    private func read(_ ids: [ObjectID], in context: ManagedObjectContext) throws -> [ManagedObject] {
        try Dictionary(grouping: ids, by: \.entity.name).flatMap { name, ids in
            try context.fetch(
                FetchRequest<ManagedObject>(entity: name, where: try FetchPredicate(format: "SELF IN %@", ids)))
        }
    }

    private func successorID(of id: ObjectID) -> ObjectID? {
        guard let name = mapping.successor(of: id.entity.name), let entity = newStore.model.entity(named: name),
            !entity.isAbstract
        else { return nil }
        return ObjectID(entity: entity, key: id.key, storeIdentifier: newStore.identifier)
    }

    /// The object of the new version that continues an old one; nil if there is none, or it has been deleted.
    /// - Throws: ``PersistenceError`` if the object cannot be read.
    public func successor(of object: ManagedObject) throws -> ManagedObject? {
        guard let id = successorID(of: object.objectID) else { return nil }
        do throws(PersistenceError) {
            return try new.existingObject(with: id)
        } catch {
            guard case .objectNotFound = error else { throw error }
            return nil
        }
    }
}

extension MigrationStage {
    /// A stage with code that sees the objects of both versions, by name.
    ///
    ///     options.migration.stages = [
    ///         .custom(from: version1, to: version2) { migration in
    ///             try migration.forEach("City") { old, new in new?["note"] = old["remark"] as? String }
    ///         }
    ///     ]
    ///
    /// - Parameters:
    ///   - source: The version that it begins with.
    ///   - target: The version that it ends with.
    ///   - oldClasses: Classes of the old version, if they still exist.
    ///   - newClasses: Classes of the new version.
    ///   - body: Runs after everything that can be inferred. If it throws, the stage is rolled back.
    public static func custom(
        from source: ManagedObjectModel, to target: ManagedObjectModel, oldClasses: [ManagedObject.Type] = [],
        newClasses: [ManagedObject.Type] = [], _ body: @escaping @Sendable (StageMigration) throws -> Void
    ) -> MigrationStage {
        let mapping = MigrationPlan(from: source, to: target).mapping
        return MigrationStage(from: source, to: target) { session in
            let old = try PersistentContainer(store: session.old, classes: oldClasses)
            let new = try PersistentContainer(store: session.new, classes: newClasses)
            let migration = StageMigration(session, old: old, new: new, mapping: mapping)
            do {
                try body(migration)
                if migration.new.hasChanges { try migration.new.save() }
            } catch PersistenceError.store(let error) {
                throw error
            }
        }
    }

    /// A stage between two generated models, with their classes.
    public static func custom<Old: GeneratedModel, New: GeneratedModel>(
        from old: Old.Type, to new: New.Type, _ body: @escaping @Sendable (StageMigration) throws -> Void
    ) -> MigrationStage {
        custom(from: Old.model, to: New.model, oldClasses: Old.classes, newClasses: New.classes, body)
    }
}
