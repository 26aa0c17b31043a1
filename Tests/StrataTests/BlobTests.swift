import Foundation
import Strata
import Testing

/// Binary values above the threshold stand in files beside the store, and objects do not show it.
@Suite struct BlobTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "blobs-\(UUID().uuidString)")

    private func container() throws -> PersistentContainer {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let model = try ManagedObjectModel(name: "Photos") {
            Entity("Photo") {
                Attribute("title", .string)
                Attribute("image", .binary).optional().externalStorage()
            }
        }
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 1000
        return try PersistentContainer(
            model: model, at: .file(path: folder.appending(path: "photos.sqlite").path), options: options)
    }

    private func files() -> [String] {
        let store = folder.appending(path: "photos.sqlite-blobs").path
        return (try? FileManager.default.contentsOfDirectory(atPath: store)) ?? []
    }

    @Test func bytesComeBackAndTheFileGoesWithItsOwner() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try container()
        let image = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let context = container.newContext()
        let photo = try context.insert(entityNamed: "Photo")
        photo["title"] = "large"
        photo["image"] = image
        try context.save()
        #expect(files().count == 1)

        let other = container.newContext()
        let same = try other.existingObject(with: photo.objectID)
        #expect(same["image"] as? Data == image)
        let frozen = same.frozen()
        #expect(frozen["image"] == .binary(image))
        let child = other.makeChild()
        #expect(try child.existingObject(with: photo.objectID)["image"] as? Data == image)

        same["title"] = "renamed"
        try other.save()
        #expect(same["image"] as? Data == image && files().count == 1)
        same["image"] = Data([1, 2, 3])
        try other.save()
        #expect(same["image"] as? Data == Data([1, 2, 3]) && files().isEmpty)
        #expect(frozen["image"] == .null)

        same["image"] = image
        try other.save()
        #expect(files().count == 1)
        other.delete(same)
        try other.save()
        #expect(files().isEmpty)
    }

    @Test func aLostFileReadsAsNilAndIsReported() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try container()
        let context = container.newContext()
        let photo = try context.insert(entityNamed: "Photo")
        photo["title"] = "lost"
        photo["image"] = Data(count: 4000)
        try context.save()
        for file in files() {
            try FileManager.default.removeItem(at: folder.appending(path: "photos.sqlite-blobs/\(file)"))
        }
        let other = container.newContext()
        let same = try other.existingObject(with: photo.objectID)
        var reported = 0
        other.onFaultError = { _, _ in reported += 1 }
        #expect(same["image"] == nil && reported == 1)
        guard case .store = other.lastFaultError else {
            Issue.record("no store error but \(String(describing: other.lastFaultError))")
            return
        }
    }
}
