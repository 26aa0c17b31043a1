import Foundation
import StrataMaxLeap
import StrataRemoteTesting
import Testing

/// Graphs of objects and files, and objects of which only some fields have been read.
@Suite struct SavingTests {
    private func created(_ id: String) -> WireResponse {
        .scripted(json: #"{"objectId":"\#(id)","createdAt":"\#(testTime)"}"#, status: 201)
    }

    @Test("An object and a file that are in a graph twice are sent once")
    func graphs() async throws {
        let rig = try ClientRig()
        rig.transport.answer(created("a1"))
        rig.transport.answer(json: #"{"name":"zcf-1.png","url":"https://cdn.example.com/1"}"#, status: 201)
        rig.transport.answer(created("p1"))
        var author = MaxLeapObject("Author")
        author["name"] = "Ann"
        let file = MaxLeapFile(name: "me.png", contentType: "image/png", data: Data("x".utf8))
        var post = MaxLeapObject("Post")
        post["author"] = .object(author)
        post["cover"] = .file(file)
        post["editors"] = [.object(author)]
        post["more"] = ["thumb": .file(file), "by": .object(author)]
        let saved = try await rig.client.save(post)
        #expect(rig.paths == ["POST /2.0/classes/Author", "PUT /2.0/files/me.png", "POST /2.0/classes/Post"])
        let pointer: JSONValue = ["__type": "Pointer", "className": "Author", "objectId": "a1"]
        let body = try #require(rig.transport.requests.last?.json)
        #expect(body["author"] == pointer && body["editors"] == [pointer] && body["more"]?["by"] == pointer)
        #expect(body["cover"] == body["more"]?["thumb"] && body["cover"]?["name"] == "zcf-1.png")
        #expect(saved["author"]?.pointer?.objectId == "a1")
    }

    @Test("New objects that only look the same are different objects")
    func lookalikes() async throws {
        let rig = try ClientRig()
        for id in ["c1", "c2", "p1"] { rig.transport.answer(created(id)) }
        var post = MaxLeapObject("Post")
        post["comments"] = [.object(MaxLeapObject("Comment")), .object(MaxLeapObject("Comment"))]
        _ = try await rig.client.save(post)
        let comments = rig.transport.requests.last?.json?["comments"]?.elements
        #expect(comments?.map { $0["objectId"] } == ["c1", "c2"])
        #expect(MaxLeapObject("Comment") == MaxLeapObject("Comment"))
    }

    @Test("A changed object that is in a graph twice is changed once")
    func changes() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        rig.transport.answer(created("p1"))
        var counter = MaxLeapObject("Counter", objectId: "c1")
        try counter.increment("n")
        var post = MaxLeapObject("Post")
        post["first"] = .object(counter)
        post["second"] = .object(counter)
        _ = try await rig.client.save(post)
        #expect(rig.paths == ["PUT /2.0/classes/Counter/c1", "POST /2.0/classes/Post"])
    }

    @Test("What several objects of one save have in common is sent once, even if it is one of them")
    func several() async throws {
        let rig = try ClientRig()
        rig.transport.answer(created("t1"))
        rig.transport.answer(
            json: #"[{"objectId":"1","createdAt":"\#(testTime)"},{"objectId":"2","createdAt":"\#(testTime)"}]"#)
        let tag = MaxLeapObject("Tag")
        var posts = [MaxLeapObject("Post"), MaxLeapObject("Post")]
        for index in posts.indices {
            posts[index]["n"] = .integer(Int64(index))
            posts[index]["tag"] = .object(tag)
        }
        let results = try await rig.client.saveAll([tag, posts[0], posts[1], posts[0]])
        #expect(try results.map { try $0.get().objectId } == ["t1", "1", "2", "1"])
        #expect(rig.paths == ["POST /2.0/classes/Tag", "POST /2.0/batch"])
        let requests = try #require(rig.transport.requests.last?.json?["requests"]?.elements)
        #expect(requests.map { $0["body"]?["tag"]?["objectId"] } == ["t1", "t1"])
        // The next save makes another one.
        rig.transport.answer(created("t2"))
        #expect(try await rig.client.save(tag).objectId == "t2")
    }

    @Test("An object of which some fields were read is completed on demand")
    func completing() async throws {
        let rig = try ClientRig()
        rig.transport.answer(json: #"{"results":[{"objectId":"1","createdAt":"\#(testTime)","title":"Hi"}]}"#)
        var post = try #require(try await rig.client.find(MaxLeapQuery("Post").selecting("title")).first)
        #expect(post.hasData && !post.isComplete)
        post["note"] = "x"
        rig.transport.answer(json: #"{"objectId":"1","createdAt":"\#(testTime)","title":"Hi","body":"Long"}"#)
        let whole = try await rig.client.fetchIfNeeded(post)
        #expect(whole.isComplete && whole["body"] == "Long" && whole["note"] == "x" && whole.dirtyKeys == ["note"])
        #expect(rig.paths.last == "GET /2.0/classes/Post/1")
        #expect(try await rig.client.fetchIfNeeded(whole) == whole)
        #expect(rig.transport.requests.count == 2)
        rig.transport.answer(json: #"{"results":[{"objectId":"1","createdAt":"\#(testTime)","title":"Hi"}]}"#)
        #expect(try await rig.client.find(MaxLeapQuery("Post").excluding("body")).map(\.isComplete) == [false])
        rig.transport.answer(json: #"{"objectId":"1","createdAt":"\#(testTime)","title":"Hi"}"#)
        let part = try await rig.client.fetch(MaxLeapPointer("Post", "1"), keys: ["title"])
        #expect(!part.isComplete)
        rig.transport.answer(json: #"{"results":[{"objectId":"1","createdAt":"\#(testTime)","title":"Hi"}]}"#)
        #expect(try await rig.client.find(MaxLeapQuery("Post")).map(\.isComplete) == [true])
    }

    @Test("Objects known by their identifiers stay incomplete when fields of them are saved; new ones are complete")
    func identifiers() async throws {
        let rig = try ClientRig()
        var known = MaxLeapObject("Post", objectId: "1")
        #expect(!known.isComplete && !known.hasData)
        known["title"] = "Hi"
        rig.transport.answer(json: #"{"number":1,"updatedAt":"\#(testTime)"}"#)
        known = try await rig.client.save(known)
        #expect(known.hasData && !known.isComplete)
        var new = MaxLeapObject("Post")
        #expect(new.isComplete)
        new["title"] = "Hi"
        rig.transport.answer(created("2"))
        new = try await rig.client.save(new)
        #expect(new.isComplete)
        #expect(try await rig.client.fetchIfNeeded(new) == new)
        #expect(rig.transport.requests.count == 2)
    }

    @Test("Objects that came along stay where they are, and are complete unless fields of theirs were named")
    func included() async throws {
        let rig = try ClientRig()
        let author = #"{"__type":"Object","className":"Author","objectId":"a1","name":"Ann"}"#
        let answer = #"{"results":[{"objectId":"1","createdAt":"\#(testTime)","author":\#(author)}]}"#
        rig.transport.answer(json: answer)
        let query = MaxLeapQuery("Post").including("author")
        let post = try #require(try await rig.client.find(query.selecting("author")).first)
        rig.transport.answer(
            json: #"{"objectId":"1","createdAt":"\#(testTime)","title":"Hi","author":{"__type":"Pointer","#
                + #""className":"Author","objectId":"a1"}}"#)
        let whole = try await rig.client.fetchIfNeeded(post)
        guard case .object(let known)? = whole["author"] else {
            Issue.record("the author is \(String(describing: whole["author"]))")
            return
        }
        #expect(known["name"] == "Ann" && known.isComplete && whole["title"] == "Hi")
        rig.transport.answer(json: answer)
        let part = try await rig.client.find(query.selecting("author.name")).first
        guard case .object(let partial)? = part?["author"] else { return }
        #expect(!partial.isComplete)
    }
}
