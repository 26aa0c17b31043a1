import Foundation
import Strata

/// A difference between the framework and the reference model.
struct Difference: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Reads objects of a context through the public API, as the reference model would have them.
enum WorldReading {
    static func cell(_ object: ManagedObject, _ attribute: String) throws -> Cell? {
        switch try object.value(forKey: attribute) {
        case nil: nil
        case let number as Int64: .value(.integer(number))
        case let number as Double: .value(.double(number))
        case let number as Decimal: .value(.decimal(number))
        case let text as String: .value(.string(text))
        case let data as Data: .value(.binary(data))
        case let other?: throw Difference("\(object.objectID).\(attribute) has the unexpected value \(other)")
        }
    }

    /// The target of a to-one relationship. A fault whose row turns out to be gone leads nowhere.
    static func ref(_ object: ManagedObject, _ name: String) throws -> Ident? {
        guard let target = try object.value(forKey: name) as? ManagedObject else { return nil }
        if target.isFault { _ = try target.value(forKey: "name") }
        return target.isMissing ? nil : Ident(target.objectID)
    }

    /// The members of a to-many relationship; sorted if it has no order.
    static func members(_ object: ManagedObject, _ relation: WorldSchema.Relation) throws -> [Ident] {
        let value = try object.value(forKey: relation.name)
        if let list = value as? [ManagedObject] { return try list.map { try alive($0, object, relation) } }
        guard let set = value as? Set<ManagedObject> else {
            throw Difference("\(object.objectID).\(relation.name) is no set")
        }
        return try set.map { try alive($0, object, relation) }.sorted()
    }

    private static func alive(
        _ member: ManagedObject, _ owner: ManagedObject, _ relation: WorldSchema.Relation
    ) throws -> Ident {
        if member.isDeleted { throw Difference("\(owner.objectID).\(relation.name) shows \(member), which is deleted") }
        return Ident(member.objectID)
    }

    static func row(_ object: ManagedObject) throws -> WorldRow {
        var row = WorldRow(entity: object.entity.name)
        for attribute in WorldSchema.attributes(row.entity) { row.cells[attribute] = try cell(object, attribute) }
        for relation in WorldSchema.relations(row.entity) where relation.cardinality == .one {
            row.cells[relation.name] = try ref(object, relation.name).map(Cell.ref)
        }
        return row
    }

    /// All that a context shows, and the versions.
    static func world(_ context: ManagedObjectContext) throws -> (world: World, versions: [Ident: Int64]) {
        var world = World()
        var versions: [Ident: Int64] = [:]
        var all: [ManagedObject] = []
        for kind in WorldSchema.kinds where kind.parent == nil {
            let objects = try context.fetch(FetchRequest<ManagedObject>(entity: kind.name))
            all += objects
            for object in objects {
                let id = Ident(object.objectID)
                world.rows[id] = try row(object)
                versions[id] = object.version
            }
        }
        for object in all {
            let id = Ident(object.objectID)
            for relation in WorldSchema.relations(object.entity.name) where relation.cardinality != .one {
                let members = try members(object, relation)
                if relation.cardinality == .ordered {
                    world.orders[OrderKey(relation: relation.id, owner: id)] = members
                }
                let inverse = WorldSchema.inverse(relation)
                if inverse.cardinality == .one {
                    for member in members where world.ref(member, inverse.name) != id {
                        throw Difference(
                            "\(id).\(relation.name) shows \(member), whose \(inverse.name) is \(String(describing: world.ref(member, inverse.name)))"
                        )
                    }
                    let expected = world.members(id, relation)
                    if expected.count != members.count {
                        throw Difference("\(id).\(relation.name) shows \(members), but \(expected.sorted()) lead to it")
                    }
                } else {
                    let canonical = WorldSchema.canonical(relation)
                    for member in members {
                        let pair = relation.id == canonical.id ? Pair(a: id, b: member) : Pair(a: member, b: id)
                        if relation.id == canonical.id {
                            world.pairs[canonical.id, default: []].insert(pair)
                        }
                    }
                }
            }
        }
        for object in all {
            let id = Ident(object.objectID)
            for relation in WorldSchema.relations(object.entity.name)
            where relation.cardinality != .one && WorldSchema.inverse(relation).cardinality != .one {
                let members = try WorldReading.members(object, relation)
                if Set(members) != world.members(id, relation) {
                    throw Difference(
                        "\(id).\(relation.name) shows \(members), but the other side says \(world.members(id, relation).sorted())"
                    )
                }
            }
        }
        if let complaint = world.oneToOneComplaint() { throw Difference(complaint) }
        return (world, versions)
    }

    /// Compares two worlds; one-to-one relationships and orders only on request.
    static func compare(_ actual: World, _ expected: World, exactly: Bool, unplaced: Set<Ident> = [], _ place: String)
        throws
    {
        for id in Set(actual.rows.keys).union(expected.rows.keys).sorted() {
            guard let a = actual.rows[id] else { throw Difference("\(place): \(id) is not there") }
            guard let e = expected.rows[id] else { throw Difference("\(place): \(id) should not be there") }
            guard a.entity == e.entity else { throw Difference("\(place): \(id) is a \(a.entity), not a \(e.entity)") }
            for name in WorldSchema.attributes(a.entity) where a.cells[name] != e.cells[name] {
                throw Difference("\(place): \(id).\(name) is \(text(a.cells[name])), should be \(text(e.cells[name]))")
            }
            for relation in WorldSchema.relations(a.entity) {
                let isOneToOne = relation.cardinality == .one && WorldSchema.inverse(relation).cardinality == .one
                if isOneToOne, !exactly { continue }
                switch relation.cardinality {
                case .one:
                    let x = actual.ref(id, relation.name)
                    let y = expected.ref(id, relation.name)
                    if x != y {
                        throw Difference("\(place): \(id).\(relation.name) is \(text(x)), should be \(text(y))")
                    }
                case .many:
                    let x = actual.members(id, relation)
                    let y = expected.members(id, relation)
                    if x != y {
                        throw Difference("\(place): \(id).\(relation.name) is \(x.sorted()), should be \(y.sorted())")
                    }
                case .ordered:
                    let x = actual.list(id, relation)
                    let y = expected.list(id, relation)
                    let isSame =
                        Set(x) == Set(y)
                        && (!exactly || x.filter { !unplaced.contains($0) } == y.filter { !unplaced.contains($0) })
                    if !isSame { throw Difference("\(place): \(id).\(relation.name) is \(x), should be \(y)") }
                }
            }
        }
    }

    static func text<T>(_ value: T?) -> String { value.map { "\($0)" } ?? "nil" }
}
