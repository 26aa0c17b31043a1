import Foundation

/// What the process was about to save and what it has saved, one line each, in a file that outlives it: a line is
/// written by one call of the system before the next step begins.
final class Journal {
    private let file: FileHandle

    init(_ url: URL) throws {
        if !FileManager.default.fileExists(atPath: url.path) {
            try Data().write(to: url)
        }
        file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
    }

    /// The states of objects by name; nil for a deleted one.
    typealias States = [String: String?]

    private func write(_ word: String, _ states: States) throws {
        let lines = states.sorted { $0.key < $1.key }.map { "\(word) \($0.key) \($0.value ?? "-")\n" }
        try file.write(contentsOf: Data(lines.joined().utf8))
    }

    /// Around a save: it is about to be done, and is done or was refused.
    func around(_ states: States, _ save: () throws -> Void) throws {
        try write("try", states)
        do {
            try save()
        } catch {
            try write("not", states)
            throw error
        }
        try write("did", states)
    }
}
