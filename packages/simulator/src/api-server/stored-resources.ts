import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceCatalogue } from './resource-definition.ts'

/** One way to reach each kind of object that is stored, by storage key: its storage version where that is served. */
export function storedResources(catalogue: ResourceCatalogue): ReadonlyMap<string, ResourceType> {
  const stored = new Map<string, ResourceType>()
  for (const { type, storageKey, storageVersion, strategy } of catalogue.all()) {
    if (strategy.answer !== undefined) continue
    if (!stored.has(storageKey) || type.version === storageVersion) stored.set(storageKey, type)
  }
  return stored
}
