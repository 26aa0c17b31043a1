// Indirect, so that it is one word: a typed `throws` returns it in a register, and each `try` is shorter.

/// An error of a store: the file cannot be opened, the disk is full, a migration needs an answer, a server refused.
///
///     do throws(PersistenceError) {
///         try context.save()
///     } catch {
///         switch error {
///         case .store(.diskFull): print("free some space, then save again")
///         case .store(let error): print(error)  // what happened, to which file or property, and what to do
///         default: throw error
///         }
///     }
///
/// Functions that open or migrate a store throw it. Methods of contexts and containers throw it inside of
/// `PersistenceError.store`. Nothing was written if a save throws it, so objects keep their changes and you can save again. The
/// exception is ``remote(_:)``, whose ``RemoteFailure`` lists the objects that were not saved.
///
/// Errors are `Hashable` and name the file, entity and property. Match the cases that your app can handle, such as
/// ``locked(path:)``, ``diskFull(path:)`` and ``migrationNeedsAnswers(path:steps:)``, and show or log ``description`` for the
/// rest. A minor version may add cases, so end a `switch` over it with `default`.
public indirect enum StoreError: Error, Sendable, Hashable {
    /// There is no store at the path, and the location does not allow creating one.
    case notFound(path: String)
    /// The file cannot be opened or created: a missing folder, or no permission.
    case cannotOpen(path: String, reason: String)
    /// An option for opening a store has an invalid value.
    case invalidOption(name: String, value: String, reason: String)
    /// The store may be read, but not written.
    case readOnly(path: String)
    /// The file is not a Strata store: it has another format, or is another application's database.
    case notAStore(path: String, reason: String)
    /// The file is damaged.
    case corrupt(path: String, reason: String)
    /// Another process held the store locked for longer than the timeout.
    case locked(path: String)
    /// There is no space left on the disk.
    case diskFull(path: String)
    /// The store was created with another model. The differences name entities and properties.
    case incompatibleModel(path: String, differences: [String])
    /// The file has a model with something that this version of Strata does not know, for instance `the type vector`: a newer
    /// version wrote it. `property` is nil where it belongs to the entity. Nothing was changed.
    case unknownDeclaration(path: String, entity: String, property: String?, declaration: String)
    /// Steps of a migration lose data, or data do not fit, and no answer allows that. Nothing was changed.
    case migrationNeedsAnswers(path: String, steps: [MigrationStep])
    /// A migration step failed. Nothing was changed.
    case migrationFailed(path: String, step: String, reason: String)
    /// A deferred step of an earlier migration is still to be done, and cannot be done now.
    case deferredStepPending(path: String, step: String, reason: String)
    /// Another process has migrated the file to another model while it was open. Nothing was written.
    case migratedElsewhere(path: String)
    /// The store cannot do what the model or a fetch asks for.
    case unsupported(store: String, feature: String)
    /// The condition of a fetch cannot be evaluated, not even in memory: a variable has no value, values of different kinds
    /// are ordered, or a pattern is not valid.
    case invalidPredicate(PredicateEvaluationError)
    /// A value in the store does not fit the model.
    case invalidData(entity: String, property: String, key: Int64, reason: String)
    /// A row to be written refers to the file of an external value that has been removed in the meantime: the value was
    /// replaced or deleted elsewhere, and nothing had referred to the file for a while. Nothing was written.
    case missingFile(entity: String, property: String, key: Int64, file: String)
    /// A constraint of the store itself was broken, for instance a foreign key.
    case constraint(entity: String, reason: String)
    /// Reading or writing failed for another reason. `code` is the engine's own.
    case io(path: String, code: Int, reason: String)
    /// The store has been closed.
    case closed(path: String)
    /// The version of the store that was to be read was held for the given number of seconds, and has been released.
    case versionReleased(path: String, seconds: Double)
    /// The read was cancelled; see ``ReadCancellation``.
    case cancelled
    /// The back end of a remote store did not do what it was asked; for a save with what happened to each object.
    case remote(RemoteFailure)
    /// A synchronous call needs data that only the network has.
    case needsNetwork(store: String, what: String)
}

extension StoreError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .notFound(let path): "there is no store at \(path); check the path, or set createIfMissing"
        case .cannotOpen(let path, let reason):
            "cannot open \(path): \(reason); check that the folder exists and may be written"
        case .invalidOption(let name, let value, let reason): "the option \(name) is \(value); \(reason)"
        case .readOnly(let path): "\(path) is read-only; make it writable, or do not save"
        case .notAStore(let path, let reason): "\(path) is not a Strata store: \(reason); choose another file"
        case .corrupt(let path, let reason): "\(path) is damaged: \(reason); restore it from a backup"
        case .locked(let path):
            "\(path) is in use by another process; try again, or allow more time. Only one process can open a mirror"
        case .diskFull(let path): "no space left on the disk for \(path); free some space and save again"
        case .incompatibleModel(let path, let differences):
            "\(path) was created with another model: \(differences.joined(separator: "; ")); migrate it, or open it with its own model"
        case .unknownDeclaration(let path, let entity, let property, let declaration):
            "\(path) cannot be migrated: \(property.map { "\(entity).\($0)" } ?? entity) has \(declaration), which is not known; "
                + "a newer version of Strata wrote it, so update this one"
        case .migrationNeedsAnswers(let path, let steps):
            "\(path) cannot be migrated without an answer to: \(steps.map(\.description).joined(separator: "; ")); "
                + "put answers by these names into options.migration.answers, change the model, or write a custom stage"
        case .migrationFailed(let path, let step, let reason):
            "the migration of \(path) failed at \"\(step)\": \(reason)"
        case .deferredStepPending(let path, let step, let reason):
            "the step \"\(step)\" of an earlier migration of \(path) is not finished: \(reason)"
        case .migratedElsewhere(let path):
            "\(path) has been migrated to another version of the model while it was open; open it with that version"
        case .unsupported(let store, let feature): "the \(store) store does not support \(feature)"
        case .invalidPredicate(let error): "the predicate cannot be evaluated: \(error)"
        case .invalidData(let entity, let property, let key, let reason):
            "\(entity).\(property) of object \(key) does not fit the model: \(reason); correct the value, or change the model"
        case .missingFile(let entity, let property, let key, let file):
            "\(entity).\(property) of object \(key): its value was in the file \(file), which no longer exists; "
                + "set the property again, or refresh the object"
        case .constraint(let entity, let reason): "\(entity): the store refused the change: \(reason)"
        case .io(let path, let code, let reason):
            "\(path): \(reason) (code \(code)); check the disk or the connection, then try again"
        case .closed(let path): "\(path) has been closed; open the store again"
        case .versionReleased(let path, let seconds):
            "the version of \(path) that was held for reading has been released after \(seconds) s; "
                + "pin the context again to read the present version, or unpin it"
        case .cancelled: "the read was cancelled"
        case .remote(let failure): failure.description
        case .needsNetwork(let store, let what):
            "\(what) needs the network: use the form with await, in a function that is async (top-level code takes the other form), or tell the store \(store) to wait for the network"
        }
    }
}
