import Foundation
import Strata

// Graphs and stacks of contexts of unusual shapes.

extension Case {
    static var shapes: [Case] {
        [
            Case("chain: insert", .empty, per: .each) { stage in
                {
                    let context = stage.container.newContext()
                    try makeChain(0..<stage.size, in: context)
                    return context
                }
            },
            Case("chain: walk", .chain, per: .each) { stage in
                {
                    let context = stage.container.newContext()
                    return (context, try walk(heads(in: context), stage.size))
                }
            },
            // Those that stand side by side are loaded together, and what was loaded together is kept together.
            Case("two chains: walk", .chains, per: .each) { stage in
                {
                    let context = stage.container.newContext()
                    return (context, try walk(heads(in: context), stage.size))
                }
            },
            Case("chain: delete by cascade", .chain, per: .each) { stage in
                { try deleteAll(stage, from: { try heads(in: $0)[0] }) }
            },
            // Each to-many that was loaded keeps the next one's owner.
            Case("stairs: walk down and let go", .stairs, per: .each) { stage in
                {
                    let context = stage.container.newContext()
                    let first = try top(in: context)
                    try withExtendedLifetime(first) {
                        var node = first
                        for _ in 1..<stage.size {
                            guard let next = node.children.first else { throw ProbeError("the stairs end too soon") }
                            node = next
                        }
                    }
                    return context
                }
            },
            Case("stairs: delete by cascade", .stairs, per: .each) { stage in
                { try deleteAll(stage, from: top) }
            },
            Case("wide: add one", .tree, per: .just(1)) { stage in
                let context = stage.container.newContext()
                let root = try top(in: context)
                return {
                    root.addToChildren(Node(context: context, number: -1))
                    try context.save()
                    try expectRegistered(2, in: context)
                    return (context, root)
                }
            },
            Case("wide: remove one", .tree, per: .just(1)) { stage in
                let context = stage.container.newContext()
                let root = try top(in: context)
                let member = try node(Int64(stage.size / 2), in: context)
                return {
                    root.removeFromChildren(member)
                    try context.save()
                    guard member.parent == nil else { throw ProbeError("the member is still one") }
                    try expectRegistered(2, in: context)
                    return (context, root, member)
                }
            },
            Case("wide: move one by its own side", .tree, per: .just(1)) { stage in
                let context = stage.container.newContext()
                let member = try node(Int64(stage.size / 2), in: context)
                return {
                    member.parent = Node(context: context, number: -1)
                    try context.save()
                    try expectRegistered(2, in: context)
                    return (context, member)
                }
            },
            Case("children: insert and save to the top", .empty, per: .each) { stage in
                {
                    let levels = makeLevels(stage)
                    let node = Node(context: levels[stage.size], number: 7)
                    node.parent = Node(context: levels[stage.size], number: 8)
                    for level in levels.reversed() { try level.save() }
                    let count = try stage.container.newContext().count(FetchRequest<Node>())
                    guard count == 2 else { throw ProbeError("\(count) nodes arrived instead of two") }
                    return levels
                }
            },
            Case("children: fetch through all", .places, per: .each) { stage in
                {
                    let levels = makeLevels(stage)
                    let countries = try stage.countries(in: levels[stage.size])
                    guard countries.count == DataSet.countryCount else { throw ProbeError("countries are missing") }
                    return (levels, countries)
                }
            },
            Case("children: fill a fault through all", .places, per: .each) { stage in
                let id = try stage.countries(in: stage.container.newContext())[3].objectID
                return {
                    let levels = makeLevels(stage)
                    let country = try levels[stage.size].object(with: id) as? Country
                    guard country?.code == DataSet.countryCode(3) else { throw ProbeError("the fault was not filled") }
                    return levels
                }
            },
            Case("children: load a to-many through all", .tree, per: .square) { stage in
                {
                    let levels = makeLevels(stage)
                    let root = try top(in: levels[stage.size])
                    guard root.children.count == stage.size else { throw ProbeError("members are missing") }
                    return (levels, root)
                }
            },
            Case("children: save one change to the top", .places, per: .each) { stage in
                let levels = makeLevels(stage)
                let country = try stage.countries(in: levels[stage.size])[0]
                return {
                    country.population += 1
                    for level in levels.reversed() { try level.save() }
                    return (levels, country)
                }
            },
            Case("contexts: fetch one in each", .places, per: .each) { stage in
                {
                    try (0..<stage.size).map { number in
                        let context = stage.container.newContext()
                        let code = DataSet.countryCode(number % DataSet.countryCount)
                        let found = try context.fetch(FetchRequest<Country>(where: Country.keys.code == code))
                        return (context, found)
                    }
                }
            },
            Case("contexts: all take in a change", .places, per: .each) { stage in
                let others = try (0..<stage.size).map { _ in
                    let context = stage.container.newContext(automaticallyMergesChanges: true)
                    return (context, try context.fetch(FetchRequest<Country>(where: Country.keys.code == "AA")))
                }
                let writer = stage.container.newContext()
                let country = try stage.countries(in: writer)[0]
                return {
                    country.population += 1
                    try writer.save()
                    for (context, found) in others {
                        context.processPendingChanges()
                        guard found[0].population == country.population else {
                            throw ProbeError("a change did not arrive")
                        }
                    }
                    return others
                }
            },
        ]
    }

