import Foundation
import StrataRemote
import Synchronization

/// The users of Shelf, and the session of the one who is logged in.
final class ShelfUsers: RemoteUsers, RequestAuthorizer {
    private struct Session: Codable {
        var id: String
        var name: String
        var token: String
        var end: Date
    }

    let service = "Shelf"
    let abilities: UserAbilities = [.passwords]
    private let dialect: ShelfDialect
    /// Log-ins are sent without an authorizer.
    private let entrance: HTTPBackend
    private let storage: any SessionStorage
    private let session: Mutex<Session?>

    init(dialect: ShelfDialect, transport: any HTTPTransport, storage: any SessionStorage) throws {
        self.dialect = dialect
        self.storage = storage
        entrance = HTTPBackend(dialect: dialect, transport: transport)
        let kept = try storage.session(named: "shelf")
        session = Mutex(kept.flatMap { try? JSONDecoder().decode(Session.self, from: $0) })
    }

    var currentUser: RemoteUser? { session.withLock { $0.map { RemoteUser(id: $0.id, name: $0.name) } } }

    @discardableResult
    func logIn(_ name: String, password: String) async throws(RemoteError) -> RemoteUser {
        let request = try WireRequest(
            .post, authority: dialect.authority, path: "/login",
            json: ["name": .string(name), "password": .string(password)])
        let response = try await entrance.send(request, options: RequestOptions())
        let json = try response.json(domain: service)
        guard let id = json["id"]?.string, let token = json["token"]?.string, let seconds = json["seconds"]?.double
        else { throw RemoteError(answer: response, domain: service) }
        let user = RemoteUser(id: id, name: name)
        try keep(Session(id: id, name: name, token: token, end: Date.now.addingTimeInterval(seconds - 60)))
        return user
    }

    func logOut() async throws(RemoteError) { try keep(nil) }

    private func keep(_ new: Session?) throws(RemoteError) {
        do {
            if let new {
                try storage.keep(try JSONEncoder().encode(new), named: "shelf")
            } else {
                try storage.forget(named: "shelf")
            }
        } catch {
            throw RemoteError(.invalidRequest, domain: service, message: "\(error)")
        }
        session.withLock { $0 = new }
    }

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        guard let session = session.withLock({ $0 }), session.end > .now else {
            throw RemoteError(.unauthorized, domain: service, message: "the session has ended; log in again")
        }
        var request = request
        request.head.headerFields[.authorization] = "Bearer \(session.token)"
        return request
    }

    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool { false }
}
