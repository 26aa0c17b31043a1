import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Names of tables and columns, which must not depend on the order in which a model declares things.
@Suite struct StoredNameTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    /// Two owners with an ordered relationship of one name to the same entity, and pairs that would like one name.
    private func model(reversed: Bool) throws -> ManagedObjectModel {
        let entities: [Entity] = [
            Entity("Album") {
                Attribute("title", .string).optional()
                Relationship("photos", to: "Photo", .orderedToMany, inverse: "album")
                Relationship("viewsSeen", to: "Person", .toMany)
            },
            Entity("AlbumViews") { Relationship("seen", to: "Person", .toMany) },
            Entity("Gallery") { Relationship("photos", to: "Photo", .orderedToMany, inverse: "gallery") },
            Entity("Photo") {
                Relationship("album", to: "Album", inverse: "photos")
                Relationship("gallery", to: "Gallery", inverse: "photos")
            },
            Entity("Person") {
                Attribute("name", .string).optional().indexed()
                Index("name", kind: .fullText)
            },
        ]
        return try ManagedObjectModel(name: "Photos", entities: reversed ? entities.reversed() : entities)
    }

    private func open(reversed: Bool) throws -> SQLiteStore {
        try SQLiteStore.open(model: try model(reversed: reversed), location: .file(path: path))
    }

    private func fill(_ store: SQLiteStore) throws {
        try store.insert(("Album", 1, [:]), ("Gallery", 1, [:]), ("AlbumViews", 1, [:]), ("Person", 1, [:]))
        try store.insert(
            ("Photo", 1, ["album": .object(1), "gallery": .object(1)]),
            ("Photo", 2, ["album": .object(1), "gallery": .object(1)]))
        var changes = ChangeSet()
        for (entity, order) in [("Album", [Int64(2), 1]), ("Gallery", [1, 2])] {
            changes.orders.append(
                .init(
                    entityIndex: try store.entity(entity).index,
                    relationshipIndex: try store.relationship(entity, "photos").index, owner: 1, kind: .arrange(order)))
        }
        changes.pairs = [
            .init(
                entityIndex: try store.entity("Album").index,
                relationshipIndex: try store.relationship("Album", "viewsSeen").index, owner: 1, added: [1], removed: []
            )
        ]
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
    }

    private func check(_ store: SQLiteStore) throws {
        func members(_ entity: String, _ relationship: String) throws -> [Int64] {
            try store.memberKeys(
                entityIndex: try store.entity(entity).index,
                relationshipIndex: try store.relationship(entity, relationship).index, owners: [1]
            ).map(\.member)
        }
        #expect(try members("Album", "photos") == [2, 1])
        #expect(try members("Gallery", "photos") == [1, 2])
        #expect(try members("Album", "viewsSeen") == [1])
        #expect(try members("AlbumViews", "seen") == [])
    }

    @Test(arguments: [false, true])
    func theOrderOfDeclarationsMayChangeBetweenOpenings(_ reversed: Bool) throws {
        let store = try open(reversed: reversed)
        try fill(store)
        store.close()
        let again = try open(reversed: !reversed)
        try check(again)
        again.close()
    }

    @Test func columnsWithAnOrderAreNamedAfterTheOwner() throws {
        try open(reversed: false).close()
        let columns = try Shell(path: path).run("PRAGMA table_info(photo)").map { $0[1] }
        #expect(columns.filter { $0.hasPrefix("_order") }.sorted() == ["_order_album_photos", "_order_gallery_photos"])
    }

    /// The names that the first files have, in whichever order their entities were declared.
    @Test(arguments: [false, true], [false, true])
    func aFileKeepsTheNamesThatItWasCreatedWith(_ wasSwapped: Bool, _ reversed: Bool) throws {
        let store = try open(reversed: false)
        try fill(store)
        store.close()
        let names = ["_order_photos", "_order_photos_"]
        let (album, gallery) = wasSwapped ? (names[1], names[0]) : (names[0], names[1])
        let shell = Shell(path: path, knowsFunctions: true)
        for (old, new) in [("_order_album_photos", album), ("_order_gallery_photos", gallery)] {
            try shell.run("ALTER TABLE photo RENAME COLUMN \(old) TO \(new)")
            for entry in ["model", "indexes"] {
                try shell.run("UPDATE _metadata SET value = replace(value, '\(old)', '\(new)') WHERE key = '\(entry)'")
            }
        }
        let again = try open(reversed: reversed)
        try check(again)
        again.close()
        #expect(try shell.run("PRAGMA table_info(photo)").map { $0[1] }.contains("_order_photos_"))
    }
}
