import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

@Suite struct ObjectClientTests {
    private func created(_ id: String) -> WireResponse {
        .scripted(json: #"{"objectId":"\#(id)","createdAt":"\#(testTime)"}"#, status: 201)
    }

    @Test func theDefaultClientIsTheOneThatTheAppHasSet() throws {
        #expect(MaxLeapClient.default == nil)
        let client = try ClientRig().client
        MaxLeapClient.default = client
        #expect(MaxLeapClient.default === client)
        MaxLeapClient.default = nil
        #expect(MaxLeapClient.default == nil)
    }

    @Test func whatAnObjectLeadsToIsSavedFirst() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"name":"zcf-1.png","url":"cdn.example.com/zcf-1.png"}"#, status: 201)
        rig.transport.answer(created("a1"))
        rig.transport.answer(created("p1"))
        var author = MaxLeapObject("Author")
        author["photo"] = .file(MaxLeapFile(name: "me.png", contentType: "image/png", data: Data("x".utf8)))
        var post = MaxLeapObject("Post")
        post["authors"] = [.object(author)]
        let saved = try await rig.client.save(post)
        #expect(rig.paths == ["PUT /2.0/files/me.png", "POST /2.0/classes/Author", "POST /2.0/classes/Post"])
        #expect(rig.transport.requests[0].header("Content-Type") == "image/png")
        #expect(
            rig.transport.requests[1].json == [
                "photo": ["__type": "File", "name": "zcf-1.png", "url": "https://cdn.example.com/zcf-1.png"]
            ])
        #expect(
            rig.transport.requests[2].json == [
                "authors": [["__type": "Pointer", "className": "Author", "objectId": "a1"]]
            ])
        #expect(saved.objectId == "p1")
        #expect(saved.updatedAt == saved.createdAt)
        #expect(!saved.isDirty)
        // Nothing is left to save.
        #expect(try await rig.client.save(saved) == saved)
        #expect(rig.transport.requests.count == 3)
    }

    @Test func severalObjectsAreOneRequest() async throws {
        let rig = try ClientRig()
        rig.transport.answer(
            json: #"[{"objectId":"1","createdAt":"\#(testTime)"},{"error":{"code":137,"error":"twice"}}]"#)
        var objects = [MaxLeapObject("A"), MaxLeapObject("A")]
        for index in objects.indices { objects[index]["n"] = .integer(Int64(index)) }
        let results = try await rig.client.saveAll(objects)
        #expect(rig.paths == ["POST /2.0/batch"])
        #expect(try results[0].get().objectId == "1")
        #expect(throws: RemoteError.self) { try results[1].get() }
        rig.transport.answer(json: #"[{"number":1},{"errorCode":101,"errorMessage":"gone"}]"#)
        let ends = try await rig.client.deleteAll([MaxLeapPointer("A", "1"), MaxLeapPointer("A", "2")])
        #expect(ends.map { $0?.code } == [nil, 101])
        #expect(
            rig.transport.requests[1].json?["requests"]?.elements?.map { $0["path"] } == [
                "/2.0/classes/A/1", "/2.0/classes/A/2",
            ])
    }

    @Test func anUpdateThatMetNothingIsAnError() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"number":0,"updatedAt":"\#(testTime)"}"#)
        var object = MaxLeapObject("A", objectId: "1")
        object["n"] = 1
        let changed = object
        await #expect { try await rig.client.save(changed) } throws: { ($0 as? RemoteError)?.code == 101 }
    }

    @Test func readsAreRepeatedAndWritesAreNot() async throws {
        let rig = try ClientRig()
        for _ in 0..<2 { rig.transport.fail(.requestLost) }
        rig.transport.answer(status: 502)
        rig.transport.answer(json: #"{"results":[{"objectId":"1"}]}"#)
        #expect(try await rig.client.find(MaxLeapQuery("A")).map(\.objectId) == ["1"])
        #expect(rig.clock.sleeps == [1.5, 3, 6])
        rig.transport.fail(.answerLost)
        rig.transport.answer(created("1"))
        var object = MaxLeapObject("A")
        object["n"] = 1
        let new = object
        await #expect { try await rig.client.save(new) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.timeout.rawValue
        }
        #expect(rig.transport.requests.count == 5)
    }

    @Test func functionsGiveWhatTheyGive() async throws {
        let maxLeap = try ClientRig()
        maxLeap.transport.answer(json: #"{"at":{"__type":"Date","iso":"\#(testTime)"}}"#)
        let result = try await maxLeap.client.call("hello", ["who": .pointer(MaxLeapPointer("_User", "1"))])
        guard case .dictionary(let members) = result, case .date? = members["at"] else {
            Issue.record("\(result)")
            return
        }
        #expect(maxLeap.transport.requests[0].json?["who"]?["__type"] == "Pointer")
        let parse = try ClientRig(.parse)
        parse.transport.answer(json: #"{"result":[1,2]}"#)
        #expect(try await parse.client.call("hello") == [1, 2])
        #expect(parse.paths == ["POST /parse/functions/hello"])
        parse.transport.answer(json: #"{"code":141,"error":"no"}"#, status: 400)
        await #expect { try await parse.client.call("hello") } throws: { ($0 as? RemoteError)?.code == 141 }
    }

    @Test func bytesOfFilesAreReadWithoutKeys() async throws {
        let rig = try ClientRig()
        try rig.logIn()
        rig.transport.answer(body: Data("bytes".utf8))
        let file = MaxLeapFile(name: "a", url: "cdn.example.com:8443/x%20y?z=1")
        #expect(try await rig.client.data(of: file) == Data("bytes".utf8))
        let request = rig.transport.requests[0]
        #expect(request.head.authority == "cdn.example.com:8443")
        #expect(request.head.path == "/x%20y?z=1")
        #expect(request.header("X-ML-APIKey") == nil && request.header("X-ML-Session-Token") == nil)
        await #expect(throws: RemoteError.self) {
            try await rig.client.data(of: MaxLeapFile(name: "a", url: "file:///etc/passwd"))
        }
    }
}
