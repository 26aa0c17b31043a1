import Foundation
import StrataRemote
import Testing

@Suite struct SessionStorageTests {
    private let folder = URL.temporaryDirectory.appending(component: "sessions-\(UUID().uuidString)")

    private func mode(_ url: URL) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int) & 0o777
    }

    @Test func ownersAloneReadFileAndFolder() throws {
        let old = umask(0)
        defer {
            umask(old)
            try? FileManager.default.removeItem(at: folder)
        }
        let storage = FileSessionStorage(folder: folder)
        try storage.keep(Data("one".utf8), named: "a")
        #expect(try mode(storage.file(named: "a")) == 0o600)
        #expect(try mode(folder) == 0o700)
        try storage.keep(Data("two".utf8), named: "a")
        #expect(try mode(storage.file(named: "a")) == 0o600)
        #expect(try storage.session(named: "a") == Data("two".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test func forgettingAndAbsenceAreNoErrors() throws {
        let storage = FileSessionStorage(folder: folder)
        #expect(try storage.session(named: "a") == nil)
        try storage.forget(named: "a")
        try storage.keep(Data("x".utf8), named: "a")
        defer { try? FileManager.default.removeItem(at: folder) }
        try storage.forget(named: "a")
        #expect(try storage.session(named: "a") == nil)
    }

    @Test func namesDoNotLeadOutOfTheFolderAndDoNotMeet() throws {
        let storage = FileSessionStorage(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names = ["../../x", "/etc/x", "a/b", "a%2Fb", "..", "", "日本.key.oauth"]
        for name in names { try storage.keep(Data(name.utf8), named: name) }
        for name in names {
            #expect(try storage.session(named: name) == Data(name.utf8))
            #expect(storage.file(named: name).deletingLastPathComponent().path == folder.path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names.count)
    }

    @Test func whatOthersMayReadIsRefused() throws {
        let storage = FileSessionStorage(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        try storage.keep(Data("x".utf8), named: "a")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: storage.file(named: "a").path)
        #expect { try storage.session(named: "a") } throws: { "\($0)".contains("0600") }
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try Data().write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = FileSessionStorage(folder: folder.appending(component: "below"))
        #expect { try storage.keep(Data("x".utf8), named: "a") } throws: { error in
            (error as? SessionStorageError)?.place.hasPrefix(folder.path) == true
        }
        #expect(try storage.session(named: "a") == nil)
    }

    @Test func aProcessKilledWhileWritingLeavesTheOldSession() throws {
        let storage = FileSessionStorage(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        try storage.keep(Data("old".utf8), named: "a")
        // What a killed writer leaves behind: a draft next to the file.
        let draft = storage.file(named: "a").path + ".draft"
        try Data("ne".utf8).write(to: URL(filePath: draft))
        #expect(try storage.session(named: "a") == Data("old".utf8))
    }
}
