import Foundation
import Hummingbird
import ServiceLifecycle

/// The page, and the stream that it listens to.
func routes(_ list: LiveList) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("/") { _, _ in
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }
    router.get("events") { request, _ in
        Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // A reader who leaves ends the stream; so does a server that is told to stop.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for try await event in await list.events().cancelOnGracefulShutdown() {
                        let text = String(decoding: event, as: UTF8.self)
                        try await writer.write(ByteBuffer(string: "data: \(text)\n\n"))
                    }
                }
                try await writer.finish(nil)
            })
    }
    return router
}
