import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceCatalogue, ResourceDefinition } from '../resource-definition.ts'
import { subresourcesOf, verbsOf } from './served-verbs.ts'

export interface ServedGroup {
  readonly group: string
  /** The preferred version first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceDefinition[] }[]
}

/** The groups as discovery lists them: the core group first, then built-in before custom, each by name. */
export function servedGroups(catalogue: ResourceCatalogue): readonly ServedGroup[] {
  const byGroup = new Map<string, Map<string, ResourceDefinition[]>>()
  for (const definition of catalogue.all()) {
    const { group, version } = definition.type
    const versions = byGroup.get(group) ?? new Map<string, ResourceDefinition[]>()
    byGroup.set(group, versions)
    versions.set(version, [...(versions.get(version) ?? []), definition])
  }
  const isCustom = (group: string) =>
    [...(byGroup.get(group)?.values() ?? [])].every((all) => all[0]?.origin === 'custom')
  return [...byGroup]
    .sort(([left], [right]) => Number(isCustom(left)) - Number(isCustom(right)) || (left < right ? -1 : 1))
    .map(([group, versions]) => ({
      group,
      versions: [...versions]
        .sort(([left], [right]) => compareVersions(left, right))
        .map(([version, resources]) => ({
          version,
          resources: resources.toSorted((left, right) => (left.type.plural < right.type.plural ? -1 : 1)),
        })),
    }))
}

/** Released before beta before alpha, newer first within each, as Kubernetes ranks versions. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [rankOf(left), rankOf(right)]
  for (let index = 0; index < a.length; index += 1) {
    const difference = (b[index] as number) - (a[index] as number)
    if (difference !== 0) return difference
  }
  return left < right ? -1 : left > right ? 1 : 0
}

function rankOf(version: string): readonly number[] {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version)
  if (!match) return [0, 0, 0]
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1
  return [stage, Number(match[1]), Number(match[3] ?? 0)]
}

export function apiVersionsDocument(address: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  }
}

export function groupListDocument(groups: readonly ServedGroup[]): JsonObject {
  const named = groups.filter(({ group }) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupEntry) }
}

export function groupDocument(served: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(served) }
}

function groupEntry({ group, versions }: ServedGroup) {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: entries, preferredVersion: entries[0] as { groupVersion: string; version: string } }
}

export function resourceListDocument(group: string, version: string, all: readonly ResourceDefinition[]): JsonObject {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: all.flatMap((definition) => [resourceEntry(definition), ...subresourceEntries(definition)]),
  }
}

function resourceEntry(definition: ResourceDefinition): JsonObject {
  const { type, singular, shortNames, categories } = definition
  return {
    name: type.plural,
    singularName: singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: verbsOf(definition),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  }
}

function subresourceEntries(definition: ResourceDefinition): JsonObject[] {
  const { type } = definition
  return subresourcesOf(definition).map(({ name, group, version, kind, verbs }) => ({
    name: `${type.plural}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...(group === type.group && version === type.version ? {} : { group, version }),
    kind,
    verbs,
  }))
}

/** All of it in one document, which newer clients ask for. */
export function aggregatedDocument(groups: readonly ServedGroup[], version: 'v2' | 'v2beta1'): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map((served) => ({
        version: served.version,
        resources: served.resources.map(aggregatedEntry),
        freshness: 'Current',
      })),
    })),
  }
}

function aggregatedEntry(definition: ResourceDefinition): JsonObject {
  const { type, singular, shortNames, categories } = definition
  const subresources = subresourcesOf(definition).map(({ name, group, version, kind, verbs }) => ({
    subresource: name,
    responseKind: { group, version, kind },
    verbs,
  }))
  return {
    resource: type.plural,
    responseKind: { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(definition),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
