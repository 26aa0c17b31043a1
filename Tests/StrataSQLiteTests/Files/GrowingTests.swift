import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Files that are prepared for a larger model.
@Suite struct GrowingTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    /// A shelf with books, and what a later model adds to them.
    private func model(
        ordered: Bool = false, derived: Bool = false, inherited: Bool = false, price: AttributeType = .integer64
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Shelves") {
            Entity("Shelf") {
                Attribute("name", .string)
                if ordered {
                    Relationship("row", to: "Book", .orderedToMany, inverse: "shelf")
                    Relationship("themes", to: "Theme", .orderedToMany, inverse: "shelves")
                }
            }
            Entity("Book") {
                Attribute("title", .string)
                Attribute("price", price).optional()
                if ordered {
                    Attribute("pages", .integer32).optional()
                    Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "row")
                }
                if derived { Attribute("search", .string).optional().derived(.canonical("title")) }
            }
            if ordered {
                Entity("Theme") { Relationship("shelves", to: "Shelf", .toMany, inverse: "themes") }
            }
            if inherited { Entity("Atlas", inherits: "Book") { Attribute("scale", .integer32).optional() } }
        }
    }

    private func fill() throws {
        let store = try SQLiteStore.open(model: try model(), location: .file(path: path))
        try store.insert(
            ("Shelf", 1, ["name": "A"]), ("Book", 1, ["title": "One", "price": 3]), ("Book", 2, ["title": "Two"]))
        store.close()
    }

    @Test func aFileTakesNewEntitiesAttributesAndOrderedRelationships() throws {
        try fill()
        let larger = try model(ordered: true, price: .double)
        try SQLiteStore.grow(to: larger, at: path, notes: ["a": "b"])
        #expect(try SQLiteStore.note(named: "a", at: path) == "b")
        let store = try SQLiteStore.open(model: larger, location: .file(path: path))
        #expect(try store.values("Book", 1)?["price"] == .double(3) && store.values("Book", 2)?["pages"] == .null)
        let shelf = try store.entity("Shelf").index
        let row = try store.relationship("Shelf", "row").index
        let themes = try store.relationship("Shelf", "themes").index
        try store.insert(("Theme", 1, [:]), ("Theme", 2, [:]))
        var changes = ChangeSet()
        changes.updates = [
            try store.update("Book", 1, base: 1, ["title": "One", "shelf": .object(1)], changed: ["shelf"]),
            try store.update("Book", 2, base: 1, ["title": "Two", "shelf": .object(1)], changed: ["shelf"]),
        ]
        changes.pairs = [.init(entityIndex: shelf, relationshipIndex: themes, owner: 1, added: [1, 2], removed: [])]
        changes.orders = [
            .init(entityIndex: shelf, relationshipIndex: row, owner: 1, kind: .arrange([2, 1])),
            .init(entityIndex: shelf, relationshipIndex: themes, owner: 1, kind: .arrange([2, 1])),
        ]
        guard case .committed = try store.commit(changes) else {
            Issue.record("a conflict")
            return
        }
        for relationship in [row, themes] {
            let members = try store.memberKeys(entityIndex: shelf, relationshipIndex: relationship, owners: [1])
            #expect(members.map(\.member) == [2, 1])
        }
        store.close()
        #expect(try Shell(path: path).run("PRAGMA integrity_check") == [["ok"]])
    }

    @Test func whatNeedsValuesForExistingRowsIsRefusedAndNothingIsChanged() throws {
        try fill()
        let before = try Shell(path: path).run("SELECT sql FROM sqlite_master ORDER BY name")
        for (larger, word) in [
            (try model(derived: true), "Book.search"), (try model(inherited: true), "Book"),
            (try model(price: .string), "Book.price"),
        ] {
            let error = #expect(throws: StoreError.self) { try SQLiteStore.grow(to: larger, at: path) }
            guard case .incompatibleModel(_, let differences) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(differences.count == 1 && differences[0].contains(word), "\(differences)")
        }
        #expect(try Shell(path: path).run("SELECT sql FROM sqlite_master ORDER BY name") == before)
        let store = try SQLiteStore.open(model: try model(), location: .file(path: path))
        #expect(try store.keys("Book") == [1, 2])
        store.close()
    }
}
