import Foundation
import StrataCoreDataModel
import StrataSQLite

/// A Core Data store that has been looked into: what it says about itself, its model, and where everything stands.
struct CoreDataFile: Sendable {
    let database: ViewedDatabase
    let metadata: CoreDataMetadata
    let tables: CoreDataTables
    let source: CoreDataStoreModel
    /// What the model becomes in Strata.
    let conversion: CoreDataConversion
    let map: StoreMap
    let folder: SupportFolder
    private(set) var warnings: [String] = []

    var path: String { database.path }

    init(
        path: String, model: CoreDataModelSource, options: CoreDataStore.Options
    ) throws(StoreError) {
        let database = try ViewedDatabase(path: path, options: options.sqlite)
        self.database = database
        var warnings: [String] = []
        let found = try database.inspect { (connection) throws(StoreError) in
            let tables = try CoreDataTables(connection, path: database.path)
            let metadata = try CoreDataMetadata(connection, path: database.path, warnings: &warnings)
            var finder = ModelFinder(path: database.path, metadata: metadata, tables: tables)
            let source = try finder.find(model, on: connection)
            warnings += finder.warnings
            return (tables, metadata, source)
        }
        (tables, metadata, source) = found
        folder = SupportFolder(storePath: database.path)
        map = StoreMap(model: source.file.model, tables: tables)
        conversion = source.file.converted(
            transformables: .json(transformers: Set(options.transformers.keys)))
        self.warnings = warnings + map.warnings
    }

    /// The model that the store's own model becomes.
    /// - Throws: ``StoreError/incompatibleModel(path:differences:)`` if Strata cannot represent it.
    func convertedModel() throws(StoreError) -> ManagedObjectModel {
        do throws(ModelError) {
            return try conversion.model()
        } catch {
            throw .incompatibleModel(
                path: path,
                differences: error.faults.map { fault in
                    let subject = [fault.entity, fault.property].compactMap(\.self).joined(separator: ".")
                    return subject.isEmpty ? fault.message : "\(subject): \(fault.message)"
                })
        }
    }

    /// The views that show the store as one of a model.
    /// - Throws: ``StoreError/incompatibleModel(path:differences:)`` if the model is not that of the store.
    func views(
        for model: ManagedObjectModel, layout: ViewLayout, mode: ColumnExpression.Mode, schema: String = "main"
    ) throws(StoreError) -> StoreViews {
        let properties = PropertyMap(model: model, source: source.file.model, mapping: conversion.mapping)
        let views = StoreViews(layout: layout, properties: properties, map: map, mode: mode, schema: schema)
        let differences = map.differences + properties.differences + views.differences
        guard differences.isEmpty else { throw .incompatibleModel(path: path, differences: differences) }
        return views
    }
}
