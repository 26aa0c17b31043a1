import Strata

// What the plug-in generates for classes that are not written by hand.

extension ObjectKeys where Object == Book {
    var title: AttributeKey<String> { AttributeKey(path, "title") }
    var pages: AttributeKey<Int32> { AttributeKey(path, "pages") }
    var author: ToOneKey<ObjectKeys<Author>> { ToOneKey(path, "author") }
    /// As if the title were optional.
    var anyTitle: AttributeKey<String?> { AttributeKey(path, "title") }
    var nothing: AttributeKey<String?> { AttributeKey(path, "nothing") }
}

extension ObjectKeys where Object == Tag {
    var label: AttributeKey<String> { AttributeKey(path, "label") }
}
