#if Server && AsyncHTTP
    import Foundation
    import SeededRandom
    import StrataServer
    import StrataStore
    import Testing

    /// Random writes against what subscribers make of the events.
    @Suite struct LivePropertyTests {
        /// What a subscriber knows of the results of a query.
        private struct Copy {
            var objects: [String: JSONValue] = [:]

            /// - Parameter isOpen: Whether the server remembers nothing, and may say again that something is gone.
            mutating func take(_ event: JSONValue, isOpen: Bool) throws {
                let object = try #require(event["object"])
                let key = try #require(object["objectId"]?.string)
                switch event["op"]?.string {
                case "create", "enter":
                    #expect(objects[key] == nil, "\(event) of an object that is there")
                    objects[key] = object
                case "update":
                    #expect(objects[key] != nil, "\(event) of an object that is not there")
                    objects[key] = object
                case "leave", "delete":
                    #expect(isOpen || objects[key] != nil, "\(event) of an object that is not there")
                    objects[key] = nil
                default: Issue.record("\(event)")
                }
            }

            func isEqual(to results: [JSONValue]) -> Bool {
                objects.count == results.count
                    && results.allSatisfy { result in
                        guard let key = result["objectId"]?.string, let own = objects[key] else { return false }
                        return result.members?.allSatisfy { own[$0.name] == $0.value } == true
                    }
            }
        }

        private static let conditions: [JSONValue] = [
            [:], ["n": ["$gt": 4]], ["tag": "b"], ["$or": [["n": 1], ["tag": ["$in": ["a", "c"]]]]],
            ["tag": ["$exists": false]],
        ]

        @Test("Events alone give the results of a query", arguments: 0..<4)
        func reconstruction(run: UInt64) async throws {
            let seed = RunSeed.value() &+ run
            let bench = try Bench.withDialects {
                $0.access.schemas["item"] = AccessRules.Rule(
                    read: .any([.owner, .relationship("readers")]), create: .loggedIn, update: .anyone,
                    delete: .anyone)
            }
            try await bench.serving { port in
                var random = SplitMix64(seed: seed)
                let users = ["ann", "bob"]
                var tokens: [String: String] = [:]
                for user in users { tokens[user] = try await bench.parseUser(user) }
                var clients: [(client: LiveClient, user: String?)] = []
                for user in users + [nil] {
                    var client = try await LiveClient.connected(
                        port: port, token: user.flatMap { tokens[$0] }, master: user == nil)
                    for (id, condition) in Self.conditions.enumerated() {
                        try await client.subscribe(Int64(id), "Item", condition)
                    }
                    clients.append((client, user))
                }
                func members() -> JSONObject {
                    var members: JSONObject = ["n": .integer(Int64.random(in: 0..<10, using: &random))]
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: members["tag"] = .null
                    case let tag: members["tag"] = .string(["a", "b", "c"][tag - 1])
                    }
                    members["readers"] = Bool.random(using: &random) ? ["bob"] : ["nobody"]
                    return members
                }
                for step in 0..<150 {
                    let id = "i\(Int.random(in: 0..<12, using: &random))"
                    let path = "classes/Item/\(id)"
                    bench.advance(seconds: Int64.random(in: 0...1, using: &random))
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<4:
                        var body = members()
                        body["objectId"] = .string(id)
                        let user = try #require(users.randomElement(using: &random))
                        await bench.parse("POST", "classes/Item", .object(body), token: tokens[user])
                    case 4..<8: await bench.parse("PUT", path, .object(members()))
                    default: await bench.parse("DELETE", path)
                    }
                    // Now and then everybody has the time to be told.
                    if step % 40 == 39 { try await Task.sleep(for: .milliseconds(50)) }
                }
                // The last object that meets each of the conditions.
                let last = ["x", "z", "z", "y", "x"]
                for (id, members) in [
                    ("z", ["n": 9, "tag": "b"]), ("y", ["n": 1, "tag": "a"]), ("x", ["n": 0]),
                ] as [(String, JSONObject)] {
                    try await bench.make("Item", id, members.merging(["readers": ["bob"]]), token: tokens["ann"])
                }
                for (client, user) in clients {
                    var (client, copies, waiting) = (client, [Int64: Copy](), Set(last.indices))
                    while !waiting.isEmpty {
                        let event = try await client.next()
                        let id = try #require(event["requestId"]?.integer)
                        try copies[id, default: Copy()].take(event, isOpen: user == nil && id == 0)
                        if event["object"]?["objectId"]?.string == last[Int(id)] { waiting.remove(Int(id)) }
                    }
                    for (id, condition) in Self.conditions.enumerated() {
                        let target = "classes/Item?limit=1000&where=\(escaped(condition.description))"
                        let answer = await bench.parse(
                            "GET", target, token: user.flatMap { tokens[$0] }, master: user == nil)
                        let results = try #require(answer.json?["results"]?.elements)
                        let copy = copies[Int64(id)] ?? Copy()
                        #expect(
                            copy.isEqual(to: results),
                            "seed \(seed), \(user ?? "master"), \(condition): \(copy.objects) and \(results)")
                    }
                    client.end()
                }
            }
        }
    }
#endif
