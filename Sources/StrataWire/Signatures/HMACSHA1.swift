#if Remote
    import Crypto
    import Foundation

    /// Message authentication by HMAC-SHA-1, which the signatures of OAuth 1 and MAC tokens prescribe.
    package enum HMACSHA1 {
        /// The authentication code of a message.
        /// - Parameter key: The key, whose bytes are those of the text in UTF-8.
        package static func code(of message: [UInt8], key: String) -> Data {
            Data(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: Data(key.utf8))))
        }

        /// Whether a code is that of a message. It takes the same time whichever bytes are wrong.
        package static func isCode(_ code: Data, of message: [UInt8], key: String) -> Bool {
            HMAC<Insecure.SHA1>.isValidAuthenticationCode(
                code, authenticating: message, using: SymmetricKey(data: Data(key.utf8)))
        }
    }
#endif
