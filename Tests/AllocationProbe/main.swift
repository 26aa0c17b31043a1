// Reads properties of loaded objects and prints how many blocks of memory each kind of read took from the heap.
//
//     AllocationProbe
//
// Prints one line for each kind: its name and the number; `uncounted` where allocations cannot be counted.

import CCounters
import Foundation
import Strata

final class Sample: ManagedObject {
    override class var entityName: String { "Sample" }
    var number: Int64 { _value(0) }
    var ratio: Double { _value(1) }
    var moment: Date { _value(2) }
    var flag: Bool { _value(3) }
    var short: String { _value(4) }
    var long: String { _value(5) }
    var nothing: Int64? { _optionalValue(6) }
    var other: Sample? { _optionalToOne(7) }
}

var sample = Entity(name: "Sample", location: nil)
sample.attributes = [
    Attribute("number", .integer64), Attribute("ratio", .double), Attribute("moment", .date),
    Attribute("flag", .boolean),
    Attribute("short", .string), Attribute("long", .string), Attribute("nothing", .integer64, optional: true),
]
sample.relationships = [Relationship("other", to: "Sample")]

let container = try PersistentContainer(
    model: ManagedObjectModel(name: "Samples", entities: [sample]), classes: [Sample.self], at: .memory(name: nil))
let writer = container.newContext()
var previous: ManagedObject?
for index in 0..<1000 {
    let object = Sample(inserting: writer)
    object["number"] = Int64(index)
    object["ratio"] = Double(index) / 3
    object["moment"] = Date(timeIntervalSinceReferenceDate: Double(index))
    object["flag"] = index % 2 == 0
    object["short"] = "n\(index)"
    object["long"] = "a text that does not fit into a string's own bytes: \(index)"
    object["other"] = previous
    previous = object
}
try writer.save()

let context = container.newContext()
let samples = try context.fetch(FetchRequest<Sample>())

/// Counts what 1,000 reads take after a first one, which may load code and faults. A plain loop: an unoptimized `for`
/// allocates by itself.
@MainActor func measure(_ name: String, _ read: (Sample) -> Int) {
    let object = samples[500]
    var sum = read(object)
    let before = allocation_count()
    var times = 0
    while times < 1000 {
        sum &+= read(object)
        times &+= 1
    }
    let after = allocation_count()
    print(name, before < 0 ? "uncounted" : "\(after - before)", sum == 1 ? "" : "")
}

measure("integer") { Int($0.number) }
measure("double") { Int($0.ratio) }
measure("date") { Int($0.moment.timeIntervalSinceReferenceDate) }
measure("boolean") { $0.flag ? 1 : 0 }
measure("nil") { Int($0.nothing ?? 1) }
measure("short") { $0.short.utf8.count }
measure("long") { $0.long.utf8.count }
measure("toOne") { Int($0.other?.number ?? 0) }
