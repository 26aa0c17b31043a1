#if os(Linux)
    import Foundation
    import StrataSQLite
    import Testing

    /// Looking into a file does not touch the locks that SQLite holds on it in this process.
    @Suite struct FileLockTests {
        /// The number of locks of this process on a file, as the kernel lists them.
        ///
        /// The kernel gives its list in parts, a page for each call, and leaves lines out when other locks come and go between
        /// two parts. So all parts are read, and the longest of several readings counts.
        private func lockCount(on path: String) throws -> Int {
            try (0..<20).map { _ in try locks(on: path).count }.max() ?? 0
        }

        private func locks(on path: String) throws -> [Substring] {
            let inode = try #require(FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber)
            let file = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
            defer { try? file.close() }
            var data = Data()
            while let part = try file.read(upToCount: 4096), !part.isEmpty { data += part }
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            return lines.filter { line in
                let words = line.split(separator: " ")
                return words.contains { $0.hasSuffix(":\(inode)") } && words.contains("POSIX")
            }
        }

        @Test func inspectingAnOpenStoreKeepsItsLocks() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.sqlite")
            let model = try TestModel.make()
            let store = try SQLiteStore.open(model: model, location: .file(path: path))
            try store.insert(("Person", 1, ["name": "a"]))
            let before = try lockCount(on: path)
            #expect(before > 0)
            _ = try SQLiteStore.metadata(at: path)
            _ = try SQLiteStore.storeInfo(at: path)
            _ = try SQLiteStore.integrityReport(at: path)
            try SQLiteStore.open(model: model, location: .file(path: path)).close()
            #expect(try lockCount(on: path) == before)
            store.close()
        }
    }
#endif
