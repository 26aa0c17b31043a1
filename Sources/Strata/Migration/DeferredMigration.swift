import Foundation
import StrataStore

extension MigrationStage {
    /// A step that need not block the opening: the store is migrated and can be used, and the objects that it had then are visited
    /// later, in batches, when ``PersistentContainer/finishDeferredMigration(onProgress:)`` is called.
    ///
    ///     options.migration.stages = [
    ///         .deferred("initials", from: version1, to: version2, forEach: "Person") { person in
    ///             person["initials"] = (person["name"] as? String ?? "").split(separator: " ").compactMap(\.first).map(String.init).joined()
    ///         }
    ///     ]
    ///
    /// The store notes in the transaction of the migration that the step is to be done, and in the transaction of each batch how far
    /// it is. After a crash the step goes on where it stopped. Each object is visited once, even if several processes do the step.
    /// Objects that are created meanwhile are not visited: the app creates them as the new version wants them.
    ///
    /// A later migration that only adds something leaves the step as it is. Any other one does what is left of it first, so keep the
    /// stage in your code as long as there may be files with it.
    /// - Parameters:
    ///   - name: The name by which the file notes the step. Give each step a name of its own, and do not change it.
    ///   - source: The version that files come from; older ones come by it, too.
    ///   - target: The version to which the step belongs.
    ///   - entity: The entity whose objects are visited, those of entities that inherit from it included.
    ///   - classes: Classes of the new version, if the closure needs them.
    ///   - batchSize: How many objects are in memory at a time, and how many are visited in one transaction. Others wait for that
    ///     transaction when they write.
    ///   - body: Visits an object. It may change others of the same context, too; the context is saved after each batch. If it
    ///     throws, the batch has no effect.
    public static func deferred(
        _ name: String, from source: ManagedObjectModel, to target: ManagedObjectModel, forEach entity: String,
        classes: [ManagedObject.Type] = [], batchSize: Int = 500,
        _ body: @escaping @Sendable (ManagedObject) throws -> Void
    ) -> MigrationStage {
        let work = DeferredWork(name: name, entity: entity, batchSize: batchSize) { batch in
            // A container for each batch: what it knows of rows and keys is as old as the transaction.
            let container = try PersistentContainer(store: batch.store, classes: classes)
            return try container.visit(batch, entity, body)
        }
        return MigrationStage(from: source, to: target, deferred: work)
    }

    /// A step between two generated models, for the objects of a class of the new one; see
    /// ``deferred(_:from:to:forEach:classes:batchSize:_:)``.
    public static func deferred<Old: GeneratedModel, New: GeneratedModel, Object: ManagedObject>(
        _ name: String, from old: Old.Type, to new: New.Type, forEach type: Object.Type, batchSize: Int = 500,
        _ body: @escaping @Sendable (Object) throws -> Void
    ) -> MigrationStage {
        let model = "\(New.self)"
        return deferred(
            name, from: Old.model, to: New.model, forEach: Object.entityName, classes: New.classes, batchSize: batchSize
        ) { object in
            guard let object = object as? Object else {
                throw PersistenceError.classMismatch(
                    entity: Object.entityName, className: "\(Object.self)",
                    reason: "\(model) has another class for it")
            }
            try body(object)
        }
    }
}

extension PersistentContainer {
    /// Visits the objects of a batch and saves what changes.
    /// - Returns: The keys of the changed objects, by position of their topmost entities.
    fileprivate func visit(
        _ batch: DeferredBatch, _ name: String, _ body: (ManagedObject) throws -> Void
    ) throws -> [Int: Set<Int64>] {
        guard let entity = model.entity(named: name) else {
            throw PersistenceError.unknownEntity(name, in: model)
        }
        let context = newContext()
        context.mergePolicy = .overwrite
        context.author = "migration"
        let ids = batch.keys.map { ObjectID(entity: entity, key: $0, storeIdentifier: store.identifier) }
        var request = FetchRequest<ManagedObject>(entity: name)
        request.predicate = try FetchPredicate(format: "SELF IN %@", ids)
        let objects = Dictionary(try context.fetch(request).map { ($0.objectID.key, $0) }) { first, _ in first }
        do {
            for key in batch.keys {
                if batch.isCancelled() { throw StoreError.cancelled }
                // The closure may have deleted it when it visited another one.
                if let object = objects[key], !object.isDeleted { try body(object) }
            }
            guard context.hasChanges else { return [:] }
            var changed: [Int: Set<Int64>] = [:]
            for object in context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects) {
                changed[object.objectID.entity.rootIndex, default: []].insert(object.objectID.key)
            }
            try context.save()
            return changed
        } catch PersistenceError.store(let error) {
            throw error
        }
    }

    /// The steps of migrations that are still to be done after the opening, in their order.
    ///
    ///     for step in try container.deferredMigrationSteps() { print(step) }
    /// - Throws: ``PersistenceError/store(_:)`` if the store cannot be read.
    public func deferredMigrationSteps() throws(PersistenceError) -> [DeferredMigrationStep] {
        guard let store = store as? any DeferredMigrationStore else { return [] }
        do throws(StoreError) {
            return try store.deferredMigrationSteps()
        } catch {
            throw .store(error)
        }
    }

    /// Does the deferred steps of migrations on a thread of its own, with the code of the stages that the store was opened with.
    /// Of several stores, it does the steps of one after the other.
    ///
    ///     try await container.finishDeferredMigration { progress in
    ///         print(progress.text, progress.fraction)
    ///     }
    ///
    /// Contexts and other processes can read all the time, and write between two batches. Contexts of this container are told
    /// which objects changed. Cancelling the task stops the work after the current object; what earlier batches did stays, and the
    /// next call goes on from there.
    /// - Parameter onProgress: Called after each batch, on the thread that does the work. The text is the name of the step.
    /// - Returns: How many objects were visited; 0 if nothing was left to do.
    /// - Throws: ``PersistenceError/store(_:)``: `migrationFailed` if a closure throws, `cancelled`, `deferredStepPending` for a
    ///   step without a stage, and the errors of saves.
    @discardableResult
    public func finishDeferredMigration(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws(PersistenceError) -> Int {
        guard let store = store as? any DeferredMigrationStore else { return 0 }
        let cancellation = ReadCancellation()
        let coordinator = coordinator
        let result: Result<Int, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        returning: Result { () throws(StoreError) in
                            try store.runDeferredSteps(cancellation: cancellation, onProgress: onProgress) { keys in
                                // No context made the changes.
                                coordinator.announce(keys, from: -1)
                            }
                        })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        do {
            return try result.get()
        } catch {
            throw .store(error)
        }
    }
}
