#if os(Linux)
    import Foundation
    import StrataSQLite
    import Testing

    /// Looking into a file does not touch the locks that SQLite holds on it in this process.
    @Suite struct FileLockTests {
        /// The locks of this process on an open file: how each is held, and on which bytes.
        ///
        /// The kernel lists them with every descriptor of the file. Its list of all locks of the machine would not do: it is
        /// given a page at a time, and leaves lines out or repeats them when other locks come and go between two pages.
        private func locks(on path: String) throws -> Set<String> {
            let files = FileManager.default
            var locks: Set<String> = []
            for descriptor in try files.contentsOfDirectory(atPath: "/proc/self/fd") {
                // Other tests open and close files meanwhile.
                guard (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == path,
                    let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
                else { continue }
                for line in text.split(separator: "\n") where line.hasPrefix("lock:") {
                    locks.insert(line.split(separator: " ").dropFirst().joined(separator: " "))
                }
            }
            return locks
        }

        @Test func inspectingAnOpenStoreKeepsItsLocks() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.sqlite")
            let model = try TestModel.make()
            let store = try SQLiteStore.open(model: model, location: .file(path: path))
            try store.insert(("Person", 1, ["name": "a"]))
            let before = try locks(on: path)
            #expect(!before.isEmpty)
            _ = try SQLiteStore.metadata(at: path)
            _ = try SQLiteStore.storeInfo(at: path)
            _ = try SQLiteStore.integrityReport(at: path)
            try SQLiteStore.open(model: model, location: .file(path: path)).close()
            #expect(try locks(on: path) == before)
            store.close()
        }
    }
#endif
