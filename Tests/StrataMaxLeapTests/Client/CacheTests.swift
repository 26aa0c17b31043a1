import Foundation
import StrataMaxLeap
import StrataRemoteTesting
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

    @Test("Further parameters make another answer")
    func parameters() async throws {
        let rig = try ClientRig()
        var options = RequestOptions()
        options.parameters = [RemoteParameter("lang", "de & fr"), RemoteParameter("limit", "7")]
        rig.transport.answer(json: page("1"))
        _ = try await rig.client.find(query, policy: .networkOnly)
        #expect(!rig.client.hasCachedResult(of: query, options: options))
        rig.transport.answer(json: page("2"))
        let found = try await rig.client.find(query, policy: .cacheElseNetwork, options: options)
        #expect(found.map(\.objectId) == ["2"])
        #expect(rig.transport.requests.last?.parameters["lang"] == "de & fr")
        #expect(try await rig.client.find(query, policy: .cacheOnly).map(\.objectId) == ["1"])
        #expect(try await rig.client.find(query, policy: .cacheOnly, options: options).map(\.objectId) == ["2"])
        // A parameter that the query has itself is not sent, and does not count.
        let limited = query.limited(to: 3)
        rig.transport.answer(json: page("3"))
        _ = try await rig.client.find(limited, policy: .networkOnly)
        options.parameters.removeFirst()
        #expect(rig.client.hasCachedResult(of: limited, options: options))
        options.parameters = [RemoteParameter("lang", "de & fr"), RemoteParameter("limit", "7")]
        rig.client.clearCachedResult(of: query, options: options)
        #expect(!rig.client.hasCachedResult(of: query, options: options))
        #expect(rig.client.hasCachedResult(of: query))
    }

    @Test("The first object comes from the cache, and then from the network")
    func firstOfBoth() async throws {
        let rig = try ClientRig()
        var ends: [String] = []
        for answer in [page("1"), page("2"), #"{"results":[]}"#] {
            rig.transport.answer(json: answer)
            for await result in rig.client.firstResults(of: query) {
                switch result {
                case .success(let object): ends.append(object.objectId ?? "")
                case .failure(let error): ends.append("\(error.code)")
                }
            }
        }
        #expect(ends == ["120", "1", "1", "2", "2", "101"])
        #expect(rig.transport.requests.allSatisfy { $0.parameters["limit"] == "1" })
        await #expect { try await rig.client.first(query, policy: .cacheThenNetwork) } throws: {
            ($0 as? RemoteError)?.message.contains("firstResults(of:)") == true
        }
    }

    @Test("An object of an identifier may be as old as the call says")
    func ages() async throws {
        let rig = try ClientRig()
        let pointer = MaxLeapPointer("A", "1")
        rig.transport.answer(json: page("1"))
        _ = try await rig.client.get(pointer, policy: .networkOnly)
        rig.clock.advance(by: 100)
        #expect(try await rig.client.get(pointer, policy: .cacheOnly, maximumAge: 101).objectId == "1")
        await #expect { try await rig.client.get(pointer, policy: .cacheOnly, maximumAge: 99) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.cacheMiss.rawValue
        }
    }
}
