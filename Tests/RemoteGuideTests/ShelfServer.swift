import Foundation
import StrataRemote
import StrataStore

/// The service of the guide, in memory and without a network.
///
///     GET    /                                        200 {}
///     GET    /City                                    200 [{"id": "1", "rev": 3, …}, …]
///     GET    /City?id=1&id=2                          200, those that exist
///     GET    /City?since=41&limit=500                 200 {"changed": […], "deleted": ["7"], "now": 57, "more": false}, or 410
///     PUT    /City/1   If-None-Match: *   {…}         201 {…}, or 412 with the object that exists
///     PATCH  /City/1   If-Match: "3"      {…}         200 {…}, or 412 with the object, or 404
///     DELETE /City/1   If-Match: "3"                  204, or 412 with the object, or 404
final class ShelfServer: HTTPTransport {
    private struct State {
        /// The objects by entity and id, and the revisions at which others were deleted.
        var objects: [String: [String: JSONObject]] = [:]
        var deleted: [String: [String: Int64]] = [:]
        var revision: Int64 = 0
    }

    private let state = Guarded(State())

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let (status, json) = state.withLock { answer(request, &$0) }
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            body: json.flatMap { try? $0.data() } ?? Data())
    }

    private func answer(_ request: WireRequest, _ state: inout State) -> (Int, JSONValue?) {
        let target = (request.head.path ?? "/").split(separator: "?", maxSplits: 1)
        let path = target[0].split(separator: "/").compactMap { PercentEncoding.decode($0) }
        let parameters = target.count > 1 ? QueryParameters.read(target[1]) ?? [] : []
        guard let entity = path.first else { return (200, [:]) }
        if request.head.method == .get { return list(entity, parameters, state) }
        guard path.count == 2 else { return (405, [:]) }
        let body = (request.body.flatMap { try? JSONValue(parsing: $0) })?.members ?? [:]
        return write(request, entity, path[1], body, &state)
    }

    private func list(
        _ entity: String, _ parameters: [QueryParameters.Parameter], _ state: State
    ) -> (Int, JSONValue?) {
        let objects = state.objects[entity] ?? [:]
        guard let since = parameters.first(where: { $0.name == "since" })?.value else {
            let ids = parameters.isEmpty ? Array(objects.keys) : parameters.map(\.value)
            return (200, .array(ids.compactMap { objects[$0] }.map { .object($0) }))
        }
        guard let since = Int64(since), (0...state.revision).contains(since) else { return (410, [:]) }
        let limit = parameters.first { $0.name == "limit" }.flatMap { Int($0.value) } ?? 500
        var news = objects.values.map {
            (revision: $0["rev"]?.integer ?? 0, id: "", object: JSONValue?.some(.object($0)))
        }
        news += (state.deleted[entity] ?? [:]).map { ($0.value, $0.key, nil) }
        news = news.filter { $0.revision > since }.sorted { $0.revision < $1.revision }
        let page = news.prefix(limit)
        let answer: JSONObject = [
            "changed": .array(page.compactMap(\.object)),
            "deleted": .array(page.filter { $0.object == nil }.map { .string($0.id) }),
            "now": .integer(page.count < news.count ? page.last?.revision ?? since : state.revision),
            "more": .boolean(page.count < news.count),
        ]
        return (200, .object(answer))
    }

    private func write(
        _ request: WireRequest, _ entity: String, _ id: String, _ body: JSONObject, _ state: inout State
    ) -> (Int, JSONValue?) {
        let old = state.objects[entity]?[id]
        if request.head.method != .put, old == nil { return (404, [:]) }
        let tag = request.head.headerFields[.ifMatch] ?? request.head.headerFields[.ifNoneMatch]
        let isAsExpected = tag == "*" ? old == nil : tag == nil || tag == old?["rev"].map { "\"\($0)\"" }
        if !isAsExpected { return (412, old.map { .object($0) } ?? [:]) }
        state.revision += 1
        if request.head.method == .delete {
            state.objects[entity]?[id] = nil
            state.deleted[entity, default: [:]][id] = state.revision
            return (204, nil)
        }
        var object = (old ?? [:]).merging(body)
        object["rev"] = .integer(state.revision)
        state.objects[entity, default: [:]][id] = object
        state.deleted[entity]?[id] = nil
        return (old == nil ? 201 : 200, .object(object))
    }
}
