// Inserts objects and saves them in one go, so that a test can kill the process in the middle of the save.
//
//     CrashProbe STORE COUNT
//
// Prints `saving` when all objects stand in memory, and `saved` after the save.

import Foundation
import Strata

/// Prints a line at once: standard output is a pipe here, which `print` would buffer.
func say(_ word: String) { FileHandle.standardOutput.write(Data((word + "\n").utf8)) }

var item = Entity(name: "Item", location: nil)
item.attributes = [
    Attribute("itemId", .string), Attribute("title", .string), Attribute("amount", .integer64),
    Attribute("weight", .double),
]
item.attributes[0].isUnique = true
item.attributes[2].isIndexed = true

do {
    guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
        FileHandle.standardError.write(Data("usage: CrashProbe STORE COUNT\n".utf8))
        exit(64)
    }
    let model = try ManagedObjectModel(name: "Crash", entities: [item])
    let container = try PersistentContainer(model: model, at: .file(path: CommandLine.arguments[1]))
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
