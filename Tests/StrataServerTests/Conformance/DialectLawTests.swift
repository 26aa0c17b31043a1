#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataRemoteTesting
    import Testing

    /// The other dialects in front of strata-server do what stores must be able to rely on.
    @Suite struct DialectLawTests {
        enum Client: String, CaseIterable, Sendable {
            case parse, maxLeap, mobileServices, numberedServices, mobileApps, datasync

            var azureVersion: AzureVersion? {
                switch self {
                case .mobileServices, .numberedServices: .mobileServices
                case .mobileApps: .mobileApps
                case .datasync: .datasync
                default: nil
                }
            }
        }

        /// A server of its own for each check, over loopback.
        private actor Subject: BackendSubject {
            let client: Client
            /// Whether the client names its writes, and the server remembers them. Parse and MaxLeap assign the keys then.
            let usesExtensions: Bool
            /// Whether the tags of notes are a relation, and not an array of pointers.
            let hasRelations: Bool
            private var current: LoopbackServer?

            init(_ client: Client, usesExtensions: Bool = false, hasRelations: Bool = false) {
                self.hasRelations = hasRelations
                self.client = client
                self.usesExtensions = usesExtensions
            }

            nonisolated var name: String { client.rawValue }
            nonisolated var hasIntegerKeys: Bool { client == .numberedServices }
            /// Numbers of the server are doubles, and what is not a type of its own goes as text. Azure keeps neither
            /// positions nor members of relationships.
            nonisolated var omissions: Set<ConformanceFeature> {
                client.azureVersion == nil ? [.decimals] : [.decimals, .geoPoints, .manyToMany]
            }
            nonisolated var takesOnlyWholeObjects: Bool { client == .datasync }
            /// Objects of the millisecond in which a pull of Parse and MaxLeap ended come again.
            nonisolated var repeatsRecentChanges: Bool { client.azureVersion == nil }
            /// Ids of Azure have rules: none of `+ ? / \` and so on.
            nonisolated var exceptions: Set<BackendSuite.Law> { client.azureVersion == nil ? [] : [.identities] }

            func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
                await current?.stop()
                let server = try await LoopbackServer(model: model, template: "all dialects") {
                    $0.dialects = Places.all
                }
                current = server
                guard let version = client.azureVersion else {
                    return try server.maxLeapClient(client == .parse ? .parse : .maxLeap) {
                        $0.usesConditionalWrites = client == .maxLeap
                        $0.usesExtensions = usesExtensions
                        $0.sendsObjectIds = !usesExtensions
                        if hasRelations { $0.names.relations["Note"] = ["tags"] }
                    }.backend(for: model)
                }
                return try server.azureClient(version) {
                    $0.keepsDeletedRows = true
                    $0.usesExtensions = usesExtensions
                }.backend
            }

            func stop() async {
                await current?.stop()
                current = nil
            }
        }

        @Test(
            "Each law of back ends holds for each dialect against the server", arguments: Client.allCases,
            BackendSuite.Law.allCases)
        func holds(client: Client, law: BackendSuite.Law) async {
            let subject = Subject(client)
            let failures = await BackendSuite.run(subject, laws: [law])
            await subject.stop()
            #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
        }

        @Test(
            "Members of relations are found although no object lists them", arguments: [Client.parse, .maxLeap],
            [.claims, .values] as [BackendSuite.Law])
        func holdsForRelations(client: Client, law: BackendSuite.Law) async {
            let subject = Subject(client, hasRelations: true)
            let failures = await BackendSuite.run(subject, laws: [law])
            await subject.stop()
            #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
        }

        @Test(
            "With strata-server's extensions, each write is done once", arguments: Client.allCases,
            [.idempotency, .assignedKeys, .pairing, .conditionalWrites] as [BackendSuite.Law])
        func holdsWithExtensions(client: Client, law: BackendSuite.Law) async {
            let subject = Subject(client, usesExtensions: true)
            let failures = await BackendSuite.run(subject, laws: [law])
            await subject.stop()
            #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
        }
    }
#endif
