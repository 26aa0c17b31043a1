import Foundation

/// What opens web sockets (RFC 6455), for servers that push changes.
public protocol WebSocketTransport: Sendable {
    /// Opens a connection.
    /// - Parameters:
    ///   - request: Address and headers; schemes `ws` and `http` are plain, `wss` and `https` go by TLS.
    ///   - timeout: How many seconds to wait for it.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout`` or
    ///   ``RemoteError/Kind/cancelled``, and of ``RemoteError/Kind/invalidAnswer`` if the server speaks no web sockets there.
    func open(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> any WebSocketConnection
}

/// A web socket that is open.
public protocol WebSocketConnection: Sendable {
    /// The texts that come, once. It ends with the connection.
    var messages: AsyncStream<String> { get }
    /// Sends a text.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable`` if the connection has ended.
    func send(_ text: String) async throws(RemoteError)
    /// Ends the connection.
    func close()
}
