import Foundation
import StrataMaxLeap
import StrataTesting
import Testing

@Suite struct CacheTests {
    private let query = MaxLeapQuery("A").where("n", .greater(1))

    private func page(_ id: String) -> String { #"{"results":[{"objectId":"\#(id)"}]}"# }

    @Test(arguments: [true, false]) func answersAreKeptByQueryAndUser(inFiles: Bool) async throws {
        let folder = URL.temporaryDirectory.appending(component: "maxleap-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let rig = try ClientRig { $0.cache = MaxLeapQueryCache(folder: inFiles ? folder : nil) }
        rig.transport.answer(json: page("1"))
        _ = try await rig.client.find(query, policy: .networkOnly)
        #expect(try await rig.client.find(query, policy: .cacheOnly).map(\.objectId) == ["1"])
        #expect(rig.client.hasCachedResult(of: query))
        #expect(!rig.client.hasCachedResult(of: query.limited(to: 3)))
        rig.clock.advance(by: 100)
        #expect(!rig.client.hasCachedResult(of: query, maximumAge: 99))
        try rig.logIn()
        await #expect { try await rig.client.find(query, policy: .cacheOnly) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.cacheMiss.rawValue
        }
        rig.client.session.replace(token: nil, user: nil)
        rig.client.clearCachedResult(of: query)
        #expect(!rig.client.hasCachedResult(of: query))
        rig.transport.answer(json: page("2"))
        _ = try await rig.client.find(query, policy: .cacheElseNetwork)
        #expect(rig.client.hasCachedResult(of: query))
        rig.client.clearAllCachedResults()
        #expect(!rig.client.hasCachedResult(of: query))
    }

    @Test func aDamagedFileIsNoAnswer() async throws {
        let folder = URL.temporaryDirectory.appending(component: "maxleap-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let rig = try ClientRig { $0.cache = MaxLeapQueryCache(folder: folder) }
        rig.transport.answer(json: page("1"))
        _ = try await rig.client.find(query, policy: .networkOnly)
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
            try Data("{".utf8).write(to: file)
        }
        #expect(!rig.client.hasCachedResult(of: query))
    }

    @Test func theCacheComesFirstAndThenTheNetwork() async throws {
        let rig = try ClientRig()
        var ends: [String] = []
        rig.transport.answer(json: page("1"))
        for await result in rig.client.results(of: query) {
            switch result {
            case .success(let objects): ends.append(objects.first?.objectId ?? "")
            case .failure(let error): ends.append("\(error.code)")
            }
        }
        rig.transport.answer(json: page("2"))
        for await result in rig.client.results(of: query) { ends.append(try result.get().first?.objectId ?? "") }
        #expect(ends == ["120", "1", "1", "2"])
        await #expect { try await rig.client.find(query, policy: .cacheThenNetwork) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.invalidQuery.rawValue
        }
    }
}
