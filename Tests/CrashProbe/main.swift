// Inserts objects and saves them in one go, so that a test can kill the process in the middle of the save.
//
//     CrashProbe STORE COUNT
//
// Prints `saving` when all objects are in memory, and `saved` after the save.
//
//     CrashProbe STORE COUNT tasks
//
// Inserts each object in a task and a write of its own, all at the same time, and prints the largest number of threads that
// the process had.

import Foundation
import Strata

/// Prints a line at once: standard output is a pipe here, which `print` would buffer.
func say(_ word: String) { FileHandle.standardOutput.write(Data((word + "\n").utf8)) }

/// The largest number of threads while many tasks write.
func mostThreads(_ container: PersistentContainer, _ count: Int) async throws -> Int {
    @Sendable func threads() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
    return try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<count {
            group.addTask {
                try await container.write { context in
                    let object = try context.insert(entityNamed: "Item")
                    object["itemId"] = "item-\(number)"
                    object["title"] = "The item with the number \(number)"
                    object["amount"] = Int64(number)
                    object["weight"] = Double(number) / 7
                }
                return threads()
            }
        }
        return try await group.reduce(0, max)
    }
}

var item = Entity(name: "Item", location: nil)
item.attributes = [
    Attribute("itemId", .string), Attribute("title", .string), Attribute("amount", .integer64),
    Attribute("weight", .double),
]
item.attributes[0].isUnique = true
item.attributes[2].isIndexed = true

do {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 || arguments.last == "tasks", let count = Int(arguments[2]) else {
        FileHandle.standardError.write(Data("usage: CrashProbe STORE COUNT [tasks]\n".utf8))
        exit(64)
    }
    let model = try ManagedObjectModel(name: "Crash", entities: [item])
    let container = try PersistentContainer(model: model, at: .file(path: CommandLine.arguments[1]))
    if arguments.count == 4 {
        say("threads \(try await mostThreads(container, count))")
        exit(0)
    }
    let context = container.newContext()
    for number in 0..<count {
        let object = try context.insert(entityNamed: "Item")
        object["itemId"] = "item-\(number)-\(UUID().uuidString)"
        object["title"] = "The item with the number \(number)"
        object["amount"] = Int64(number)
        object["weight"] = Double(number) / 7
    }
    say("saving")
    try context.save()
    say("saved")
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
