import Foundation
import Strata
import Testing

@Suite struct ObjectReferenceTests {
    @Test("Many references are resolved in one statement, without those that lead nowhere")
    func batch() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let region = Region(context, "PE")
        for number in 0..<50 {
            let spot =
                number.isMultiple(of: 2) ? Town(context, "\(number)", region) : Village(context, "\(number)", region)
            _ = Visit(context, "\(number)", spot)
        }
        try context.save()
        let first = try #require(
            try context.fetchFirst(FetchRequest<Spot>(where: FetchPredicate(format: "name == '0'"))))
        context.delete(first)
        try context.save()
        let fresh = files.container.newContext()
        let visits = try fresh.fetch(FetchRequest<Visit>())
        var found: [ObjectReference<Spot>: Spot] = [:]
        let statements = try files.statements { found = try fresh.resolve(visits.compactMap(\.spot)) }
        #expect(statements.count == 1, "\(statements)")
        #expect(found.count == 49)
        for visit in visits {
            let spot = visit.spot.flatMap { found[$0] }
            #expect(spot?.name == (visit.note == "0" ? nil : visit.note))
            // The context has it now.
            #expect(try fresh.resolve(visit.spot) === spot)
        }
        #expect(try fresh.resolve(nil as ObjectReference<Spot>?) == nil)
        #expect(try fresh.resolve([] as [ObjectReference<Spot>]).isEmpty)
    }

    @Test("Conditions compare references, in memory and in the store, whatever entity the ID names")
    func conditions() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let (lima, cusco) = (Town(context, "Lima"), Village(context, "Cusco"))
        _ = Visit(context, "warm", lima)
        _ = Visit(context, "cold", cusco)
        _ = Visit(context, "nowhere")
        func notes(_ condition: FetchPredicate, _ context: ManagedObjectContext) throws -> [String] {
            try context.fetch(FetchRequest<Visit>(where: condition, sortedBy: [FetchSort("note")])).map(\.note)
        }
        let keys = ObjectKeys<Visit>()
        for saved in [false, true] {
            if saved { try context.save() }
            let reader = saved ? files.container.newContext() : context
            #expect(try notes(keys.spot == ObjectReference(lima), reader) == ["warm"])
            #expect(try notes(keys.spot != ObjectReference(lima), reader) == ["cold", "nowhere"])
            #expect(try notes(keys.spot == nil, reader) == ["nowhere"])
            #expect(
                try notes(keys.spot.isIn([ObjectReference(lima), ObjectReference(cusco)]), reader) == ["cold", "warm"])
            #expect(try notes(FetchPredicate(format: "spot == %@", ObjectReference<Spot>(cusco)), reader) == ["cold"])
        }
        // The ID of a fault that is only known as a spot, and the one of the town.
        let entity = try #require(Travel.model.entity(named: "Spot"))
        let id = ObjectID(entity: entity, key: lima.objectID.key, storeIdentifier: lima.objectID.storeIdentifier)
        #expect(id.uri != lima.objectID.uri)
        #expect(ObjectReference<Spot>(id) == ObjectReference<Spot>(lima))
        #expect("\(ObjectReference<Spot>(lima))" == id.uri.absoluteString)
    }

    @Test("A reference to a deleted object, to another class, to a foreign store and to no URI at all resolves to nil")
    func nowhere() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let lima = Town(context, "Lima")
        let visit = Visit(context, "warm", lima)
        #expect(try context.resolve(visit.spot) === lima)
        try context.save()
        let village = ObjectReference<Village>(lima.objectID)
        #expect(try context.resolve(village) == nil)
        #expect(try context.resolve([village]).isEmpty)
        let foreign = ObjectReference<Spot>(
            ObjectID(entity: lima.objectID.entity, key: lima.objectID.key, storeIdentifier: UUID()))
        #expect(try context.resolve(foreign) == nil)
        #expect(try context.resolve([foreign]).isEmpty)
        context.delete(lima)
        #expect(try context.resolve(visit.spot) == nil)
        #expect(try context.resolve([visit.spot].compactMap(\.self)).isEmpty)
        try context.save()
        #expect(visit.spot != nil)
        #expect(try context.resolve(visit.spot) == nil)
        for text in [
            "https://example.org/City/1", "strata://x/Town/1", "about:blank", "strata:", "strata://\(UUID())/Town/x",
        ] {
            try visit.setValue(URL(string: text), forKey: "spot")
            #expect(try context.resolve(visit.spot) == nil)
        }
        files.places.fail(.reads, with: .locked(path: "places.sqlite"))
        let other = files.container.newContext()
        #expect(throws: PersistenceError.self) { try other.resolve(ObjectReference<Spot>(lima.objectID)) }
    }

    @Test("A fetched property finds objects of another store by a value")
    func fetchedProperty() throws {
        let files = try TravelFiles()
        let context = files.container.newContext()
        let region = Region(context, "PE")
        for note in ["b", "a", "c"] { Visit(context, note).regionCode = note == "c" ? "BR" : "PE" }
        #expect(region.visits.map(\.note) == ["a", "b"])
        try context.save()
        let fresh = try #require(try files.container.newContext().fetchFirst(FetchRequest<Region>()))
        let statements = files.statements { #expect(fresh.visits.map(\.note) == ["a", "b"]) }
        #expect(statements.count == 1)
    }
}
