#if Server
    import Foundation
    import SeededRandom
    import Testing

    /// Every dialect, client and server, over a network that loses, repeats, cuts off and replaces what is sent.
    ///
    /// `STRATA_STORMS` sets the number of storms for each service, `STRATA_SEED` the first seed. `STRATA_STORM_LOG` names a file
    /// that takes all requests and edits of the last storm that failed.
    @Suite struct DialectStormTests {
        private static let count =
            ProcessInfo.processInfo.environment["STRATA_STORMS"].flatMap(UInt64.init) ?? 3

        @Test(
            "After a storm, all devices have what the server has, and nothing that was saved is lost",
            arguments: StormService.allCases)
        func storm(_ service: StormService) async throws {
            let first = RunSeed.value()
            var struck: [StormTransport.Fault: Int] = [:]
            for seed in first..<(first + Self.count) {
                let world = try StormWorld(service, seed: seed)
                try await world.run()
                struck.merge(world.struck, uniquingKeysWith: +)
            }
            let missed = StormTransport.Fault.allCases.filter { struck[$0] == nil }
            #expect(missed.isEmpty, "\(service): nothing was struck by \(missed)")
        }
    }
#endif
