import Foundation
import Strata
import Testing

/// Binary values above the threshold are in files next to the store, and objects do not show it.
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
        return ((try? FileManager.default.contentsOfDirectory(atPath: store)) ?? []).filter { $0.hasSuffix(".blob") }
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
        #expect(same["image"] as? Data == Data([1, 2, 3]))
        // An object with the old row still reads the old value, as it does of values that are in the row itself.
        #expect(frozen["image"] == .binary(image) && photo["image"] as? Data == image)

        same["image"] = image
        try other.save()
        #expect(files().count == 2)
        other.delete(same)
        try other.save()
        container.close()
        #expect(files().isEmpty)
    }

    /// Two contexts that both change a photo: the one that saves last has read the other's value, or not.
    @Test(arguments: [MergePolicy.overwrite, .objectWinsByProperty, .storeWinsByProperty, .rollback])
    func aValueOutlivesEveryMergePolicyAndEveryRecreation(_ policy: MergePolicy) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try container()
        let first = Data(repeating: 1, count: 5000)
        let second = Data(repeating: 2, count: 5000)
        for isDeleted in [false, true] {
            let setup = container.newContext()
            let original = try setup.insert(entityNamed: "Photo")
            original["title"] = "old"
            original["image"] = first
            let id = original.objectID
            try setup.save()

            let mine = container.newContext()
            mine.mergePolicy = policy
            let photo = try mine.existingObject(with: id)
            _ = photo["title"]
            let theirs = container.newContext()
            let same = try theirs.existingObject(with: id)
            if isDeleted { theirs.delete(same) } else { same["image"] = second }
            try theirs.save()

            photo["title"] = "new"
            try mine.save()
            let reader = container.newContext()
            guard let found = try? reader.existingObject(with: id) else {
                #expect(isDeleted && (policy == .storeWinsByProperty || policy == .rollback))
                continue
            }
            // Under `.overwrite` the whole object wins, and an object that is created again is as it was here.
            let isMine = policy == .overwrite || isDeleted
            #expect(found["image"] as? Data == (isMine ? first : second))
            #expect(found["title"] as? String == (policy == .rollback ? "old" : "new"))
        }
        container.close()
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
