import Foundation
import StrataAsyncHTTP
import StrataRemote
import Testing

/// What carries requests.
enum Carrier: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTP
        case asyncHTTP
    #endif

    func make(maximumBody: Int = 256 << 20) -> any HTTPTransport {
        switch self {
        case .urlSession: URLSessionTransport(maximumBody: maximumBody)
        #if AsyncHTTP
            case .asyncHTTP: AsyncHTTPTransport(maximumBody: maximumBody)
        #endif
        }
    }

    var testDescription: String { rawValue }
}

/// Over real sockets, since the point is what libraries do to requests and answers on their way; and each for all
/// transports, which must not differ in what they promise.
@Suite struct TransportTests {
    private func request(
        _ server: LoopbackServer, _ method: HTTPRequest.Method = .get, _ path: String = "/",
        headers: [String: String] = [:], body: String? = nil
    ) -> WireRequest {
        var head = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        return WireRequest(head, body: body.map { Data($0.utf8) })
    }

    @Test(arguments: Carrier.allCases)
    func sendsMethodPathHeadersAndBodyAndReadsTheAnswer(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in
            .http(
                "201 Created", headers: ["Content-Type: application/vnd.stackmob+json", "X-Told: yes"],
                body: #"{"a":1}"#)
        }
        let response = try await carrier.make().send(
            request(
                server, .post, "/user/john%40x%2Ecom?a=it's,b*&c=d%20e",
                headers: ["Accept": "application/vnd.stackmob+json; version=0", "Content-Type": "application/json"],
                body: #"{"b":2}"#), timeout: 10)
        #expect(response.status == 201)
        #expect(response[header: "X-Told"] == "yes")
        #expect(response[header: "content-type"] == "application/vnd.stackmob+json")
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"a":1}"#)
        let seen = try #require(server.requests.first)
        #expect(seen.line == "POST /user/john%40x%2Ecom?a=it's,b*&c=d%20e HTTP/1.1")
        #expect(seen.header("Accept") == "application/vnd.stackmob+json; version=0")
        #expect(seen.header("Content-Type") == "application/json")
        #expect(String(decoding: seen.body, as: UTF8.self) == #"{"b":2}"#)
    }

    @Test(arguments: Carrier.allCases)
    func encodesBracketsOnceAndLeavesWhatIsEncodedAlone(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .http("200 OK", body: "[]") }
        let path = "/user?%5Bor1%5D.age[gt]=25&[or1].[and1].name=a%20b%2Fc"
        _ = try await carrier.make().send(request(server, .get, path), timeout: 10)
        #expect(
            server.requests.first?.line
                == "GET /user?%5Bor1%5D.age%5Bgt%5D=25&%5Bor1%5D.%5Band1%5D.name=a%20b%2Fc HTTP/1.1")
    }

    @Test(arguments: Carrier.allCases, [HTTPRequest.Method.get, .put, .delete, .head])
    func sendsEveryMethod(_ carrier: Carrier, _ method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { _ in .http("200 OK") }
        let body = method == .put ? "{}" : nil
        _ = try await carrier.make().send(request(server, method, "/x", body: body), timeout: 10)
        #expect(server.requests.map(\.line) == ["\(method.rawValue) /x HTTP/1.1"])
    }

    @Test(arguments: Carrier.allCases, [204, 304, 400, 401, 404, 409, 500, 503])
    func anAnswerOfAnyStatusIsNoError(_ carrier: Carrier, _ status: Int) async throws {
        let server = try LoopbackServer { _ in
            let challenge = status == 401 ? ["WWW-Authenticate: MAC realm=\"x\""] : []
            return .http("\(status) Status", headers: challenge, body: status == 204 || status == 304 ? "" : "text")
        }
        let response = try await carrier.make().send(request(server), timeout: 10)
        #expect(response.status == status)
        #expect(server.requests.count == 1)
        if status != 204, status != 304 { #expect(response.body == Data("text".utf8)) }
    }

    @Test(arguments: Carrier.allCases)
    func joinsABodyThatComesInParts(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            return .bytes([Data(head.utf8), Data("3\r\nabc\r\n".utf8), Data("2\r\nde\r\n0\r\n\r\n".utf8)], pause: 0.05)
        }
        let response = try await carrier.make().send(request(server), timeout: 10)
        #expect(response.body == Data("abcde".utf8))
    }

    @Test(arguments: Carrier.allCases, [301, 302, 303, 307, 308])
    func aRedirectIsAnAnswer(_ carrier: Carrier, _ status: Int) async throws {
        let server = try LoopbackServer { _ in .http("\(status) Moved", headers: ["Location: /new"], body: "there") }
        let response = try await carrier.make().send(request(server, .get, "/old"), timeout: 10)
        #expect(response.status == status)
        #expect(response[header: "Location"] == "/new")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: Carrier.allCases)
    func nobodyListensIsUnreachable(_ carrier: Carrier) async throws {
        var server: LoopbackServer? = try LoopbackServer { _ in .silence }
        let request = request(server!)
        server = nil
        await #expect { try await carrier.make().send(request, timeout: 10) } throws: { error in
            (error as? RemoteError)?.kind == .unreachable
        }
    }

    @Test(arguments: Carrier.allCases)
    func aConnectionThatEndsWithoutAnAnswerIsNoAnswer(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .bytes([]) }
        await #expect { try await carrier.make().send(request(server), timeout: 10) } throws: { error in
            (error as? RemoteError)?.kind == .unreachable
        }
    }

    @Test(arguments: Carrier.allCases)
    func aBodyThatIsCutOffIsNoAnswer(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in
            .bytes([Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n[1,2".utf8)])
        }
        await #expect { try await carrier.make().send(request(server), timeout: 10) } throws: { error in
            (error as? RemoteError)?.kind == .unreachable
        }
    }

    @Test(arguments: Carrier.allCases)
    func whatIsNoHTTPIsNoAnswer(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .bytes([Data("220 mail.example.com\r\n".utf8)]) }
        await #expect(throws: RemoteError.self) {
            try await carrier.make().send(request(server), timeout: 10)
        }
    }

    @Test(arguments: Carrier.allCases)
    func silenceIsATimeout(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .silence }
        await #expect { try await carrier.make().send(request(server), timeout: 0.2) } throws: { error in
            (error as? RemoteError)?.kind == .timeout
        }
    }

    @Test(arguments: Carrier.allCases)
    func anAnswerThatNeverEndsIsATimeout(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in
            let head = Data("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)
            return .bytes([head] + Array(repeating: Data("x".utf8), count: 20_000), pause: 0.05)
        }
        await #expect { try await carrier.make().send(request(server), timeout: 0.5) } throws: { error in
            (error as? RemoteError)?.kind == .timeout
        }
    }

    @Test(arguments: Carrier.allCases)
    func aCancelledTaskHangsUp(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .silence }
        let transport = carrier.make()
        let request = request(server)
        let task = Task { try await transport.send(request, timeout: 60) }
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect { try await task.value } throws: { error in
            (error as? RemoteError)?.kind == .cancelled
        }
        while server.ended == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(arguments: Carrier.allCases)
    func aTaskCancelledBeforeSendsNothing(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .http("200 OK") }
        let request = request(server)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await carrier.make().send(request, timeout: 60)
        }
        task.cancel()
        await #expect { try await task.value } throws: { error in
            (error as? RemoteError)?.kind == .cancelled
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: Carrier.allCases)
    func tooLongABodyIsAnError(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { _ in .http("200 OK", body: String(repeating: "x", count: 100_000)) }
        await #expect {
            try await carrier.make(maximumBody: 99_999).send(request(server), timeout: 10)
        } throws: {
            ($0 as? RemoteError)?.kind == .invalidAnswer
        }
        let response = try await carrier.make(maximumBody: 100_000).send(request(server), timeout: 10)
        #expect(response.body.count == 100_000)
    }

    @Test(arguments: Carrier.allCases)
    func sendsALargeBodyWithoutAskingFirst(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { request in .http("200 OK", body: "\(request.body.count)") }
        let body = String(repeating: "0123456789", count: 300_000)
        let response = try await carrier.make().send(request(server, .post, "/", body: body), timeout: 30)
        #expect(String(decoding: response.body, as: UTF8.self) == "3000000")
        let seen = try #require(server.requests.first)
        #expect(seen.body == Data(body.utf8))
        #expect(seen.header("Expect") == nil)
    }

    /// 40 times "hello ", compressed.
    private static let compressed = "H4sIAAAAAAACA8tIzcnJV8gYMSQAnlCUffAAAAA="

    @Test(arguments: Carrier.allCases)
    func takesCompressedAnswers(_ carrier: Carrier) async throws {
        let bytes = try #require(Data(base64Encoded: Self.compressed))
        let server = try LoopbackServer { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n"
            return .bytes([Data(head.utf8) + bytes])
        }
        let response = try await carrier.make().send(request(server), timeout: 10)
        #expect(String(decoding: response.body, as: UTF8.self) == String(repeating: "hello ", count: 40))
        #expect(server.requests.first?.header("Accept-Encoding")?.contains("gzip") == true)
        await #expect {
            try await carrier.make(maximumBody: 239).send(request(server), timeout: 10)
        } throws: {
            ($0 as? RemoteError)?.kind == .invalidAnswer
        }
    }

    @Test(arguments: Carrier.allCases)
    func manyAtOnceEachGetTheirOwnAnswer(_ carrier: Carrier) async throws {
        let server = try LoopbackServer { request in
            .http("200 OK", body: request.line.components(separatedBy: " ")[1])
        }
        let transport = carrier.make()
        let texts = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<40 {
                let request = request(server, .get, "/\(number)")
                group.addTask {
                    (number, String(decoding: try await transport.send(request, timeout: 30).body, as: UTF8.self))
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for number in 0..<40 { #expect(texts[number] == "/\(number)") }
    }

    @Test(arguments: Carrier.allCases, ["", "ftp", "http"])
    func noAddressIsAnInvalidRequest(_ carrier: Carrier, _ scheme: String) async throws {
        let head = HTTPRequest(method: .get, scheme: scheme, authority: scheme == "http" ? "" : "127.0.0.1", path: "/")
        await #expect { try await carrier.make().send(WireRequest(head), timeout: 1) } throws: { error in
            (error as? RemoteError)?.kind == .invalidRequest
        }
    }
}
