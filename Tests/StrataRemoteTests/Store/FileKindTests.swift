import Foundation
import Strata
import StrataRemote
import Testing

/// A file is a store of its own or the mirror of a back end, and is not taken for the other.
@Suite struct FileKindTests {
    @Test("A mirror is not opened as a plain store for writing, where changes would never be sent")
    func mirrorAsPlainStore() async throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.url.appending(path: "atlas.sqlite").path
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, _) = try Atlas.openOffline(backend, location: .file(path: path))
        try await store.sync.pull()
        store.close()
        #expect {
            _ = try SQLiteStore.open(model: Atlas.model, location: .file(path: path))
        } throws: { error in
            "\(error)".contains("mirror of a remote store") && "\(error)".contains(path)
        }
        var options = SQLiteStore.Options()
        options.isReadOnly = true
        let reader = try SQLiteStore.open(model: Atlas.model, location: .file(path: path), options: options)
        let context = try PersistentContainer(store: reader).newContext()
        #expect(try await context.fetch(FetchRequest<ManagedObject>(entity: "City")).count == 1)
        reader.close()
        let (again, _) = try Atlas.openOffline(backend, location: .file(path: path))
        again.close()
    }

    @Test("A plain store with objects is not opened as a mirror, whose back end does not know them; an empty one is")
    func plainStoreAsMirror() async throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.url.appending(path: "atlas.sqlite").path
        let store = try SQLiteStore.open(model: Atlas.model, location: .file(path: path))
        let context = try PersistentContainer(store: store).newContext()
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = "1"
        try await context.save()
        store.close()
        #expect {
            _ = try Atlas.openOffline(ShelfBackend.conditional(), location: .file(path: path))
        } throws: { error in
            "\(error)".contains("a store of its own") && "\(error)".contains(path)
        }
        // Nothing was changed: it is still a plain store.
        let again = try SQLiteStore.open(model: Atlas.model, location: .file(path: path))
        let cleaner = try PersistentContainer(store: again).newContext()
        for city in try await cleaner.fetch(FetchRequest<ManagedObject>(entity: "City")) { cleaner.delete(city) }
        try await cleaner.save()
        again.close()
        let (mirror, _) = try Atlas.openOffline(ShelfBackend.conditional(), location: .file(path: path))
        mirror.close()
    }
}