    static func makeChain(_ numbers: Range<Int>, in context: ManagedObjectContext) throws {
        var last: Node?
        for number in numbers {
            let node = Node(context: context, number: Int64(number))
            last?.next = node
            last = node
        }
        try context.save()
    }

    static func makeTree(_ count: Int, in context: ManagedObjectContext) throws {
        let root = Node(context: context, number: 0)
        for number in 0..<count { Node(context: context, number: Int64(number) + 1).parent = root }
        try context.save()
    }

    static func makeStairs(_ count: Int, in context: ManagedObjectContext) throws {
        var last: Node?
        for number in 0..<count {
            let node = Node(context: context, number: Int64(number))
            node.parent = last
            last = node
        }
        try context.save()
    }

    /// Deletes one node, with which all others go.
    private static func deleteAll(_ stage: Stage, from first: (ManagedObjectContext) throws -> Node) throws -> Any {
        let context = stage.container.newContext()
        context.delete(try first(context))
        try context.save()
        guard try context.count(FetchRequest<Node>()) == 0 else { throw ProbeError("nodes are left") }
        return context
    }

    private static func heads(in context: ManagedObjectContext) throws -> [Node] {
        try context.fetch(FetchRequest<Node>(where: Node.keys.previous == nil))
    }

    static func top(in context: ManagedObjectContext) throws -> Node { try node(0, in: context) }

    private static func node(_ number: Int64, in context: ManagedObjectContext) throws -> Node {
        guard let node = try context.fetchFirst(FetchRequest<Node>(where: Node.keys.number == number)) else {
            throw ProbeError("there is no node \(number)")
        }
        return node
    }

    /// Follows chains side by side, with only the present nodes in hand, and then releases the first ones.
    private static func walk(_ heads: [Node], _ expected: Int) throws -> Int {
        var nodes = heads
        var count = 0
        while !nodes.isEmpty {
            count += nodes.count
            nodes = nodes.compactMap(\.next)
        }
        guard count == expected else { throw ProbeError("\(count) nodes instead of \(expected)") }
        return count
    }

    /// A context on the store, and one below the other as many as the size says.
    private static func makeLevels(_ stage: Stage) -> [ManagedObjectContext] {
        (0..<stage.size).reduce(into: [stage.container.newContext()]) { levels, number in
            levels.append(levels[number].makeChild())
        }
    }

    private static func expectRegistered(_ limit: Int, in context: ManagedObjectContext) throws {
        let count = context.registeredObjects.count
        guard count <= limit else { throw ProbeError("\(count) objects were loaded, where \(limit) are needed") }
    }
}
