#if Server
    import Foundation
    import StrataStackMob
    import StrataTesting
    import Testing

    /// The StackMob dialect in front of strata-server does what stores must be able to rely on.
    @Suite struct BackendLawTests {
        /// A server of its own for each check, over loopback.
        private actor Subject: BackendSubject {
            nonisolated let name = "StackMob"
            /// Whether the server numbers the objects.
            nonisolated let hasIntegerKeys: Bool
            /// Numbers of the protocol are JSON's, and what is not a type of its own goes as text.
            nonisolated let omissions: Set<ConformanceFeature> = [.decimals]
            private var current: LoopbackServer?

            init(hasIntegerKeys: Bool) { self.hasIntegerKeys = hasIntegerKeys }

            func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
                await current?.stop()
                let server = try await LoopbackServer(model: model, template: "StackMob")
                current = server
                return try server.client().backend(for: model)
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
    }
#endif
