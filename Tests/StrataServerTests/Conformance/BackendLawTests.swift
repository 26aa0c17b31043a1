#if Server
    import Foundation
    import StrataStackMob
    import StrataRemoteTesting
    import Testing

    /// The StackMob dialect in front of strata-server does what stores must be able to rely on.
    @Suite struct BackendLawTests {
        /// A server of its own for each check, over loopback.
        private actor Subject: BackendSubject {
            nonisolated let name = "StackMob"
            /// Whether the server numbers the objects.
            nonisolated let hasIntegerKeys: Bool
            /// Whether the client uses what only strata-server has.
            nonisolated let usesExtensions: Bool
            private var current: LoopbackServer?

            init(hasIntegerKeys: Bool = false, usesExtensions: Bool = true) {
                self.hasIntegerKeys = hasIntegerKeys
                self.usesExtensions = usesExtensions
            }

            /// Numbers of the protocol are JSON's, and what is not a type of its own goes as text. StackMob has no bytes.
            nonisolated var omissions: Set<ConformanceFeature> {
                usesExtensions ? [.decimals] : [.decimals, .binaries]
            }
            /// A pull from StackMob begins with the whole millisecond in which the one before ended.
            nonisolated var repeatsRecentChanges: Bool { !usesExtensions }

            func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
                await current?.stop()
                let server = try await LoopbackServer(model: model, template: "StackMob")
                current = server
                let usesExtensions = usesExtensions
                return try server.client { $0.dialect.usesExtensions = usesExtensions }.backend(for: model)
            }

            func stop() async {
                await current?.stop()
                current = nil
            }
        }

        @Test("Each law of back ends holds against the server", arguments: BackendSuite.Law.allCases, [false, true])
        func holds(law: BackendSuite.Law, hasIntegerKeys: Bool) async {
            let subject = Subject(hasIntegerKeys: hasIntegerKeys)
            let failures = await BackendSuite.run(subject, laws: [law])
            await subject.stop()
            #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
        }

        @Test("Each law of back ends holds for StackMob without extensions", arguments: BackendSuite.Law.allCases)
        func holdsWithoutExtensions(law: BackendSuite.Law) async {
            let subject = Subject(usesExtensions: false)
            let failures = await BackendSuite.run(subject, laws: [law])
            await subject.stop()
            #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
        }
    }
#endif
