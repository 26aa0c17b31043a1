#if Server
    import Foundation
    import Strata

    /// What one request works with: the schemas and a context on the data. It lives and dies within one closure on the
    /// queue of readers or of the writer. Its stored properties are what a request reads, and what it leaves to be done after its
    /// save.
    final class DataScope {
        let catalogue: SchemaCatalogue
        let uniques: UniqueValues
        let context: ManagedObjectContext
        /// The present in milliseconds since 1970.
        let now: Int64
        /// The maximum number of a change that readers may see.
        let visibleSequence: Int64
        private let sequences: SequenceCounter?
        /// What the transaction has made and deleted; nil for a read.
        let pending: PendingKeys?
        /// The catalogue that a write needs and the file lacks; the queue grows the file and runs the write again.
        private(set) var neededCatalogue: SchemaCatalogue?
        /// The number of the last change that the write has made; 0 for none.
        private(set) var lastSequence: Int64 = 0
        /// What the write asks for beyond its context.
        private(set) var effects = WriteEffects()
        private let cancellation: ReadCancellation?
        /// Why the rows of objects could not be read when they were looked at.
        private var readingFailure: PersistenceError?

        init(
            catalogue: SchemaCatalogue, uniques: UniqueValues, context: ManagedObjectContext, now: Int64,
            visibleSequence: Int64, sequences: SequenceCounter? = nil, pending: PendingKeys? = nil,
            cancellation: ReadCancellation? = nil
        ) {
            self.catalogue = catalogue
            self.uniques = uniques
            self.cancellation = cancellation
            context.readCancellation = cancellation
            self.context = context
            self.now = now
            self.visibleSequence = visibleSequence
            self.sequences = sequences
            self.pending = pending
            context.onFaultError = { [weak self] (error, _) in
                if case .objectNotFound = error { return }
                self?.readingFailure = error
            }
        }

        /// Ends a read whose rows could not all be read.
        func checkReading() throws(ServerError) {
            if let readingFailure { throw ServerError(readingFailure) }
        }

        /// A scope on a child of the context.
        func nested() -> DataScope {
            DataScope(
                catalogue: catalogue, uniques: uniques, context: context.makeChild(), now: now,
                visibleSequence: visibleSequence, sequences: sequences, pending: PendingKeys(below: pending))
        }

        /// The number of the next change.
        /// - Parameter schema: The schema whose objects are changed.
        func nextSequence(in schema: ServerSchema) -> Int64 {
            guard let sequences else { fatalError("a read numbers no changes; run it as a write") }
            effects.changed.insert(schema.name)
            lastSequence = sequences.next()
            return lastSequence
        }

        /// The time of a change: that of the clock, but never before that of an earlier change, so that who asks for what
        /// changed since a time misses nothing.
        /// - Parameter previous: The time of the object's last change, which is less.
        func stamp(after previous: Int64 = .min) -> Int64 {
            guard let sequences else { fatalError("a read changes nothing; run it as a write") }
            return sequences.time(now, after: previous)
        }

        /// Asks for a wider catalogue. The write ends here, and starts over when the file has it.
        func grow(to catalogue: SchemaCatalogue) throws(ServerError) -> Never {
            neededCatalogue = catalogue
            throw ServerError(503, "The schemas are being extended.", retryAfter: 1)
        }

        /// Runs something once the write is durable.
        func afterCommit(_ work: @escaping @Sendable () -> Void) { effects.followUps.append(work) }

        /// Says that a file may have no name any more once the write is done, or undone.
        func touchFile(_ digest: String) { effects.touchedFiles.insert(digest) }

        /// Ends a read whose caller has gone.
        func checkCancellation() throws(ServerError) {
            if let cancellation { try ReaderLine.check(cancellation) }
        }

        /// The write remembers an answer. Those that were made before a time may go.
        func remembersAnswer(expired: Int64) { effects.room.answers.add(count: 4, before: expired) }

        /// The write opens a session. Some that have ended may go.
        func endsSessions(before now: Int64, count: Int) { effects.room.sessions.add(count: count, before: now) }

        /// The write ends sessions, whose dialogues learn of it.
        func endsSessions() { effects.changed.insert(ChangeSignal.sessions) }

        /// The write leaves the mark of a deleted object. Some that are old, or too many, may go.
        func leavesTombstone(_ options: StorageOptions) {
            effects.room.tombstones.add(
                count: Tombstones.forgottenPerDeletion, before: now - Int64(options.deletionLifetime) * 1000)
            effects.room.maximumTombstones = options.deletions
        }

        /// A part of the write is kept, with its changes.
        func keep(_ part: DataScope) { lastSequence = max(lastSequence, part.lastSequence) }

        /// Takes over what a part of the write asks for beyond its context.
        func takeOver(_ part: DataScope) {
            effects.add(part.effects)
            neededCatalogue = part.neededCatalogue ?? neededCatalogue
        }

        // MARK: Reading

        /// The objects that a request finds.
        func fetch(_ request: FetchRequest<ManagedObject>) throws(ServerError) -> [ManagedObject] {
            do throws(PersistenceError) { return try context.fetch(request) } catch { throw ServerError(error) }
        }

        /// The objects that a request finds, which are read a few at a time.
        func fetchLazily(_ request: FetchRequest<ManagedObject>) throws(ServerError) -> FoundObjects {
            do throws(PersistenceError) {
                return try FoundObjects(request, in: context, batchSize: Self.batchSize)
            } catch {
                throw ServerError(error)
            }
        }

        /// How many objects are read at once where there are many: few, since each may be as large as a body.
        static let batchSize = 25

        /// The values that a request finds.
        func values(
            _ request: ValueRequest<ManagedObject, FetchedRow>
        ) throws(ServerError) -> [FetchedRow] {
            do throws(PersistenceError) { return try context.fetchValues(request) } catch { throw ServerError(error) }
        }

        /// How many objects a request finds, its limit aside.
        func count(_ request: FetchRequest<ManagedObject>) throws(ServerError) -> Int {
            do throws(PersistenceError) { return try context.count(request) } catch { throw ServerError(error) }
        }

        /// The first object of an entity in which fields have given values.
        func first(_ entity: String, _ fields: (String, Value)...) throws(ServerError) -> ManagedObject? {
            try fetch(
                FetchRequest(entity: entity, where: .and(fields.map { Self.equal($0, $1) }), limit: 1)
            ).first
        }

        /// The object that values name among all of its entity. A write finds what it has made, too.
        func find(_ entity: String, _ fields: (String, String)...) throws(ServerError) -> ManagedObject? {
            let condition = FetchPredicate.and(fields.map { Self.equal($0.0, .string($0.1)) })
            var request = FetchRequest<ManagedObject>(entity: entity, where: condition, limit: 1)
            guard let pending else { return try fetch(request).first }
            do throws(PersistenceError) {
                if let entry = pending[.init([entity] + fields.map(\.1))] {
                    guard let id = entry else { return nil }
                    return try context.existingObject(with: id)
                }
                request.includesPendingChanges = false
                guard let id = try context.fetchIDs(request).first else { return nil }
                return try context.existingObject(with: id)
            } catch {
                if case .objectNotFound = error { return nil }
                throw ServerError(error)
            }
        }

        /// Remembers a new object by what names it; see ``find(_:_:)``.
        func register(_ object: ManagedObject, _ names: String...) {
            pending?.insert(object.objectID, .init([object.objectID.entity.name] + names))
        }

        /// Deletes an object that may be looked for by what names it.
        func delete(_ object: ManagedObject, _ names: String...) {
            pending?.delete(.init([object.objectID.entity.name] + names))
            context.delete(object)
        }

        /// All objects of an entity in which fields have given values.
        func all(_ entity: String, _ fields: (String, Value)...) throws(ServerError) -> [ManagedObject] {
            try fetch(FetchRequest(entity: entity, where: .and(fields.map { Self.equal($0, $1) })))
        }

        /// The object of a key; nil if there is none.
        func object(_ schema: ServerSchema, _ id: String) throws(ServerError) -> ManagedObject? {
            try find(schema.entityName, (schema.keyField, id))
        }

        static func equal(_ name: String, _ value: Value) -> FetchPredicate {
            .comparison(.keyPath([name]), .equal, .constant(value), [])
        }

        // MARK: Writing

        /// A new object of an entity.
        func insert(_ entity: String) throws(ServerError) -> ManagedObject {
            do throws(PersistenceError) { return try context.insert(entityNamed: entity) } catch {
                throw ServerError(error)
            }
        }
    }

    extension ManagedObject {
        func text(_ name: String) -> String? { self[name] as? String }
        func whole(_ name: String) -> Int64? { self[name] as? Int64 }
    }
#endif
