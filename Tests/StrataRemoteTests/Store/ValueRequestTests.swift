import Foundation
import Strata
import StrataRemote
import Testing

/// Columns, groups and aggregates over a remote store look at related objects that the mirror does not have yet.
@Suite struct ValueRequestTests {
    private func open() throws -> (ShelfBackend, PersistentContainer) {
        let backend = ShelfBackend()
        backend.put("Country", "pe", ["name": .value(.string("Peru"))])
        backend.put("Country", "ec", ["name": .value(.string("Ecuador"))])
        backend.putCity("1", "Lima", population: 10, country: "pe")
        backend.putCity("2", "Quito", population: 3, country: "ec")
        backend.putCity("3", "Cusco", population: 1, country: "pe")
        return (backend, try Atlas.open(backend).1)
    }

    private let country = FetchExpression.keyPath(["country", "name"])

    private func columns(_ options: RemoteOptions? = nil) throws -> ValueRequest<ManagedObject, FetchedRow> {
        try cities(nil, options).select(FetchColumn("name", .keyPath(["name"])), FetchColumn("country", country))
    }

    private func valuesNow(
        _ request: ValueRequest<ManagedObject, FetchedRow>, _ context: ManagedObjectContext
    ) throws -> [FetchedRow] { try context.fetchValues(request) }

    private func texts(_ rows: [FetchedRow], _ names: String...) -> [String] {
        rows.map { row in
            names.map { name in
                switch row[name].value {
                case .string(let text): text
                case .integer(let number): "\(number)"
                case .double(let number): "\(Int(number))"
                default: "-"
                }
            }.joined(separator: " ")
        }
    }

    @Test("A column through a relationship has the related object's value", arguments: [false, true])
    func column(hasChanges: Bool) async throws {
        let (_, container) = try open()
        let context = container.newContext()
        if hasChanges {
            let city = try #require(try await context.fetch(cities("cityId == '3'")).first)
            city["name"] = "Qosqo"
        }
        let rows = try await context.fetchValues(columns())
        let others = ["Lima Peru", "Quito Ecuador"]
        let names = texts(rows, "name", "country")
        #expect(names == (hasChanges ? ["Lima Peru", "Qosqo Peru", "Quito Ecuador"] : ["Cusco Peru"] + others))
    }

    @Test("Groups are formed by values of related objects")
    func groups() async throws {
        let (_, container) = try open()
        let name = AttributeKey<String?>(["country", "name"])
        let request = FetchRequest<ManagedObject>(entity: "City")
            .select(
                FetchColumn("country", country), FetchColumn("population", .function(.sum, [.keyPath(["population"])]))
            )
            .grouped(by: name)
        let rows = try await container.newContext().fetchValues(request)
        #expect(Set(texts(rows, "country", "population")) == ["Peru 11", "Ecuador 3"])
    }

    @Test("What is here already is not asked for again, and what is missing is, whatever the cities come from")
    func requests() async throws {
        let (backend, container) = try open()
        let context = container.newContext()
        _ = try await context.fetch(cities())
        _ = backend.takeLog()
        let mirrorFirst = RemoteOptions(fetchPolicy: .cacheElseNetwork)
        #expect(throws: PersistenceError.self) { _ = try valuesNow(columns(mirrorFirst), context) }
        #expect(backend.takeLog().isEmpty)
        let rows = try await context.fetchValues(columns(mirrorFirst))
        #expect(texts(rows, "country") == ["Peru", "Peru", "Ecuador"])
        #expect(backend.takeLog().count == 1)
        #expect(texts(try valuesNow(columns(mirrorFirst), context), "country") == ["Peru", "Peru", "Ecuador"])
        #expect(backend.takeLog().isEmpty)
    }

    @Test("Without a network, the mirror answers as far as it can")
    func offline() async throws {
        let (backend, container) = try open()
        let context = container.newContext()
        _ = try await context.fetch(cities())
        backend.down = unreachable
        let rows = try await context.fetchValues(columns(RemoteOptions(fetchPolicy: .networkElseCache)))
        #expect(texts(rows, "name") == ["Cusco", "Lima", "Quito"])
        #expect(texts(rows, "country") == ["-", "-", "-"])
    }

    @Test("Members that the back end does not tell are not taken for all")
    func members() async throws {
        let (_, container) = try open()
        var request = FetchRequest<ManagedObject>(entity: "Country", sortedBy: [FetchSort("name")])
        let total = FetchColumn("total", .keyPath(["cities", "@sum", "population"]))
        let name = FetchColumn("name", .keyPath(["name"]))
        let context = container.newContext()
        await #expect {
            _ = try await context.fetchValues(request.select(name, total)).count
        } throws: {
            "\($0)".contains("Country.cities is only reported by its other end")
        }
        request = request.options(RemoteOptions(finishesLocally: true))
        _ = try await context.fetch(cities())
        #expect(texts(try await context.fetchValues(request.select(name, total)), "total") == ["3", "11"])
    }
}
