// The examples of Documentation/LiveResults.md, compiled and run by GuideTests.
import Foundation
import Strata

enum LiveResultsGuide {
    static func live(_ context: ManagedObjectContext) throws -> FetchedResults<City> {
        let large = try context.live(
            City.where { $0.population >= 1_000_000 }.sorted(by: City.keys.population.descending),
            sectionedBy: City.keys.country.name)
        for section in large.sections {
            print(section.name, large[section].map(\.name))
        }
        return large
    }

    final class Table: FetchedResultsDelegate {
        var ids: [ObjectID] = []

        func results<Object>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate) {
            ids = update.difference.apply(to: ids)
        }
    }

    static func follow(_ large: FetchedResults<City>) async throws -> Int {
        for try await update in large.updates {
            if update.isInitial { continue }
            return update.difference.inserts.count
        }
        return 0
    }

    static func totals(_ context: ManagedObjectContext) throws -> FetchedValues<City, FetchedRow> {
        try context.live(
            FetchRequest<City>()
                .select(City.keys.country.name, City.keys.population.sum)
                .grouped(by: City.keys.country.name))
    }

    static func listen(_ context: ManagedObjectContext) async -> [String] {
        for await change in context.changes {
            return change.updated.values.flatMap(\.names)
        }
        return []
    }

    static func commits(_ container: PersistentContainer) async -> Int {
        for await change in container.changes {
            return change.deleted.count
        }
        return 0
    }

    static func notifications(_ container: PersistentContainer) {
        container.notificationCenter = .default
    }
}
