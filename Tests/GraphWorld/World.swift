import Strata

/// The identity of an object in the reference model.
struct Ident: Hashable, Comparable, CustomStringConvertible {
    let root: String
    let key: Int64

    init(_ id: ObjectID) {
        root = WorldSchema.root(id.entity.name)
        key = id.key
    }

    static func < (a: Ident, b: Ident) -> Bool { (a.root, a.key) < (b.root, b.key) }
    var description: String { "\(root)/\(key)" }
}

/// What is in one property of an object. Nil is the absence of a cell.
enum Cell: Hashable, CustomStringConvertible {
    case value(Value)
    case ref(Ident)

    /// The object that a reference leads to; nil for a value.
    var target: Ident? { if case .ref(let id) = self { id } else { nil } }

    var description: String {
        switch self {
        case .value(let value): "\(value)"
        case .ref(let id): "\(id)"
        }
    }
}

struct WorldRow: Hashable {
    let entity: String
    var cells: [String: Cell] = [:]
}

struct Pair: Hashable {
    let a: Ident
    let b: Ident
}

struct OrderKey: Hashable {
    let relation: String
    let owner: Ident
}

/// All objects as one beholder sees them: the store, or a context. A plain value; nothing in it is clever.
///
/// A reference may lead to an object that no longer exists; it reads as nil then.
struct World {
    var rows: [Ident: WorldRow] = [:]
    /// By the canonical side of the relationship; both directions where it leads back to itself.
    var pairs: [String: Set<Pair>] = [:]
    var orders: [OrderKey: [Ident]] = [:]

    func ref(_ id: Ident, _ name: String) -> Ident? {
        guard case .ref(let target)? = rows[id]?.cells[name], rows[target] != nil else { return nil }
        return target
    }

    func value(_ id: Ident, _ name: String) -> Value {
        guard case .value(let value)? = rows[id]?.cells[name] else { return .null }
        return value
    }

    /// The objects of an entity and of those that inherit from it, by key.
    func all(_ entity: String) -> [Ident] {
        rows.filter { WorldSchema.isKind($0.value.entity, of: entity) }.map(\.key).sorted()
    }

    func members(_ owner: Ident, _ relation: WorldSchema.Relation) -> Set<Ident> {
        if WorldSchema.inverse(relation).cardinality == .one {
            return Set(
                rows.filter {
                    $0.value.cells[relation.inverse] == .ref(owner)
                        && WorldSchema.isKind($0.value.entity, of: relation.destination)
                }.map(\.key))
        }
        let canonical = WorldSchema.canonical(relation)
        let found = pairs[canonical.id] ?? []
        let result =
            relation.id == canonical.id
            ? found.filter { $0.a == owner }.map(\.b) : found.filter { $0.b == owner }.map(\.a)
        return Set(result.filter { rows[$0] != nil })
    }

    /// Members in their order; those without a place come last, by key.
    func list(_ owner: Ident, _ relation: WorldSchema.Relation) -> [Ident] {
        let members = members(owner, relation)
        let placed = (orders[OrderKey(relation: relation.id, owner: owner)] ?? []).filter(members.contains)
        return placed + members.subtracting(placed).sorted()
    }

    /// Whether both ends of every one-to-one relationship agree; a complaint otherwise.
    func oneToOneComplaint() -> String? {
        for (id, row) in rows {
            for relation in WorldSchema.relations(row.entity)
            where relation.cardinality == .one && WorldSchema.inverse(relation).cardinality == .one {
                if let target = ref(id, relation.name), ref(target, relation.inverse) != id {
                    return
                        "\(id).\(relation.name) is \(target), but \(target).\(relation.inverse) is \(ref(target, relation.inverse).map { "\($0)" } ?? "nil")"
                }
            }
        }
        return nil
    }

    /// Two orders made one: the arranged members as they are; others come after the one that they follow in the other
    /// order.
    static func merge(_ arranged: [Ident], with other: [Ident]) -> [Ident] {
        var groups: [[Ident]] = [[]] + arranged.map { [$0] }
        var place = 0
        for id in other {
            if let index = arranged.firstIndex(of: id) { place = index + 1 } else { groups[place].append(id) }
        }
        return groups.flatMap { $0 }
    }
}
