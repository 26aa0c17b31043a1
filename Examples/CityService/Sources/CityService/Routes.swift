import Foundation
import Hummingbird
import Strata

/// The service: cities as JSON, and their changes as Server-Sent Events.
func routes(_ store: CityStore) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("cities") { _, _ in try await json(store.cities()) }
    router.post("cities") { request, context in
        let new = try await request.decode(as: NewCity.self, context: context)
        do {
            return try await json(store.save(new), status: .created)
        } catch let error as PersistenceError {
            guard case .validation = error else { throw error }
            throw HTTPError(.badRequest, message: error.description)
        }
    }
    router.delete("cities/:id") { _, context in
        try await store.delete(context.parameters.require("id")) ? HTTPResponse.Status.noContent : .notFound
    }
    // `?limit=2` ends after two events, which is useful with curl and in tests.
    router.get("cities/events") { request, _ in
        let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? .max
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                var sent = 0
                for try await cities in store.updates() {
                    try await writer.write(
                        ByteBuffer(string: "event: cities\ndata: \(String(decoding: cities, as: UTF8.self))\n\n"))
                    sent += 1
                    if sent >= limit { break }
                }
                try await writer.finish(nil)
            })
    }
    return router
}

private func json(_ data: Data, status: HTTPResponse.Status = .ok) -> Response {
    Response(
        status: status, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
}
