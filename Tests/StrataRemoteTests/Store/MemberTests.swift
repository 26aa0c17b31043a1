import Foundation
import Strata
import StrataStore
import StrataRemoteTesting
import Testing

@testable import StrataRemote

/// The members of to-many relationships whose owners do not list them: they are asked for when an app loads the relationship.
@Suite struct MemberTests {
    /// A server that counts reads.
    private final class Server: RemoteBackend {
        let inner: MemoryBackend
        private let log = Guarded<[RemoteOperation]>([])
        private let outage = Guarded<RemoteError?>(nil)

        init(_ unlisted: [String: Set<String>] = [:], maximumPage: Int? = nil) {
            inner = MemoryBackend(maximumPage: maximumPage, unlisted: unlisted)
        }

        var name: String { inner.name }
        var capabilities: RemoteCapabilities { inner.capabilities }
        var isDown: Bool {
            get { outage.withLock { $0 != nil } }
            set { outage.withLock { $0 = newValue ? RemoteError(.unreachable, domain: "Test", message: "down") : nil } }
        }
        func check(_ operation: RemoteOperation) throws(RemoteError) { try inner.check(operation) }
        func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
            inner.lists(relationship, of: entity)
        }
        func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
            log.withLock { $0.append(operation) }
            if let error = outage.withLock({ $0 }) { throw error }
            return try await inner.perform(operation, options: options)
        }
        /// The queries since the last time.
        func takeQueries() -> [RemoteQuery] {
            log.withLock { log in
                defer { log = [] }
                return log.compactMap { if case .query(let query) = $0 { query } else { nil } }
            }
        }
        func put(_ entity: String, _ id: String, _ values: [String: RemoteValue]) async throws {
            let population: [String: RemoteValue] = entity == "City" ? ["population": .value(.integer(0))] : [:]
            let entity = try #require(Atlas.model.entity(named: entity))
            _ = try await inner.perform(
                .create(entity: entity, [RemoteWrite(id: id, values: values.merging(population) { $1 })]),
                options: RequestOptions())
        }
        /// The primary keys of the tags of a city, which its record may not list.
        func tags(of city: String) async throws -> [String] {
            var query = RemoteQuery(entity: try #require(Atlas.model.entity(named: "Tag")))
            query.memberOf = RemoteMembership(
                entity: try #require(Atlas.model.entity(named: "City")), id: city, relationship: "tags")
            let answer = try await inner.perform(.query(query), options: RequestOptions())
            guard case .page(let page) = answer else { return [] }
            return page.records.map(\.id).sorted()
        }
        func change(_ entity: String, _ id: String, _ values: [String: RemoteValue]) async throws {
            let entity = try #require(Atlas.model.entity(named: entity))
            _ = try await inner.perform(
                .update(entity: entity, RemoteWrite(id: id, values: values)), options: RequestOptions())
        }
    }

    private func text(_ text: String) -> RemoteValue { .value(.string(text)) }

    private func context(
        _ server: Server, _ policy: FetchPolicy = .networkElseCache, merges: Bool = true
    ) throws -> (store: RemoteStore, context: ManagedObjectContext) {
        var options = RemoteStore.Options()
        options.fetchPolicy = policy
        options.savePolicy = .cacheOnly
        let store = try RemoteStore.open(
            model: Atlas.model, backend: server, location: .memory(name: nil), options: options)
        return (store, try PersistentContainer(store: store).newContext(automaticallyMergesChanges: merges))
    }

    private func fetch(
        _ entity: String, _ context: ManagedObjectContext, prefetch: [String] = []
    ) async throws -> [ManagedObject] {
        try await context.fetch(FetchRequest<ManagedObject>(entity: entity, prefetch: prefetch))
    }

    private func names(_ object: ManagedObject, _ relationship: String, _ attribute: String = "name") -> [String] {
        (object[relationship] as? Set<ManagedObject> ?? []).compactMap { $0[attribute] as? String }.sorted()
    }

    /// Two countries with two cities and one.
    private func fill(_ server: Server) async throws {
        for (id, name) in [("pe", "Peru"), ("ec", "Ecuador")] {
            try await server.put("Country", id, ["name": text(name)])
        }
        for (id, name, country) in [("1", "Lima", "pe"), ("2", "Cusco", "pe"), ("3", "Quito", "ec")] {
            try await server.put("City", id, ["name": text(name), "country": .reference(country)])
        }
    }

    // MARK: One to many

    @Test(
        "Loading or prefetching the many end brings the members, for all owners in one request",
        arguments: [true, false], [true, false])
    func oneToMany(prefetches: Bool, merges: Bool) async throws {
        let server = Server()
        try await fill(server)
        let (_, context) = try context(server, merges: merges)
        let countries = try await fetch("Country", context, prefetch: prefetches ? ["cities"] : [])
        if !prefetches {
            #expect(countries.allSatisfy { names($0, "cities").isEmpty })
            #expect(server.takeQueries().count == 1)
            try await context.load("cities", of: countries)
        }
        let queries = server.takeQueries()
        #expect(queries.filter { $0.entity.name == "City" }.count == 1)
        let found = Dictionary(uniqueKeysWithValues: countries.map { ($0.name, names($0, "cities")) })
        #expect(found == ["Peru": ["Cusco", "Lima"], "Ecuador": ["Quito"]])
        // Who asks again has what is there now, and keeps what is not saved.
        try await server.put("City", "4", ["name": text("Loja"), "country": .reference("ec")])
        let ecuador = try #require(countries.first { $0.name == "Ecuador" })
        let peru = try #require(countries.first { $0.name == "Peru" })
        let cities = try await fetch("City", context)
        let lima = try #require(cities.first { $0.name == "Lima" })
        lima["country"] = ecuador
        try await context.load("cities", of: countries)
        #expect(names(ecuador, "cities") == ["Lima", "Loja", "Quito"])
        #expect(names(peru, "cities") == ["Cusco"])
    }

    @Test func membersThatMovedAwayOrAreGoneDisappear() async throws {
        let server = Server()
        try await fill(server)
        let (_, context) = try context(server)
        let countries = try await fetch("Country", context, prefetch: ["cities"])
        let peru = try #require(countries.first { $0.name == "Peru" })
        try await server.change("City", "1", ["country": .reference("ec")])
        let city = try #require(Atlas.model.entity(named: "City"))
        _ = try await server.inner.perform(.delete(entity: city, RemoteWrite(id: "2")), options: RequestOptions())
        try await context.load("cities", of: [peru])
        #expect(names(peru, "cities").isEmpty)
        let ecuador = try #require(countries.first { $0.name == "Ecuador" })
        #expect(names(ecuador, "cities") == ["Lima", "Quito"])
    }

    @Test func whatWaitsHereStays() async throws {
        let server = Server()
        try await fill(server)
        let (_, context) = try context(server)
        let countries = try await fetch("Country", context, prefetch: ["cities"])
        let peru = try #require(countries.first { $0.name == "Peru" })
        let ecuador = try #require(countries.first { $0.name == "Ecuador" })
        let lima = try #require((peru["cities"] as? Set<ManagedObject>)?.first { $0.name == "Lima" })
        lima["country"] = ecuador
        let new = try context.insert(entityNamed: "City")
        new["cityId"] = "4"
        new["name"] = "Puno"
        new["country"] = peru
        try await context.save()
        try await context.load("cities", of: countries)
        #expect(names(peru, "cities") == ["Cusco", "Puno"] && names(ecuador, "cities") == ["Lima", "Quito"])
    }

    @Test("The policy decides where the members come from")
    func policies() async throws {
        let server = Server()
        try await fill(server)
        let (_, context) = try context(server)
        let countries = try await fetch("Country", context)
        _ = server.takeQueries()
        try await context.load("cities", of: countries, options: RemoteOptions(fetchPolicy: .cacheOnly))
        #expect(server.takeQueries().isEmpty && names(countries[0], "cities").isEmpty)
        server.isDown = true
        try await context.load("cities", of: countries)
        #expect(names(countries[0], "cities").isEmpty)
        await #expect(throws: PersistenceError.self) {
            try await context.load("cities", of: countries, options: RemoteOptions(fetchPolicy: .networkOnly))
        }
        server.isDown = false
        let elsewhere = RemoteOptions(fetchPolicy: .cacheElseNetwork)
        try await context.load("cities", of: countries, options: elsewhere)
        #expect(countries.map { names($0, "cities").count }.sorted() == [1, 2])
        _ = server.takeQueries()
        try await context.load("cities", of: countries, options: elsewhere)
        #expect(server.takeQueries().isEmpty)
    }

    @Test("A server that cannot be reached is asked once, whatever the number of owners", arguments: [true, false])
    func unreachable(isListed: Bool) async throws {
        let server = try await isListed ? Server() : unlisted()
        if isListed { try await fill(server) }
        let (_, context) = try context(server)
        let owners = try await fetch(isListed ? "Country" : "City", context)
        let name = isListed ? "cities" : "tags"
        server.isDown = true
        _ = server.takeQueries()
        try await context.load(name, of: owners)
        #expect(owners.count == 2 && server.takeQueries().count == 1)
        await #expect(throws: PersistenceError.self) {
            try await context.load(name, of: owners, options: RemoteOptions(fetchPolicy: .cacheElseNetwork))
        }
    }

    @Test func aChildContextHasThemToo() async throws {
        let server = Server()
        try await fill(server)
        let (_, context) = try context(server)
        let countries = try await fetch("Country", context)
        let child = context.makeChild()
        let copies = try countries.map { try child.existingObject(with: $0.objectID) }
        try await child.load("cities", of: copies)
        #expect(copies.map { names($0, "cities").count }.sorted() == [1, 2])
    }

    @Test("The end of a many-to-many relationship that the other end keeps")
    func manyToMany() async throws {
        let server = Server()
        for (id, label) in [("t1", "old"), ("t2", "big")] { try await server.put("Tag", id, ["label": text(label)]) }
        try await server.put("City", "1", ["name": text("Lima"), "tags": .references(["t1", "t2"])])
        try await server.put("City", "2", ["name": text("Cusco"), "tags": .references(["t1"])])
        let (_, context) = try context(server)
        let tags = try await fetch("Tag", context)
        try await context.load("cities", of: tags)
        let found = Dictionary(uniqueKeysWithValues: tags.map { ($0["label"] as? String ?? "", names($0, "cities")) })
        #expect(found == ["old": ["Cusco", "Lima"], "big": ["Lima"]])
    }

    // MARK: Members that nobody lists

    private func unlisted(maximumPage: Int? = nil) async throws -> Server {
        let server = Server(["City": ["tags"]], maximumPage: maximumPage)
        for (id, label) in [("t1", "old"), ("t2", "big"), ("t3", "high")] {
            try await server.put("Tag", id, ["label": text(label)])
        }
        try await server.put("City", "1", ["name": text("Lima"), "tags": .references(["t1", "t2"])])
        try await server.put("City", "2", ["name": text("Cusco"), "tags": .references(["t1"])])
        return server
    }

    @Test("Members that no record lists are asked for, a request for each owner and page", arguments: [nil, 1])
    func membersOfEach(maximumPage: Int?) async throws {
        let server = try await unlisted(maximumPage: maximumPage)
        let (_, context) = try context(server)
        let cities = try await fetch("City", context)
        #expect(cities.allSatisfy { names($0, "tags", "label").isEmpty })
        _ = server.takeQueries()
        try await context.load("tags", of: cities)
        let queries = server.takeQueries()
        // A page that is full may not be all.
        #expect(queries.allSatisfy { $0.memberOf?.relationship == "tags" })
        #expect(queries.count == (maximumPage == nil ? 2 : 4))
        let found = Dictionary(uniqueKeysWithValues: cities.map { ($0.name, names($0, "tags", "label")) })
        #expect(found == ["Lima": ["big", "old"], "Cusco": ["old"]])
        // The next time, members that others have changed.
        try await server.change("City", "1", ["tags": .references(["t3"])])
        try await context.load("tags", of: cities)
        let lima = try #require(cities.first { $0.name == "Lima" })
        #expect(names(lima, "tags", "label") == ["high"])
    }

    @Test("Reading an object again, or a synchronization, does not take its members away")
    func membersStay() async throws {
        let server = try await unlisted()
        let (store, context) = try context(server)
        let cities = try await fetch("City", context, prefetch: ["tags"])
        let lima = try #require(cities.first { $0.name == "Lima" })
        try await server.change("City", "1", ["name": text("Ciudad de los Reyes")])
        _ = try await fetch("City", context)
        _ = try await store.sync.synchronize()
        #expect(lima.name == "Ciudad de los Reyes" && names(lima, "tags", "label") == ["big", "old"])
    }

    @Test("Members added and removed here stay so until the server knows")
    func waitingMembers() async throws {
        let server = try await unlisted()
        let (store, context) = try context(server)
        let cities = try await fetch("City", context, prefetch: ["tags"])
        let tags = try await fetch("Tag", context)
        let lima = try #require(cities.first { $0.name == "Lima" })
        let old = try #require(tags.first { $0["label"] as? String == "old" })
        let high = try #require(tags.first { $0["label"] as? String == "high" })
        lima["tags"] = (lima["tags"] as? Set<ManagedObject> ?? []).subtracting([old]).union([high])
        try await context.save()
        try await context.load("tags", of: [lima])
        #expect(names(lima, "tags", "label") == ["big", "high"])
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty)
        try await context.load("tags", of: [lima])
        #expect(names(lima, "tags", "label") == ["big", "high"])
        #expect(try await server.tags(of: "1") == ["t2", "t3"])
    }

    @Test("The other end of a relationship that no record lists")
    func otherEnd() async throws {
        let server = try await unlisted()
        let (_, context) = try context(server)
        let tags = try await fetch("Tag", context)
        try await context.load("cities", of: tags)
        let found = Dictionary(uniqueKeysWithValues: tags.map { ($0["label"] as? String ?? "", names($0, "cities")) })
        #expect(found == ["old": ["Cusco", "Lima"], "big": ["Lima"], "high": []])
    }

    @Test("Values of members that are not known here are refused by name")
    func unknownValues() async throws {
        let server = try await unlisted()
        let (_, context) = try context(server, .networkOnly)
        let request = FetchRequest<ManagedObject>(entity: "City")
        let count = FetchColumn("count", .keyPath(["tags", "@count"]))
        await #expect {
            _ = try await context.fetchValues(request.select(count)).count
        } throws: { "\($0)".contains("records of City do not list tags") }
    }
}
