import StrataSQLite

/// Whether a back end has an object.
enum RemotePresence {
    case there(RemoteRecord)
    /// The server answered for the collection, and the object is not in it.
    case gone
    /// Nothing can be said: the server does not know the collection either.
    case unknown(RemoteError)
}

/// Asks a back end about single objects.
struct RemoteLookup {
    let mirror: Mirror
    let backend: any RemoteBackend
    let options: RequestOptions

    /// The server's state of an object; nil if it has none.
    func state(_ entity: EntityDescription, _ id: String) async throws(RemoteError) -> RemoteRecord? {
        do throws(RemoteError) {
            return try await records(.read(entity: entity, ids: [id])).first { mirror.isSame($0, entity, id) }
        } catch {
            if error.kind == .notFound || error.kind == .gone { return nil }
            throw error
        }
    }

    /// Asks for an object. A query tells a collection without the object from a server that knows no such collection; a
    /// back end that cannot be asked so is asked by primary key.
    func presence(_ entity: EntityDescription, _ id: String) async throws(RemoteError) -> RemotePresence {
        var operation = RemoteOperation.read(entity: entity, ids: [id])
        let slot = mirror.primaryKeys[entity.index]
        if let value = PrimaryKey.value(id, slot) {
            var query = RemoteQuery(entity: entity)
            query.predicate = .comparison(.keyPath([slot.name]), .equal, .constant(value), [])
            if (try? backend.check(.query(query))) != nil { operation = .query(query) }
        }
        do throws(RemoteError) {
            return try await records(operation).first { mirror.isSame($0, entity, id) }.map(RemotePresence.there)
                ?? .gone
        } catch {
            if error.kind == .gone { return .gone }
            if error.kind == .notFound { return .unknown(error) }
            if error.kind == .unsupported, case .query = operation {
                return try await state(entity, id).map(RemotePresence.there) ?? .gone
            }
            throw error
        }
    }

    private func records(_ operation: RemoteOperation) async throws(RemoteError) -> [RemoteRecord] {
        guard case .page(let page) = try await backend.perform(operation, options: options) else {
            throw RemoteError(
                .invalidAnswer, domain: "Strata", message: "\(backend.name) answered a read without objects")
        }
        if let unreadable = page.unreadable.first { throw unreadable.error }
        return page.records
    }
}
