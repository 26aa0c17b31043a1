// The examples of Documentation/History.md, compiled and run by GuideTests.
import Foundation
import Strata

enum HistoryGuide {
    final class Index {
        var ids: Set<ObjectID> = []

        func add(_ id: ObjectID) { ids.insert(id) }
        func remove(_ id: ObjectID) { ids.remove(id) }
        func rebuild(_ container: PersistentContainer) throws {
            ids = Set(try container.newContext().fetch(FetchRequest<City>()).map(\.objectID))
        }
    }

    static func record(_ path: String) throws -> (PersistentContainer, ManagedObjectContext) {
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(7))
        let container = try PersistentContainer(AtlasModel.self, at: .file(path: path), options: options)

        let context = container.newContext()
        context.author = "editor"
        return (container, context)
    }

    static func read(_ container: PersistentContainer) throws {
        let token = try container.currentHistoryToken()
        // Later, or in another process:
        for transaction in try container.history(after: token) {
            print(transaction.date, transaction.author ?? "unknown", transaction.processName)
            for change in transaction.changes {
                print(change.kind, change.entityName, change.objectID?.uri.absoluteString ?? "", change.properties)
            }
        }
    }

    static func filters(_ container: PersistentContainer) -> [HistoryFilter] {
        let counted = HistoryFilter.changes(of: City.self, to: City.keys.population).excluding(authors: "import")
        let deleted = HistoryFilter.changes(of: City.self).kinds(.deleted)
        let others = HistoryFilter(excludedOrigin: container.history?.origin)
        return [counted, deleted, others]
    }

    static func consume(_ container: PersistentContainer, _ index: Index) throws {
        try container.consumeHistory(as: "search", where: .changes(of: City.self)) { transactions in
            for change in transactions.flatMap(\.changes) {
                guard let id = change.objectID else { continue }
                if change.kind == .deleted { index.remove(id) } else { index.add(id) }
            }
        }
    }

    static func follow(
        _ container: PersistentContainer, _ body: ([HistoryTransaction]) throws -> Void
    ) async throws {
        var commits = container.changes.makeAsyncIterator()
        repeat {
            try container.consumeHistory(as: "search", body)
        } while await commits.next() != nil
    }

    static func restart(
        _ container: PersistentContainer, _ index: Index, _ body: ([HistoryTransaction]) throws -> Void
    ) throws {
        do {
            try container.consumeHistory(as: "search", body)
        } catch {
            guard case HistoryError.expired = error else { throw error }
            try container.restartHistory(of: "search")
            try index.rebuild(container)
        }
    }

    static func past(_ container: PersistentContainer, _ id: ObjectID, _ token: HistoryToken) throws {
        for change in try container.history(after: token, where: .changes(of: City.self)).flatMap(\.changes) {
            if let name = change.oldValue(of: City.keys.name) { print("was called", name) }
        }
        if let city = try container.object(id, at: token) {
            print(try city.value(of: City.keys.name) ?? "")
        }
    }
}
