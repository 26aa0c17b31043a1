import Foundation

/// The wire format of StackMob: how an application, its users and its objects are spoken of over HTTP.
///
///     let dialect = try StackMobDialect(publicKey: key, apiVersion: "0")
///     let request = try dialect.queryRequest(StackMobQuery("city").where("capital", .equal, true))
///     print(request.head.method, request.head.path ?? "")  // GET /city?capital=true
///
/// It is a value without state: it makes requests and reads answers, without input or output. Change its settings in a
/// ``StackMobConfiguration``. A dialect of its own does not require HTTPS for other hosts; the configuration's does.
///
/// ## Extensions
///
/// StackMob itself has neither conditional nor repeatable writes, and no incremental pull. With ``usesExtensions`` the
/// dialect makes use of what `strata-server` adds; no plain StackMob server knows these:
///
/// - `Idempotency-Key: <UUID>` on writes: one that was carried out before is not carried out again, and answered as it
///   was then.
/// - `If-Match: "<lastmoddate>"` on PUT and DELETE of an object: if the object's `lastmoddate` (milliseconds) is another,
///   nothing is done, and the answer is 412 with the server's object as body, or 404 if it is gone.
/// - `GET /_changes/<schema>?since=<cursor>&limit=<n>`, with conditions as further parameters: objects that changed since
///   the cursor, `{"objects": […], "deleted": ["id", …], "next": "<cursor>", "more": true}`. Without `since` it begins
///   with all objects. There is always a `next`.
/// - `POST /_batch` with `{"requests": [{"method", "path", "headers", "body"}, …]}`, answered by
///   `[{"status", "body"}, …]` in order; the requests are independent.
/// - Bytes as base64 text, and composites as JSON objects, as values of attributes.
/// - Primary keys of type `integer64`: the server assigns whole numbers, which are text on the wire (`"17"`). A new object
///   is sent without a key.
///
/// It has one of the stored properties for each setting of the dialect.
public struct StackMobDialect: Sendable {
    /// The host of data requests, with a port if it is not the scheme's own.
    public var host = "api.stackmob.com"
    /// The host of push requests, with a port if it is not the scheme's own.
    public var pushHost = "push.stackmob.com"
    /// Whether data requests go by HTTPS even if they need not.
    public var isSecure = false
    /// Whether data and push requests go by HTTPS to every host but this machine itself. A ``StackMobConfiguration`` turns it
    /// on: without it everybody on the way can read and change objects.
    public var securesRemoteHosts = false
    /// Whether requests that carry passwords or tokens go by HTTPS. Turn it off only for a server on the same machine.
    public var securesCredentials = true
    /// The public key of the application: 36 characters.
    public var publicKey: String
    /// The version of the interface that the application was made for: `0` is development, `1` and more production.
    public var apiVersion: String
    /// The schema of users.
    public var userSchema = "user"
    /// The field of users' names.
    public var userPrimaryKeyField = "username"
    /// The field of users' passwords.
    public var userPasswordField = "password"
    /// The first part of the `User-Agent` header: the version of the library.
    public var sdkVersion = "2.0.0"
    /// The device in the `User-Agent` header.
    public var deviceModel = "Strata"
    /// The version of the operating system in the `User-Agent` header.
    public var systemVersion = "1.0"
    /// The locale in the `User-Agent` header.
    public var localeIdentifier = "en_US"
    /// Whether whole objects carry `createddate` and `lastmoddate` of this side to the server.
    public var sendsLocalTimestamps = false
    /// Whether the server is a `strata-server`; see above.
    public var usesExtensions = false
    /// The model. Needed to read expanded objects and to send new related objects along; without it related objects are
    /// known only by identifier.
    public var model: ManagedObjectModel?

    /// Speaks for an application.
    /// - Throws: ``RemoteError`` if the key has not 36 characters or the version is not a whole number.
    public init(publicKey: String, apiVersion: String = "0", model: ManagedObjectModel? = nil) throws(RemoteError) {
        guard publicKey.count == 36 else {
            throw StackMobError.initialization(
                "the public key of an application has 36 characters, not \(publicKey.count)")
        }
        guard !apiVersion.isEmpty, apiVersion.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw StackMobError.initialization(
                "the API version is a whole number such as 0 or 1, not \"\(apiVersion)\"")
        }
        self.publicKey = publicKey
        self.apiVersion = apiVersion
        self.model = model
    }

    /// `StackMob`.
    public var name: String { "StackMob" }

    /// The value of the `User-Agent` header: `StackMob/2.0.0 (Strata/1.0; en_US;)`.
    public var userAgent: String { "StackMob/\(sdkVersion) (\(deviceModel)/\(systemVersion); \(localeIdentifier);)" }

    /// The value of the `Accept` header.
    public var accept: String { "application/vnd.stackmob+json; version=\(apiVersion)" }

    /// Passwords, keys of sessions, and tokens of other services.
    public var secretNames: Set<String> {
        [
            userPasswordField, "temp_password", "mac_key", "fb_at", "tw_tk", "tw_ts", "gigya_uid", "gigya_sig",
        ]
    }

    /// Whether the schema is that of users.
    public func isUserSchema(_ schema: String) -> Bool { schema == userSchema.lowercased() }
}
