#if Remote
    import Crypto
    import Foundation

    /// The digest SHA-256 of bytes, as proofs of log-ins have it (RFC 7636, `S256`).
    package enum SHA256Digest {
        /// The 32 bytes of the digest.
        package static func bytes(of message: some Sequence<UInt8>) -> Data { Data(SHA256.hash(data: Data(message))) }
    }
#endif
