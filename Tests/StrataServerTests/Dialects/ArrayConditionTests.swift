#if Server
    import Foundation
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import StrataStore
    import StrataRemoteTesting
    import Testing

    /// Conditions on the elements of arrays and on the ends of texts, by each dialect against the server over HTTP: its answers
    /// are those of the evaluator.
    @Suite struct ArrayConditionTests {
        enum Service: String, CaseIterable, Sendable {
            case stackMob, parse, maxLeap

            func backend(
                _ model: ManagedObjectModel, _ server: LoopbackServer, _ wire: Wire
            ) throws -> any RemoteBackend {
                switch self {
                case .stackMob: try server.client(transport: wire).backend(for: model)
                case .parse: try server.maxLeapClient(.parse, transport: wire).backend(for: model)
                case .maxLeap: try server.maxLeapClient(.maxLeap, transport: wire).backend(for: model)
                }
            }

            /// What every service decides.
            static let shared = [
                "tags CONTAINS 'red'", "NOT tags CONTAINS 'red'", "'red' IN tags", "ANY tags == 'red'",
                "NOT ANY tags == 'red'", "NONE tags == 'red'", "ALL tags != 'red'", "ANY tags IN {'blue', 'reddish'}",
                "NOT ANY tags IN {'blue', 'reddish'}", "NONE tags IN {'blue', 'reddish'}", "ANY tags == '3'",
                "ANY tags == 'true'", "ANY sizes == 2", "NOT ANY sizes == 2", "ANY sizes IN {1, 3}",
                "NONE sizes IN {1, 3}",
                "ANY marks == YES", "NOT marks CONTAINS NO", "ANY marks == 1", "tags == nil", "tags != nil",
                "ANY tags == 'red' OR ANY sizes == 3", "tags CONTAINS 'red' AND sizes CONTAINS 2",
            ]
            /// What Parse and MaxLeap decide besides.
            static let more = [
                "tags.@count == 2", "tags.@count == 0", "tags CONTAINS 'red' AND tags CONTAINS 'blue'",
                "title ENDSWITH 'end'", "title ==[c] 'end'", "title ENDSWITH[c] 'END'", "title LIKE '*end'",
                "title LIKE '?nd'", "title MATCHES '.*end'", "'en' IN title",
            ]

            var conditions: [String] { self == .stackMob ? Self.shared : Self.shared + Self.more }
        }

        /// What no service reads as a store does.
        private static let refused = [
            "tags == 'red'", "tags != 'red'", "tags IN {'red', 'blue'}", "tags BEGINSWITH 'red'", "tags ENDSWITH 'red'",
            "tags LIKE 'red*'", "tags MATCHES 'red'", "tags CONTAINS[c] 'RED'", "ANY tags BEGINSWITH 'red'",
            "ANY tags != 'red'", "ALL tags == 'red'", "ANY sizes > 1", "ANY tags == 3",
        ]

        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Items") {
                Entity("Item") {
                    Attribute("itemId", .string)
                    Attribute("title", .string, default: .value(""))
                    Attribute("tags", .array(.string), optional: true)
                    Attribute("sizes", .array(.integer), optional: true)
                    Attribute("marks", .array(.boolean), optional: true)
                }
            }
        }

        private struct Row {
            var id: String
            var title: String
            var tags: [String]?
            var sizes: [Int]?
            var marks: [Bool]?

            /// The row as the evaluator sees it.
            var record: RemoteRecord {
                func list(_ values: [Value]?) -> RemoteValue { .value(values.map(Value.list) ?? .null) }
                return RemoteRecord(
                    entity: "Item", id: id,
                    values: [
                        "title": .value(.string(title)), "tags": list(tags?.map(Value.string)),
                        "sizes": list(sizes?.map { .integer(Int64($0)) }), "marks": list(marks?.map(Value.boolean)),
                    ])
            }
        }

        private static let rows = [
            Row(id: "a", title: "red end", tags: ["red", "blue"], sizes: [1, 2], marks: [true]),
            Row(id: "b", title: "end\n", tags: ["reddish"], sizes: [2], marks: [false, true]),
            Row(id: "c", title: "none"), Row(id: "d", title: "END", tags: [], sizes: [], marks: []),
            Row(id: "e", title: "end", tags: ["3", "true", "red"], sizes: [3], marks: [false]),
        ]

        /// A store whose fetches are the server's answers.
        private struct Reader {
            let wire = Wire()
            let context: ManagedObjectContext

            init(_ service: Service, _ model: ManagedObjectModel, _ server: LoopbackServer) throws {
                var options = RemoteStore.Options()
                options.fetchPolicy = .networkOnly
                options.request.timeout = 300
                let store = try RemoteStore.open(
                    model: model, backend: try service.backend(model, server, wire), location: .memory(name: nil),
                    options: options)
                context = try PersistentContainer(store: store).newContext()
            }

            func ids(_ predicate: FetchPredicate) async throws -> Set<String> {
                let found = try await context.fetch(FetchRequest<ManagedObject>(entity: "Item", where: predicate))
                return Set(found.compactMap { $0["itemId"] as? String })
            }
        }

        @Test(
            "The server finds what the evaluator finds, and is not asked what it reads otherwise",
            arguments: Service.allCases)
        func answers(_ service: Service) async throws {
            let model = try Self.model()
            let entity = try #require(model.entity(named: "Item"))
            try await withServer({ $0.dialects = Places.all }) { server in
                let writer = try Reader(service, model, server)
                for row in Self.rows {
                    let arrays: [String: Any?] = ["tags": row.tags, "sizes": row.sizes, "marks": row.marks]
                    let item = try writer.context.make("Item", ["itemId": row.id, "title": row.title])
                    for (name, array) in arrays { try item.setValue(array, forKey: name) }
                    // The first values tell the server the types of the fields.
                    try await writer.context.save(options: nil)
                }
                let reader = try Reader(service, model, server)
                for format in service.conditions {
                    let predicate = try FetchPredicate(format: format)
                    var expected: Set<String> = []
                    for row in Self.rows
                    where try predicate.evaluate(on: RecordSource(record: row.record, of: entity)) {
                        expected.insert(row.id)
                    }
                    #expect(try await reader.ids(predicate) == expected, "\(format)")
                }
                let count = reader.wire.count
                for format in Self.refused {
                    await #expect(throws: PersistenceError.self, "\(format)") {
                        try await reader.ids(FetchPredicate(format: format))
                    }
                }
                #expect(reader.wire.count == count)
            }
        }
    }
#endif
