import Foundation
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct NetworkReachabilityTests {
    private final class Server: Sendable {
        let isUp: Guarded<Bool>
        let asked = Guarded(0)
        init(isUp: Bool = true) { self.isUp = Guarded(isUp) }
        func probe() async -> Bool {
            asked.withLock { $0 += 1 }
            await Task.yield()
            return isUp.withLock { $0 }
        }
        func turn(_ up: Bool) { isUp.withLock { $0 = up } }
        var count: Int { asked.withLock { $0 } }
    }

    @Test func remembersForItsLifetime() async {
        let server = Server()
        let clock = VirtualClock()
        let reachability = NetworkReachability(lifetime: 5, clock: clock) { await server.probe() }
        #expect(reachability.status == .unknown)
        #expect(await reachability.check() == .reachable)
        server.turn(false)
        clock.advance(by: 4.9)
        #expect(await reachability.check() == .reachable)
        #expect(server.count == 1)
        clock.advance(by: 0.2)
        #expect(await reachability.check() == .notReachable)
        #expect(server.count == 2)
    }

    @Test func thoseWhoAskAtOnceShareARequest() async {
        let server = Server()
        let reachability = NetworkReachability(clock: VirtualClock()) { await server.probe() }
        await withTaskGroup(of: NetworkReachability.Status.self) { group in
            for _ in 0..<50 { group.addTask { await reachability.check() } }
            for await status in group { #expect(status == .reachable) }
        }
        #expect(server.count == 1)
    }

    @Test func handlersHearOfChangesAloneAndInOrder() async {
        let server = Server()
        let reachability = NetworkReachability(clock: VirtualClock()) { await server.probe() }
        let heard = Guarded<[NetworkReachability.Status]>([])
        let observation = reachability.onChange { status in heard.withLock { $0.append(status) } }
        await reachability.check()
        reachability.note(.reachable)
        reachability.note(.notReachable)
        reachability.note(.notReachable)
        reachability.note(.reachable)
        observation.cancel()
        reachability.note(.notReachable)
        #expect(heard.withLock { $0 } == [.reachable, .notReachable, .reachable])
    }

    @Test func aHandlerMayCauseTheNextChange() {
        let reachability = NetworkReachability(clock: VirtualClock()) { true }
        let heard = Guarded<[NetworkReachability.Status]>([])
        let observation = reachability.onChange { status in
            heard.withLock { $0.append(status) }
            if status == .reachable { reachability.note(.notReachable) }
        }
        reachability.note(.reachable)
        #expect(heard.withLock { $0 } == [.reachable, .notReachable])
        observation.cancel()
    }

    @Test func theSequenceEndsWithItsSource() async {
        var reachability: NetworkReachability? = NetworkReachability(clock: VirtualClock()) { true }
        let changes = reachability!.changes
        reachability!.note(.notReachable)
        reachability!.note(.reachable)
        reachability = nil
        var heard: [NetworkReachability.Status] = []
        for await status in changes { heard.append(status) }
        #expect(heard == [.notReachable, .reachable])
    }

    @Test func monitoringAsksUntilItsTaskIsCancelled() async {
        let server = Server(isUp: false)
        let clock = VirtualClock()
        let reachability = NetworkReachability(lifetime: 60, clock: clock) { await server.probe() }
        let changes = reachability.changes
        let task = Task { await reachability.monitor(every: 10) }
        var heard: [NetworkReachability.Status] = []
        for await status in changes {
            heard.append(status)
            if heard.count == 3 { break }
            server.turn(status == .notReachable)
        }
        task.cancel()
        await task.value
        #expect(heard == [.notReachable, .reachable, .notReachable])
        #expect(clock.sleeps.allSatisfy { $0 == 10 })
    }
}
