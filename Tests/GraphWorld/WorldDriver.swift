import Foundation
import SeededRandom
import Strata
import StrataTesting

/// Runs random commands against contexts on a file and against the reference model, and compares the two.
package final class WorldDriver {
    var random: SplitMix64
    let seed: UInt64
    let path: String
    private let openStore: (ManagedObjectModel) throws -> any PersistentStore
    var container: PersistentContainer
    var faults: FaultInjectingStore
    /// Whether the store fails while the next command changes objects.
    var failsNextChange = false
    /// Objects whose contexts are gone.
    var outliving: [ManagedObject] = []
    let store = WorldStore()
    var roots: [WorldContext] = []
    /// The last commands, for the report of a difference.
    private(set) var log: [String] = []
    var step = 0
    var counter = 0
    /// How often each command ran.
    package private(set) var tally: [String: Int] = [:]

    /// - Parameters:
    ///   - place: Names the store in errors.
    ///   - openStore: Opens the store, an empty one at first.
    package init(
        seed: UInt64, place: String, openStore: @escaping (ManagedObjectModel) throws -> any PersistentStore
    ) throws {
        self.seed = seed
        path = place
        self.openStore = openStore
        random = SplitMix64(seed: seed)
        (container, faults) = try Self.open(openStore)
        makeRoots()
    }

    /// Covers above this size are to be kept apart from their rows.
    package static let largestInlineCover = WorldSchema.largestInlineCover

    private static func open(
        _ openStore: (ManagedObjectModel) throws -> any PersistentStore
    ) throws -> (PersistentContainer, FaultInjectingStore) {
        let faults = FaultInjectingStore(try openStore(WorldSchema.model))
        return (try PersistentContainer(store: faults), faults)
    }

    private func makeRoots() {
        roots = ["A", "B", "C"].map { name in
            let context = container.newContext(automaticallyMergesChanges: name == "A")
            return WorldContext(name: name, context: context, parent: nil, store: store)
        }
    }

    var all: [WorldContext] { roots.flatMap { [$0] + $0.descendants } }

    func root(of context: WorldContext) -> WorldContext { context.parent.map(root) ?? context }

    /// Runs steps; compares everything each so many.
    package func run(steps: Int, fullCheckEvery interval: Int) throws {
        for _ in 0..<steps {
            step += 1
            do {
                try runStep()
                if step % interval == 0 {
                    for context in all where root(of: context).isSynced { try check(context) }
                }
                if step % 200 == 0 { try reopen() }
            } catch {
                if let path = ProcessInfo.processInfo.environment["STRATA_RANDOM_LOG"] {
                    try log.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
                }
                throw Difference(
                    "seed \(seed), step \(step): \(error)\nearlier commands on the same objects:\n"
                        + related(to: "\(error)").joined(separator: "\n") + "\nlast commands:\n"
                        + log.suffix(25).joined(separator: "\n"))
            }
        }
    }

    func note(_ context: WorldContext, _ text: String) {
        log.append("\(step) \(context.name): \(text)")
        if log.count > 2_000 { log.removeFirst(1_000) }
        tally[String(text.prefix { $0 != " " }), default: 0] += 1
    }

    /// Earlier commands that name an object of a complaint, and the saves between them.
    private func related(to complaint: String) -> [String] {
        let ids = Set(complaint.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "/" }).map(String.init))
            .filter { $0.contains("/") }
        return log.dropLast(25).filter { line in
            let words = line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "/" }).map(String.init)
            return words.contains(where: ids.contains) || line.contains(": save") || line.contains("reset")
                || line.contains(": rollback")
                || line.contains("sync")
        }.suffix(60)
    }

    private func runStep() throws {
        let context = all[random.below(all.count)]
        for root in roots { root.settleNullifications() }
        guard root(of: context).isSynced else { return try runStale(root(of: context)) }
        switch random.below(108) {
        case 100..<102: try upsert(context)
        case 102..<104: try outlive()
        case 104..<105: try saveFailing(context)
        case 105..<106: try fetchFailing(context)
        case 106..<108: failsNextChange = true
        case 0..<12: try insert(context)
        case 12..<27: try setAttribute(context)
        case 27..<39: try setRef(context)
        case 39..<58: try changeMembers(context)
        case 58..<65: try delete(context)
        case 65..<77: try save(context)
        case 77..<80: try saveInvalid(context)
        case 80..<82: try rollback(context)
        case 82..<84: try refresh(context)
        case 84..<86: try refreshAll(context)
        case 86..<87: try reset(context)
        case 87..<93: try fetch(context)
        case 93..<95: try changeChildren(context)
        case 95..<97: dropHeld(context)
        default: try peek(context)
        }
    }

    // MARK: Objects

    /// An object of a context: the one held, one known, a fault or one read now.
    func object(_ id: Ident, _ context: WorldContext) throws -> ManagedObject {
        if let held = context.held[id] { return held }
        guard let objectID = store.objectIDs[id] else { throw Difference("no ID for \(id)") }
        let object: ManagedObject
        if random.oneIn(2) {
            object = try context.context.existingObject(with: objectID)
        } else {
            object = try context.context.object(with: objectID)
        }
        if random.oneIn(3) { context.held[id] = object }
        return object
    }

    func anyObject(_ context: WorldContext, _ entity: String? = nil) -> Ident? {
        let world = context.view
        let ids = entity.map(world.all) ?? world.rows.keys.sorted()
        return random.pick(ids)
    }

    func toManyIndex(_ object: ManagedObject, _ name: String) -> Int {
        object.entity.relationship(named: name)?.toManyIndex ?? 0
    }

    /// After a change of a context: its descendants look again.
    func refreshDescendants(_ context: WorldContext) throws {
        for child in context.children {
            try child.context.refreshAllObjects()
            child.rebase()
            try refreshDescendants(child)
        }
    }

    // MARK: Commands

    func insert(_ context: WorldContext) throws {
        guard context.view.rows.count < 60, let kind = random.pick(WorldSchema.kinds) else {
            return try delete(context)
        }
        let object = try context.context.insert(entityNamed: kind.name)
        let id = Ident(object.objectID)
        counter += 1
        let name = "n\(counter % 1000)"
        note(context, "insert \(kind.name) \(id)")
        if store.objectIDs[id] != nil { throw Difference("the key of \(id) was given before") }
        store.objectIDs[id] = object.objectID
        var row = WorldRow(entity: kind.name, cells: ["name": .value(.string(name))])
        if WorldSchema.attributes(kind.name).contains("score") { row.cells["score"] = .value(.integer(0)) }
        context.inserted[id] = row
        try object.setValue(name, forKey: "name")
        if random.oneIn(2) { context.held[id] = object }
        try refreshDescendants(context)
    }

    func setAttribute(_ context: WorldContext) throws {
        guard let id = anyObject(context), let row = context.view.rows[id],
            let name = random.pick(WorldSchema.attributes(row.entity))
        else { return }
        let object = try object(id, context)
        let cell: Cell?
        switch name {
        case "name": cell = .value(.string("v\(random.below(4))"))
        case "score": cell = .value(.integer(Int64(random.below(4))))
        case "ratio": cell = random.oneIn(3) ? nil : .value(.double(Double(random.below(4)) / 2))
        case "price": cell = random.oneIn(3) ? nil : .value(.decimal(Decimal(random.below(4)) / 10))
        case "code": cell = random.oneIn(2) ? nil : .value(.string("c\(random.below(40))"))
        case "cover":
            let bytes = Data(repeating: UInt8(random.below(4)), count: random.below(2 * WorldSchema.largestInlineCover))
            cell = random.oneIn(4) ? nil : .value(.binary(bytes))
        default: cell = random.oneIn(3) ? nil : .value(.string(String(repeating: "é", count: random.below(30))))
        }
        note(context, "set \(id).\(name) = \(WorldReading.text(cell))")
        try changing(context) { try write(cell, name, to: object) }
        context.write(id, name, cell)
        try refreshDescendants(context)
    }

    private func write(_ cell: Cell?, _ name: String, to object: ManagedObject) throws {
        guard case .value(let value)? = cell else { return try object.setValue(nil, forKey: name) }
        switch value {
        case .integer(let number): try object.setValue(number, forKey: name)
        case .double(let number): try object.setValue(number, forKey: name)
        case .decimal(let number): try object.setValue(number, forKey: name)
        case .string(let text): try object.setValue(text, forKey: name)
        case .binary(let data): try object.setValue(data, forKey: name)
        default: throw Difference("no such value: \(value)")
        }
    }

    func setRef(_ context: WorldContext) throws {
        guard let id = anyObject(context), let row = context.view.rows[id],
            let relation = random.pick(WorldSchema.relations(row.entity).filter { $0.cardinality == .one })
        else { return }
        let target = random.oneIn(4) ? nil : anyObject(context, relation.destination)
        let object = try object(id, context)
        note(context, "link \(id).\(relation.name) = \(WorldReading.text(target))")
        let partner = try target.map { try self.object($0, context) }
        try changing(context) { try object.setValue(partner, forKey: relation.name) }
        context.setRef(id, relation, target)
        try refreshDescendants(context)
    }

    func changeMembers(_ context: WorldContext) throws {
        guard let id = anyObject(context), let row = context.view.rows[id],
            let relation = random.pick(WorldSchema.relations(row.entity).filter { $0.cardinality != .one })
        else { return }
        let world = context.view
        let list = world.list(id, relation)
        let owner = try object(id, context)
        let index = toManyIndex(owner, relation.name)
        switch random.below(relation.cardinality == .ordered ? 6 : 4) {
        case 0, 1:
            guard let member = anyObject(context, relation.destination), !list.contains(member) else { return }
            note(context, "add \(member) to \(id).\(relation.name)")
            let added = try object(member, context)
            try changing(context) { owner._add([added], index) }
            context.addMember(id, relation, member)
        case 2:
            guard let member = random.pick(list) else { return }
            note(context, "remove \(member) from \(id).\(relation.name)")
            let removed = try object(member, context)
            try changing(context) { owner._remove([removed], index) }
            context.removeMember(id, relation, member)
        case 3:
            var wanted = list.filter { _ in !random.oneIn(3) }
            for _ in 0..<random.below(3) {
                if let other = anyObject(context, relation.destination), !wanted.contains(other) {
                    wanted.append(other)
                }
            }
            if relation.cardinality == .ordered { wanted.shuffle(using: &random) }
            note(context, "replace \(id).\(relation.name) by \(wanted)")
            let objects = try wanted.map { try object($0, context) }
            try changing(context) {
                if relation.cardinality == .ordered {
                    try owner.setValue(objects, forKey: relation.name)
                } else {
                    try owner.setValue(Set(objects), forKey: relation.name)
                }
            }
            context.setMembers(id, relation, wanted)
        case 4:
            guard let member = anyObject(context, relation.destination) else { return }
            let place = random.below(list.count + 1)
            note(context, "place \(member) at \(place) of \(id).\(relation.name)")
            let placed = try object(member, context)
            try changing(context) { owner._insert(placed, at: place, index) }
            var wanted = list.filter { $0 != member }
            wanted.insert(member, at: min(place, wanted.count))
            context.setMembers(id, relation, wanted)
        default:
            guard !list.isEmpty else { return }
            let from = random.below(list.count)
            let to = random.below(list.count)
            note(context, "move \(from) to \(to) in \(id).\(relation.name)")
            // A list that cannot be read has no such place.
            _ = try WorldReading.members(owner, relation)
            try changing(context) { owner._move(from: from, to: to, index) }
            var wanted = list
            wanted.insert(wanted.remove(at: from), at: to)
            context.setMembers(id, relation, wanted)
        }
        try refreshDescendants(context)
    }

    func delete(_ context: WorldContext) throws {
        guard let id = anyObject(context) else { return }
        let doomed = context.doomed(by: id)
        // What a child has pending for an object that its parent deletes is a matter of tests of its own.
        guard !context.descendants.contains(where: { child in doomed.contains(where: child.touches) }) else { return }
        note(context, "delete \(id), which takes \(doomed)")
        let object = try object(id, context)
        try changing(context) { context.context.delete(object) }
        context.delete(id)
        if context.parent == nil {
            context.deferNullifications(otherThan: Set(context.context.updatedObjects.map { Ident($0.objectID) }))
        }
        for id in doomed { context.held[id] = nil }
        try refreshDescendants(context)
    }

    func rollback(_ context: WorldContext) throws {
        note(context, "rollback")
        context.context.rollback()
        forget(context)
        if context.context.hasChanges { throw Difference("changes are left after a rollback") }
        try refreshDescendants(context)
        try check(context)
    }

    /// Drops what is pending in the model; objects that were new are gone.
    func forget(_ context: WorldContext) {
        for id in context.inserted.keys { context.held[id] = nil }
        context.forget()
    }

    func reset(_ context: WorldContext) throws {
        note(context, "reset")
        context.held = [:]
        context.context.reset()
        context.forget()
        try refreshDescendants(context)
    }

    func refreshAll(_ context: WorldContext) throws {
        note(context, "refreshAll")
        try context.context.refreshAllObjects()
        context.rebase()
        try refreshDescendants(context)
    }

    func refresh(_ context: WorldContext) throws {
        guard let id = anyObject(context), context.inserted[id] == nil else { return }
        note(context, "refresh \(id)")
        try context.context.refresh(try object(id, context), mergingChanges: true)
        if let update = context.updates[id], let row = context.below.rows[id] {
            context.updates[id] = PendingUpdate(snapshot: row, version: context.version(id), values: update.changes)
        }
        try refreshDescendants(context)
    }

    func changeChildren(_ context: WorldContext) throws {
        if context.children.count < 2, root(of: context) === context || context.parent?.parent == nil, random.oneIn(2) {
            counter += 1
            let child = WorldContext(
                name: context.name + "\(context.children.count)", context: context.context.makeChild(), parent: context,
                store: store)
            note(context, "makeChild \(child.name)")
            context.children.append(child)
        } else if !context.children.isEmpty {
            note(context, "dropChild")
            context.children.removeLast()
        }
    }

    func dropHeld(_ context: WorldContext) {
        note(context, "drop")
        context.held = random.oneIn(2) ? [:] : context.held.filter { _ in random.oneIn(2) }
    }

    /// Opens the file again; what was not saved is gone.
    func reopen() throws {
        roots = []
        outliving = []
        container.close()
        (container, faults) = try Self.open(openStore)
        makeRoots()
        log.append("\(step) reopen")
        try readBack(exactly: true, versions: true)
    }
}
