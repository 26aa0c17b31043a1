import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

@Suite struct AzureClientTests {
    private let transport = ScriptedTransport()
    private let storage = MemorySessionStorage()

    private func client(
        _ version: AzureVersion = .mobileApps, _ change: (inout AzureConfiguration) -> Void = { _ in }
    ) throws -> AzureClient {
        var configuration = try AzureConfiguration(
            "https://notes.example", version: version, applicationKey: version == .mobileServices ? "key" : nil)
        configuration.transport = transport
        configuration.sessionStorage = storage
        configuration.applicationName = "Tests"
        change(&configuration)
        return AzureClient(configuration)
    }

    private func failure<Result>(
        _ body: () async throws(AzureFailure) -> Result
    ) async -> AzureFailure? {
        do throws(AzureFailure) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("The difference to the server's clock is learned", arguments: AzureVersion.allCases)
    func clock(version: AzureVersion) async throws {
        let clock = VirtualClock()
        let backend = try client(version) { $0.clock = clock }.backend
        transport.answer(json: "{}", headers: ["Date": "Tue, 14 May 2013 01:00:00 GMT"])
        _ = try await backend.perform(.ping, options: RequestOptions())
        // The clock of the test shows midnight, and the header has whole seconds.
        #expect(abs(backend.clockOffset - 3600) <= 0.5)
    }

    // MARK: Tables

    @Test func rowsAreMadeChangedAndDeleted() async throws {
        let server = AzureTestServer(.mobileApps)
        let notes = try client { $0.transport = server }.table("Note")
        var note = try await notes.insert(["text": "1"])
        let id = try #require(note["id"]?.string)
        #expect(note["version"]?.string == "v1\"")
        note["text"] = "2"
        note = try await notes.update(note)
        #expect(note["version"]?.string == "v2\"")
        #expect(try await notes.read(id: .string(id))["text"] == "2")
        #expect(try await notes.delete(note) == .string(id))
        let missing = await failure { () async throws(AzureFailure) in try await notes.read(id: .string(id)) }
        #expect(missing?.status == 404)
        #expect(missing?.message == "The item does not exist")
    }

    @Test func aConflictTellsRequestAnswerAndItem() async throws {
        transport.answer(json: #"{"id":"a","text":"theirs","version":"2"}"#, status: 412)
        let notes = try client().table("Note")
        let error = await failure { () async throws(AzureFailure) in
            try await notes.update(["id": "a", "text": "mine", "version": "1"])
        }
        #expect(error?.code == .preconditionFailed)
        #expect(error?.error.domain == "com.Microsoft.MicrosoftAzureMobile.ErrorDomain")
        #expect(error?.serverItem?["text"] == "theirs")
        #expect(error?.request?.head.headerFields[.ifMatch] == "\"1\"")
        #expect(error?.response?.status == 412)
    }

    @Test func whatCannotBeSentIsNotSent() async throws {
        let notes = try client().table("Note")
        let noID = await failure { () async throws(AzureFailure) in try await notes.update(["text": "x"]) }
        #expect(noID?.code == .missingItemID)
        #expect(noID?.request == nil)
        let number = await failure { () async throws(AzureFailure) in
            try await notes.insert(["size": .double(.infinity)])
        }
        #expect(number?.code == .invalidItem)
        #expect(number?.message.contains("$.size") == true)
        let parameter = await failure { () async throws(AzureFailure) in
            try await notes.insert(["text": "x"], parameters: ["$top": 1])
        }
        #expect(parameter?.code == .invalidUserParameter)
        #expect(transport.requests.isEmpty)
    }

    @Test func pagesTellTheNumberOfAllAndLeadOn() async throws {
        let server = AzureTestServer(.mobileApps)
        let notes = try client { $0.transport = server }.table("Note")
        for number in 0..<5 { try await notes.insert(["number": .integer(Int64(number))]) }
        var query = AzureQuery(try FetchPredicate(format: "number >= 1"))
        query.order("number", ascending: false)
        query.top = 2
        query.skip = 1
        query.columns = ["number"]
        query.includesTotalCount = true
        let rows = try await notes.read(query)
        #expect(rows.items == [["number": 3], ["number": 2]])
        #expect(rows.totalCount == 4)
        transport.answer(json: "[]", headers: ["Link": "https://notes.example/tables/Note?$skip=2; rel=next"])
        transport.answer(json: "[]")
        let table = try client().table("Note")
        let first = try await table.read()
        #expect(first.totalCount == nil)
        #expect(try await table.read(after: first)?.nextLink == nil)
        #expect(transport.requests.last?.head.path == "/tables/Note?$skip=2")
    }

    // MARK: Users

    @Test func usersLogInAreKeptAndLogOut() async throws {
        transport.answer(json: #"{"user":{"userId":"sid:1"},"authenticationToken":"t1"}"#)
        let first = try client()
        let user = try await first.logIn(provider: "facebook", token: ["access_token": "x"])
        #expect(user.id == "sid:1")
        #expect(!"\(user)".contains("t1"))
        let installation = first.configuration.dialect.installationID
        let next = try client()
        #expect(next.session.user == user)
        #expect(next.configuration.dialect.installationID == installation)
        transport.answer(json: #"{"id":"a"}"#)
        _ = try await next.table("Note").read(id: "a")
        let request = try #require(transport.requests.last)
        #expect(request.head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] == "t1")
        next.logOut()
        #expect(try client().session.user == nil)
    }

    @Test func tokensGoToTheApplicationAlone() async throws {
        let client = try client()
        client.session.replace(with: AzureUser(id: "u", token: "secret"))
        let name = try #require(HTTPField.Name("X-ZUMO-AUTH"))
        for link in [
            "https://evil.example/tables/Note", "http://notes.example/tables/Note",
            "https://notes.example.evil.example/", "https://notes.example:8443/",
        ] {
            transport.answer(json: "[]")
            _ = try await client.table("Note").read(query: link)
            #expect(transport.requests.last?.head.headerFields[name] == nil, "\(link)")
        }
    }

    @Test func aRefusedTokenIsRenewedOnceForAll() async throws {
        let client = try client()
        client.session.replace(with: AzureUser(id: "u", token: "old"))
        client.session.onUnauthorized { _ throws(RemoteError) in AzureUser(id: "u", token: "new") }
        let name = try #require(HTTPField.Name("X-ZUMO-AUTH"))
        transport.handle { request in
            request.head.headerFields[name] == "new"
                ? .scripted(json: #"{"id":"a"}"#) : .scripted(json: #"{"error":"expired"}"#, status: 401)
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask { (try? await client.table("Note").read(id: "a"))?["id"] == "a" }
            }
            for await isRead in group { #expect(isRead) }
        }
        #expect(client.session.user?.token == "new")
    }

    @Test func aRefusedRenewalIsTold() async throws {
        let client = try client()
        client.session.replace(with: AzureUser(id: "u", token: "old"))
        transport.answer(json: #"{"error":"no"}"#, status: 401)
        let error = await failure { () async throws(AzureFailure) in try await client.refresh() }
        #expect(error?.code == .refreshUnauthorized)
        #expect(transport.requests.count == 1)
    }

    @Test func aMiddlewareLogsInAgainAndRepeats() async throws {
        let base = try client()
        base.session.replace(with: AzureUser(id: "u", token: "old"))
        let client = base.adding(
            LogInAgain { () async throws(RemoteError) in
                base.session.replace(with: AzureUser(id: "u", token: "new"))
            })
        transport.answer(json: #"{"error":"expired"}"#, status: 401)
        transport.answer(json: #"{"id":"a"}"#)
        #expect(try await client.table("Note").read(id: "a")["id"] == "a")
        let name = try #require(HTTPField.Name("X-ZUMO-AUTH"))
        #expect(transport.requests.map { $0.head.headerFields[name] } == ["old", "new"])
    }

    @Test func middlewareSeesRequestsInItsOrder() async throws {
        struct Mark: HTTPMiddleware {
            let text: String
            func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
                var request = request
                let name = HTTPField.Name("X-Marks")!
                request.head.headerFields[name] = (request.head.headerFields[name] ?? "") + text
                return try await next(request)
            }
        }
        transport.answer(json: "[]")
        let client = try client { $0.middleware = [Mark(text: "b"), Mark(text: "c")] }.adding(Mark(text: "a"))
        _ = try await client.table("Note").read()
        let name = try #require(HTTPField.Name("X-Marks"))
        #expect(transport.requests.last?.head.headerFields[name] == "abc")
    }

    @Test func aPageInTheBrowserEndsWithACode() async throws {
        let client = try client()
        let page = try client.logInPage("facebook", returningTo: "notes")
        #expect(page.url.hasPrefix("https://notes.example/.auth/login/facebook?post_login_redirect_url=notes%3A%2F%2F"))
        #expect(try await client.logIn(page, endedAt: "https://www.facebook.com/") == nil)
        transport.answer(json: #"{"user":{"userId":"u"},"authenticationToken":"t"}"#)
        let user = try await client.logIn(page, endedAt: "notes://easyauth.callback/#authorization_code=c1")
        #expect(user?.token == "t")
        #expect(client.session.user == user)
        let path = try #require(transport.requests.last?.head.path)
        #expect(path.hasPrefix("/.auth/login/facebook/token?authorization_code=c1&code_verifier="))
    }

    @Test func aPageInAWebViewEndsWithTheToken() async throws {
        for version in AzureVersion.allCases {
            let client = try client(version)
            let path = version == .mobileServices ? "login" : ".auth/login"
            let page = try client.logInPage("facebook")
            #expect(page.url == "https://notes.example/\(path)/facebook?session_mode=token")
            #expect(try await client.logIn(page, endedAt: "https://www.facebook.com/") == nil)
            let end = "https://notes.example/\(path)/done"
            let token = #"{"user":{"userId":"u"},"authenticationToken":"t"}"#
            let user = try await client.logIn(page, endedAt: "\(end)#token=\(PercentEncoding.encode(token))")
            #expect(user?.token == "t")
            #expect(client.session.user == user)
            let error = await failure { () async throws(AzureFailure) in
                try await client.logIn(page, endedAt: "\(end)#error=no%20way")
            }
            #expect(error?.code == .loginFailed)
            #expect(error?.message == "no way")
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func aCancelledLogInHasACodeOfItsOwn() async throws {
        let client = try client()
        let page = try client.logInPage("facebook", returningTo: "notes")
        let task = Task { () -> [AzureFailure] in
            while !Task.isCancelled { await Task.yield() }
            var errors: [AzureFailure] = []
            do throws(AzureFailure) {
                try await client.logIn(provider: "facebook", token: ["access_token": "x"])
            } catch {
                errors.append(error)
            }
            do throws(AzureFailure) {
                try await client.logIn(page, endedAt: "notes://easyauth.callback/#authorization_code=c1")
            } catch {
                errors.append(error)
            }
            return errors
        }
        task.cancel()
        let errors = await task.value
        #expect(errors.map(\.code) == [.loginCanceled, .loginCanceled])
        #expect(errors.map(\.error.kind) == [.cancelled, .cancelled])
        #expect(client.session.user == nil)
    }

    @Test func aVersionIsNotAskedForWhatItDoesNotHave() async throws {
        let old = try client(.mobileServices)
        let renewal = await failure { () async throws(AzureFailure) in try await old.refresh() }
        #expect(renewal?.code == .invalidBackendVersion)
        #expect(renewal?.error.kind == .unsupported)
        let page = #expect(throws: RemoteError.self) { try old.logInPage("facebook", returningTo: "notes") }
        #expect(page?.code == AzureError.invalidBackendVersion.rawValue)
        for version in [AzureVersion.mobileApps, .datasync] {
            let new = try client(version)
            let tags = await failure { () async throws(AzureFailure) in
                try await new.push.register(token: Data([1]), tags: ["t"])
            }
            #expect(tags?.code == .invalidBackendVersion)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func theEndOfATokenIsReadFromIt() throws {
        let payload = Data(#"{"exp":1600000000}"#.utf8).base64EncodedString().replacing("=", with: "")
        #expect(
            AzureUser(id: "u", token: "e30.\(payload).x").expiration == Date(timeIntervalSince1970: 1_600_000_000))
        #expect(AzureUser(id: "u", token: "opaque").expiration == nil)
    }

    // MARK: APIs and push

    @Test func customAPIsAnswerWithAnyJSON() async throws {
        let client = try client()
        transport.answer(json: "7")
        transport.answer(status: 204)
        transport.answer(json: #"{"error":"no"}"#, status: 400)
        #expect(try await client.invoke("sum/of", json: [3, 4], parameters: ["x": 1]) == 7)
        #expect(transport.requests.last?.head.path == "/api/sum/of?x=1")
        let nothing = try await client.invoke("nothing", method: "get")
        #expect(nothing == .null)
        #expect(transport.requests.last?.head.method == .get)
        let error = await failure { () async throws(AzureFailure) in try await client.invoke("x") }
        #expect(error?.code == .errorMessage)
        #expect(error?.message == "no")
    }

    @Test func mobileServicesKeepARegistrationForEachTemplate() async throws {
        let client = try client(.mobileServices)
        transport.answer(
            json: #"[{"registrationId":"r1","templateName":"$Default"},{"registrationId":"r2","templateName":"old"}]"#)
        transport.answer(status: 410)
        transport.answer(
            status: 201, headers: ["Location": "https://notes.example/push/registrationids/r3?api=1"])
        transport.answer(status: 204)
        transport.answer(status: 204)
        try await client.push.register(token: Data([0x0A, 0xFF]), tags: ["t"])
        #expect(
            transport.requests.map { "\($0.head.method) \($0.head.path ?? "")" } == [
                "GET /push/registrations?deviceId=0AFF&platform=apns", "PUT /push/registrations/r1",
                "POST /push/registrationids", "PUT /push/registrations/r3", "DELETE /push/registrations/r2",
            ])
    }

    @Test func addressesThatAreNoneAreRefused() {
        for text in ["", "notes.example", "ftp://notes.example", "https://", "https://a b/"] {
            #expect(throws: RemoteError.self) { try AzureAddress(text) }
        }
    }
}
