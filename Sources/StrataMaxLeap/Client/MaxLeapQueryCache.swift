import Foundation
import StrataStore

/// The cache of a client's answers to queries, in memory or in files.
///
///     var configuration = MaxLeapConfiguration(try MaxLeapDialect(applicationID: id, apiKey: key))
///     configuration.cache = MaxLeapQueryCache(folder: URL(filePath: "/var/lib/posts/cache"))
///     let client = MaxLeapClient(configuration)
///     client.clearAllCachedResults()
///
/// An answer is found by path, parameters and session, so that no user sees those of another one. It is used by requests with a
/// ``MaxLeapCachePolicy`` other than ``MaxLeapCachePolicy/ignoreCache``. Nothing is removed by itself: limit the age when you
/// read, and clear results that you no longer need. It may be used from any task.
public final class MaxLeapQueryCache: Sendable {
    private let folder: URL?
    private let entries = Guarded<[String: Entry]>([:])

    private struct Entry {
        var time: Date
        var body: Data
    }

    /// Makes a cache.
    /// - Parameter folder: Where answers are kept between launches, a file each, which only its owner can read; nil to keep
    ///   them in memory.
    public init(folder: URL? = nil) { self.folder = folder }

    /// What is kept under a name; nil if nothing is, if it is older than this many seconds, or if it cannot be read.
    package func body(named name: String, now: Date, maximumAge: Double?) -> Data? {
        guard let entry = entries.withLock({ $0[name] }) ?? stored(name) else { return nil }
        if let maximumAge, now.timeIntervalSince(entry.time) > maximumAge { return nil }
        return entry.body
    }

    /// Keeps an answer. A file that cannot be written is as good as none: the answer is kept in memory.
    package func keep(_ body: Data, named name: String, now: Date) {
        guard let folder else { return entries.withLock { $0[name] = Entry(time: now, body: body) } }
        let json: JSONValue = [
            "name": .string(name), "time": .double(now.timeIntervalSince1970),
            "body": .string(body.base64EncodedString()),
        ]
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let file = file(name, in: folder)
            try json.data().write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            entries.withLock { $0[name] = Entry(time: now, body: body) }
        }
    }

    /// Forgets what is kept under a name.
    func forget(named name: String) {
        entries.withLock { $0[name] = nil }
        if let folder { try? FileManager.default.removeItem(at: file(name, in: folder)) }
    }

    /// Forgets everything.
    func forgetAll() {
        entries.withLock { $0 = [:] }
        guard let folder,
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        else { return }
        for file in files where file.pathExtension == Self.fileType { try? FileManager.default.removeItem(at: file) }
    }

    private static let fileType = "strata-query"

    private func stored(_ name: String) -> Entry? {
        guard let folder, let data = try? Data(contentsOf: file(name, in: folder)),
            let json = try? JSONValue(parsing: data),
            // Two names may share a file; the later one has it.
            json["name"]?.string == name, let time = json["time"]?.double,
            let body = json["body"]?.string.flatMap({ Data(base64Encoded: $0) })
        else { return nil }
        return Entry(time: Date(timeIntervalSince1970: time), body: body)
    }

    /// The file with the given name, by its FNV-1a hash.
    private func file(_ name: String, in folder: URL) -> URL {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return folder.appending(component: "\(String(hash, radix: 16)).\(Self.fileType)")
    }
}
