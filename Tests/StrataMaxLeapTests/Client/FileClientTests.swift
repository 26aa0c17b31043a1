import Foundation
import StrataMaxLeap
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct FileClientTests {
    /// Tells what it carries, as the transports of the library do.
    private struct Telling: HTTPTransport {
        let base: any HTTPTransport

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let progress = FileProgress.current
            if let count = request.body?.count {
                progress?.report(TransferProgress(.upload, completed: count, total: count))
            }
            let response = try await base.send(request, timeout: timeout)
            let count = response.body.count
            progress?.report(TransferProgress(.download, completed: count, total: count))
            return response
        }
    }

    private func rig() throws -> ClientRig { try ClientRig { $0.transport = Telling(base: $0.transport) } }

    @Test("An upload and a download tell how far they have come, each in its own direction")
    func progress() async throws {
        let rig = try rig()
        let told = Guarded<[TransferProgress]>([])
        let progress = FileProgress { step in told.withLock { $0.append(step) } }
        rig.transport.answer(json: #"{"name":"zcf-1.png","url":"https://cdn.example.com/1"}"#, status: 201)
        let bytes = Data("12345".utf8)
        let file = try await rig.client.upload(MaxLeapFile(name: "me.png", data: bytes), progress: progress)
        #expect(told.withLock { $0 } == [TransferProgress(.upload, completed: 5, total: 5)])
        told.withLock { $0 = [] }
        rig.transport.answer(body: bytes)
        #expect(try await rig.client.data(of: file, progress: progress) == bytes)
        #expect(told.withLock { $0 } == [TransferProgress(.download, completed: 5, total: 5)])
        // Other requests tell nothing.
        rig.transport.answer(json: #"{"results":[]}"#)
        _ = try await rig.client.find(MaxLeapQuery("A"))
        #expect(told.withLock { $0.count } == 1)
    }

    @Test("A download follows redirects within its host, without keys")
    func redirects() async throws {
        let rig = try rig()
        try rig.logIn()
        rig.transport.answer(status: 302, headers: ["Location": "/y?z=1"])
        rig.transport.answer(body: Data("bytes".utf8))
        let file = MaxLeapFile(name: "a", url: "https://cdn.example.com/x")
        #expect(try await rig.client.data(of: file) == Data("bytes".utf8))
        #expect(rig.paths == ["GET /x", "GET /y?z=1"])
        for request in rig.transport.requests {
            #expect(request.header("X-ML-APIKey") == nil && request.header("X-ML-Session-Token") == nil)
        }
        rig.transport.answer(status: 302, headers: ["Location": "https://elsewhere.example.com/x"])
        await #expect(throws: RemoteError.self) { try await rig.client.data(of: file) }
        #expect(rig.transport.requests.count == 3)
    }

    @Test("A download that fails has a code of the protocol")
    func failures() async throws {
        let rig = try rig()
        rig.transport.answer(status: 404)
        await #expect {
            try await rig.client.data(of: MaxLeapFile(name: "me.png", url: "https://cdn.example.com/x"))
        } throws: { error in
            guard let error = error as? RemoteError else { return false }
            return error.domain == MaxLeapError.domain && error.code == MaxLeapError.objectNotFound.rawValue
                && error.kind == .notFound && error.status == 404 && error.message.contains("me.png")
        }
        await #expect { try await rig.client.data(of: MaxLeapFile(name: "a", data: Data()).uploadedNowhere) } throws: {
            ($0 as? RemoteError)?.code == MaxLeapError.invalidFileName.rawValue
        }
    }
}

extension MaxLeapFile {
    /// The file at an address that is not one of HTTP.
    fileprivate var uploadedNowhere: MaxLeapFile { MaxLeapFile(name: name, url: "ftp://example.com/\(name)") }
}
