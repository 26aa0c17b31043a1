import Foundation

/// Opens web sockets (RFC 6455), for servers that push changes.
///
///     let request = try WireRequest(.get, authority: "notes.example", path: "/live")
///     let socket = try await sockets.open(request, timeout: 10)
///     for await text in socket.messages { print(text) }
///
/// Use one to write a ``ServerChangeFeed``. `AsyncWebSocketTransport` of `StrataAsyncHTTP` (trait `AsyncHTTP`) implements it on
/// all platforms. Implement it for another library, or in tests. Frames, masks, pings and fragments are the implementation's
/// work; only whole texts are passed on.
public protocol WebSocketTransport: Sendable {
    /// Opens a connection.
    /// - Parameters:
    ///   - request: Address and headers; schemes `ws` and `http` are plain, `wss` and `https` go by TLS.
    ///   - timeout: How many seconds to wait for it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout`` or
    ///   ``RemoteError/Kind/cancelled``, and of ``RemoteError/Kind/invalidAnswer`` if the server speaks no web sockets there.
    func open(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> any WebSocketConnection
}

/// A web socket that is open: sends texts, and gives those that arrive.
///
///     try await socket.send(#"{"op": "subscribe"}"#)
///     for await text in socket.messages { print(text) }
///     socket.close()
///
/// ``WebSocketTransport/open(_:timeout:)`` returns it. Iterate over ``messages`` once; the sequence ends when the connection
/// does, for whatever reason, and the reader then opens another one. ``close()`` may be called at any time and more than once.
public protocol WebSocketConnection: Sendable {
    /// The texts that come. Iterate over it once. It ends with the connection.
    var messages: AsyncStream<String> { get }
    /// Sends a text.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable`` if the connection has ended.
    func send(_ text: String) async throws(RemoteError)
    /// Ends the connection.
    func close()
}
