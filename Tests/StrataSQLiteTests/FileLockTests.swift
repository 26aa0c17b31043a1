#if os(Linux)
    import Foundation
    import StrataSQLite
    import Testing

    /// What is looked at in a file leaves the locks alone that SQLite holds on it in this process.
    @Suite struct FileLockTests {
        /// The locks of this process on a file, as the kernel lists them.
        private func locks(on path: String) throws -> [Substring] {
            let inode = try #require(FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber)
            let lines = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
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
            let before = try locks(on: path).count
            #expect(before > 0)
            _ = try SQLiteStore.metadata(at: path)
            _ = try SQLiteStore.storeInfo(at: path)
            _ = try SQLiteStore.integrityReport(at: path)
            try SQLiteStore.open(model: model, location: .file(path: path)).close()
            #expect(try locks(on: path).count == before)
            store.close()
        }
    }
#endif
