import Foundation
import Strata
import StrataRemote

// What it costs to save new objects offline, with the note that the server is to hear about them, against the same save
// to a plain store: CPU time of the whole process from before the objects are made until they are saved, and of only
// the save. OUTBOX_COUNT objects, OUTBOX_ROUNDS times; the median counts. OUTBOX_KEPT objects are there before. With
// OUTBOX_RANDOM_IDS their primary keys are random, otherwise as `assignObjectID` makes them.

let environment = ProcessInfo.processInfo.environment
let count = environment["OUTBOX_COUNT"].flatMap(Int.init) ?? 10_000
let rounds = environment["OUTBOX_ROUNDS"].flatMap(Int.init) ?? 15
let hasRandomIDs = environment["OUTBOX_RANDOM_IDS"] != nil
let kept = environment["OUTBOX_KEPT"].flatMap(Int.init) ?? 0

/// CPU time of the process in milliseconds.
func cpuTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
}

/// Ten attributes, as the objects of the benchmarks have them.
func makeModel() throws -> ManagedObjectModel {
    var city = Entity(name: "City", location: nil)
    city.attributes = [Attribute("cityId", .string), Attribute("name", .string), Attribute("ascii", .string)]
    city.attributes += ["population", "elevation", "rank"].map { Attribute($0, .integer64) }
    city.attributes += ["latitude", "longitude"].map { Attribute($0, .double) }
    city.attributes += [Attribute("changed", .date), Attribute("isCapital", .boolean)]
    return try ManagedObjectModel(name: "Probe", entities: [city])
}

/// A back end that is never asked.
struct Nowhere: RemoteBackend {
    let name = "Nowhere"
    let capabilities = RemoteCapabilities()
    let clockOffset = 0.0
    func check(_ operation: RemoteOperation) throws(RemoteError) {}
    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        throw RemoteError(.unreachable, domain: "Probe", message: "offline")
    }
}

struct Times {
    var all: [Double] = []
    var save: [Double] = []
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Makes objects in a context and saves them.
@MainActor
func run(_ store: any PersistentStore, _ count: Int, into times: inout Times) throws {
    let container = try PersistentContainer(store: store)
    let context = container.viewContext
    let start = cpuTime()
    for number in 0..<count {
        let city = try context.insert(entityNamed: "City")
        if hasRandomIDs { try city.setValue(UUID().uuidString, forKey: "cityId") } else { try city.assignObjectID() }
        try city.setValue("name of \(number)", forKey: "name")
        try city.setValue("ascii of \(number)", forKey: "ascii")
        for name in ["population", "elevation", "rank"] { try city.setValue(number, forKey: name) }
        try city.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "changed")
        try city.setValue(number % 2 == 0, forKey: "isCapital")
        try city.setValue(Double(number) * 0.37, forKey: "latitude")
        try city.setValue(Double(number) * 0.73, forKey: "longitude")
    }
    let middle = cpuTime()
    try context.save()
    let end = cpuTime()
    times.all.append(end - start)
    times.save.append(end - middle)
}

let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-probe-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
var plain = Times()
var noted = Times()
for round in 0..<rounds {
    let model = try makeModel()
    let file = SQLiteStore.Location.file(path: folder.appending(path: "plain-\(round)").path)
    let mirrorFile = SQLiteStore.Location.file(path: folder.appending(path: "mirror-\(round)").path)
    let store = try SQLiteStore.open(model: model, location: file)
    var options = RemoteStore.Options()
    options.savePolicy = .cacheOnly
    let remote = try RemoteStore.open(model: model, backend: Nowhere(), location: mirrorFile, options: options)
    var unmeasured = Times()
    if kept > 0 {
        try run(store, kept, into: &unmeasured)
        try run(remote, kept, into: &unmeasured)
    }
    try run(store, count, into: &plain)
    try run(remote, count, into: &noted)
    store.close()
    remote.close()
}

func line(_ title: String, _ plain: [Double], _ noted: [Double]) {
    let (a, b) = (median(plain), median(noted))
    let numbers = [a, b, b / a].map { $0.formatted(.number.precision(.fractionLength(2))) }
    print("\(title): plain \(numbers[0]) ms, offline \(numbers[1]) ms, ratio \(numbers[2])")
}

print("\(count) new objects, \(kept) before, \(rounds) rounds, CPU time:")
line("making and saving", plain.all, noted.all)
line("saving alone", plain.save, noted.save)
