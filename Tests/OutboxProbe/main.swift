import Foundation
import StrataRemote

// What it costs to save new objects with the note that the server is to hear of them, against a plain save: CPU time of
// the store alone, without contexts, whose part is the same in both. OUTBOX_COUNT objects, OUTBOX_ROUNDS times.

let environment = ProcessInfo.processInfo.environment
let count = environment["OUTBOX_COUNT"].flatMap(Int.init) ?? 10_000
let rounds = environment["OUTBOX_ROUNDS"].flatMap(Int.init) ?? 15

func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
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

func makeChanges(_ store: SQLiteStore) throws -> ChangeSet {
    let city = store.model.entities[0]
    var builder = RowBatchBuilder(expectedRows: count)
    for (number, key) in try store.allocateKeys(count, rootIndex: 0).enumerated() {
        builder.beginRow(entity: city, key: key, version: 1)
        for slot in city.slots {
            switch slot.storage {
            case .text:
                builder.setText(
                    slot.name == "cityId" ? UUID().uuidString : "\(slot.name) of \(number)", slot: slot.index)
            case .double, .date: builder.setDouble(Double(number) * 0.37, slot: slot.index)
            default: builder.setInteger(Int64(number % 2), slot: slot.index)
            }
        }
        builder.endRow()
    }
    var changes = ChangeSet()
    changes.inserts = builder.finish().rows.map { ChangeSet.Insert(row: $0) }
    return changes
}

let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-probe-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
var plain: [Double] = []
var noted: [Double] = []
for round in 0..<rounds {
    let store = try SQLiteStore.open(
        model: try makeModel(), location: .file(path: folder.appending(path: "plain-\(round)").path))
    let changes = try makeChanges(store)
    var start = cpuSeconds()
    _ = try store.commit(changes)
    plain.append(cpuSeconds() - start)
    store.close()
    let mirror = try Mirror.open(
        model: try makeModel(), location: .file(path: folder.appending(path: "mirror-\(round)").path))
    let noticed = try makeChanges(mirror.store)
    start = cpuSeconds()
    _ = try mirror.commit(noticed, enqueues: true)
    noted.append(cpuSeconds() - start)
    mirror.store.close()
}
let (a, b) = (plain.sorted()[rounds / 2], noted.sorted()[rounds / 2])
print("\(count) new objects: plain \(a * 1000) ms, with the outbox \(b * 1000) ms, ratio \(b / a)")
