#if Server
    /// What the user schema answers besides its objects, by the second part of the path. Accounts cannot have these
    /// names.
    enum AccountEndpoint: String {
        case accessToken, refreshToken, logout, loggedInUser, forgotPassword, resetPassword
        case facebookAccessToken, facebookAccessTokenWithCreate
        case twitterAccessToken, twitterLogin, twitterAccessTokenWithCreate
        case gigyaAccessToken
        case createUserWithFacebook, linkUserWithFacebook, unlinkUserFromFacebook
        case postFacebookMessage, getFacebookUserInfo
        case createUserWithTwitter, linkUserWithTwitter, unlinkUserFromTwitter
        case twitterStatusUpdate, getTwitterUserInfo
        case linkUserWithGigya, unlinkUserFromGigya

        /// The methods that are answered.
        var methods: Set<String> {
            switch self {
            // The documentation shows a GET for temporary passwords. A password in a URL ends in logs, so it is not
            // answered.
            case .accessToken, .refreshToken, .facebookAccessToken, .facebookAccessTokenWithCreate,
                .twitterAccessToken, .twitterLogin, .twitterAccessTokenWithCreate, .gigyaAccessToken, .forgotPassword,
                .resetPassword, .createUserWithFacebook, .linkUserWithGigya:
                ["POST"]
            case .logout, .loggedInUser, .getFacebookUserInfo, .getTwitterUserInfo: ["GET"]
            case .linkUserWithFacebook, .postFacebookMessage, .createUserWithTwitter, .linkUserWithTwitter,
                .twitterStatusUpdate:
                ["GET", "POST"]
            case .unlinkUserFromFacebook, .unlinkUserFromTwitter, .unlinkUserFromGigya: ["DELETE"]
            }
        }

        /// The provider that the request is about.
        var provider: SocialProvider? {
            let name = rawValue.lowercased()
            return SocialProvider.allCases.first { name.contains($0.rawValue.lowercased()) }
        }
    }
#endif
