import Foundation
import Strata
import Testing

/// Old values, tombstones and objects as they were.
@Suite(.recordsHistory) struct HistoryPastTests {
    private let model: ManagedObjectModel
    private let container: PersistentContainer

    init() throws {
        model = try ManagedObjectModel(name: "Shop") {
            Entity("Product") {
                Attribute("code", .string).preservesValueInHistory()
                Attribute("price", .decimal, optional: true).preservesValueInHistory()
                Attribute("stock", .integer64, default: .value(0))
                Attribute("photo", .binary, optional: true).preservesValueInHistory()
                Attribute("added", .date, optional: true).preservesValueInHistory()
                Attribute("tags", .array(.string), optional: true).preservesValueInHistory()
                Attribute("place", .geoPoint, optional: true).preservesValueInHistory()
                Attribute("uuid", .uuid, optional: true).preservesValueInHistory()
                Attribute("site", .uri, optional: true).preservesValueInHistory()
                Attribute("isSold", .boolean, default: .value(false)).preservesValueInHistory()
                Attribute("weight", .double, default: .value(0.0)).preservesValueInHistory()
                Attribute(
                    "address",
                    .composite([
                        CompositeElement("street", .string, optional: true),
                        CompositeElement("number", .integer32, optional: true),
                    ]), optional: true
                ).preservesValueInHistory()
                Relationship("maker", to: "Maker", .optionalToOne, inverse: "products")
            }
            Entity("Book", inherits: "Product") { Attribute("title", .string).preservesValueInHistory() }
            Entity("Maker") {
                Attribute("name", .string)
                Relationship("products", to: "Product", .toMany, inverse: "maker")
            }
        }
        container = try HistoryFile.container(model)
    }

    @Test("Updates keep the first old value of each preserved attribute, of every type; others keep none")
    func oldValues() throws {
        let context = container.newContext()
        let product = try context.insert(entityNamed: "Product")
        let old: [String: Value] = [
            "code": "A", "price": .decimal(Decimal(string: "12.50")!), "photo": .binary(Data([0, 1, 2])),
            "added": .date(Date(timeIntervalSinceReferenceDate: 12.25)), "tags": ["x", "y"],
            "place": .geoPoint(GeoPoint(latitude: 1, longitude: 2)), "uuid": .uuid(UUID()),
            "site": .uri(URL(string: "https://example.org/a")!), "isSold": false, "weight": 0.1,
        ]
        for (name, value) in old { try product.setValue(value, forKey: name) }
        product["address.street"] = "Main"
        try context.save()
        let token = try container.currentHistoryToken()
        for name in ["price", "photo", "added", "tags", "place", "uuid", "site"] {
            try product.setValue(nil, forKey: name)
        }
        product["code"] = "B"
        product["isSold"] = true
        product["weight"] = 2.5
        product["stock"] = 3
        product["address.street"] = "Side"
        try context.save()
        let change = try #require(try container.history(after: token).first?.changes.first)
        #expect(change.properties == (old.keys + ["stock", "address"]).sorted())
        #expect(change.oldValues == old.merging(["address.street": "Main"]) { a, _ in a })
        let then = try #require(try container.object(product.objectID, at: token))
        for (name, value) in old { #expect(try then.value(of: name) == value) }
        #expect(historyError { try then.value(of: "stock") } == .valueNotKept(entity: "Product", property: "stock"))
        #expect(
            historyError { try then.value(of: "nope") }
                == .unknownProperty(entity: "Product", property: "nope", nearest: nil))
        #expect(try then.value(of: "maker") == .null)
        #expect(change.oldValue(of: AttributeKey<String>(["code"])) == "A")
        #expect(try then.value(of: AttributeKey<Decimal?>(["price"])) == Decimal(string: "12.5"))
    }

    @Test("Deletes leave the preserved attributes of the object's own entity behind, in bulk, too")
    func tombstones() throws {
        let context = container.newContext()
        let book = try context.insert(entityNamed: "Book")
        book["code"] = "B"
        book["title"] = "T"
        let product = try context.insert(entityNamed: "Product")
        product["code"] = "P"
        try context.save()
        let ids = [book.objectID, product.objectID]
        let token = try container.currentHistoryToken()
        context.delete(book)
        try context.save()
        try context.deleteAll(FetchRequest<ManagedObject>(entity: "Product"))
        let changes = try container.history(after: token).flatMap(\.changes)
        #expect(changes.map(\.entityName) == ["Book", "Product"])
        #expect(changes[0].oldValues["title"] == "T" && changes[0].oldValues["code"] == "B")
        #expect(changes[1].oldValues["code"] == "P" && changes[1].oldValues["title"] == nil)
        #expect(changes.allSatisfy { $0.oldValues["stock"] == nil })
        let then = try #require(try container.object(ids[0], at: token))
        #expect(try then.value(of: "title") == "T")
        #expect(historyError { try then.value(of: "stock") } == .valueNotKept(entity: "Book", property: "stock"))
        #expect(try container.object(ids[0], at: try container.currentHistoryToken()) == nil)
    }

    @Test("An object is what it was at every token on the way")
    func way() throws {
        let context = container.newContext()
        let before = try container.currentHistoryToken()
        let product = try context.insert(entityNamed: "Product")
        var tokens: [HistoryToken] = []
        for number in 0..<5 {
            product["code"] = "\(number)"
            if number == 3 { product["stock"] = 7 }
            try context.save()
            tokens.append(try container.currentHistoryToken())
        }
        let id = product.objectID
        #expect(try container.object(id, at: before) == nil)
        for (number, token) in tokens.enumerated() {
            let then = try #require(try container.object(id, at: token))
            #expect(try then.value(of: "code") == .string("\(number)"))
            if number >= 3 { #expect(try then.value(of: "stock") == 7) } else { #expect(then.values["stock"] == nil) }
        }
        #expect(try container.object(id, at: Date(timeIntervalSinceNow: 60))?.value(of: "code") == "4")
        #expect(historyError { try container.object(id, at: Date.distantPast) } != nil)
        context.delete(product)
        try context.save()
        for (number, token) in tokens.enumerated() {
            #expect(try container.object(id, at: token)?.value(of: "code") == .string("\(number)"))
        }
    }

    @Test("A model refuses to preserve what no history can keep")
    func refused() {
        #expect(throws: ModelError.self) {
            try ManagedObjectModel(name: "M") {
                Entity("E") { Attribute("a", .string).transient().preservesValueInHistory() }
            }
        }
        #expect(throws: ModelError.self) {
            try ManagedObjectModel(name: "M") {
                Entity("E") { Attribute("a", .binary).externalStorage().preservesValueInHistory() }
            }
        }
    }

    @Test("The option does not change the version hash, nor the record of a model without it")
    func hashes() throws {
        func made(_ attribute: Attribute) throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "M") { Entity("E") { attribute } }
        }
        let plain = try made(Attribute("a", .string))
        let kept = try made(Attribute("a", .string).preservesValueInHistory())
        #expect(plain.versionHash == kept.versionHash)
    }
}
