import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import type { Schema } from '../schema/schema.ts'
import type { CustomResourceDefinition, CustomResourceVersion } from './custom-resource-definition.ts'
import { printerColumns } from './printer-columns.ts'

/** The resources that a CustomResourceDefinition makes the server serve: one for each served version. */
export function definitionsOf(crd: KubeObject): ResourceDefinition[] {
  const definition = crd as CustomResourceDefinition
  return definition.spec.versions.filter(({ served }) => served).map((version) => definitionOf(definition, version))
}

function definitionOf({ spec }: CustomResourceDefinition, version: CustomResourceVersion): ResourceDefinition {
  const { group, names, scope, versions } = spec
  const { plural, kind } = names
  const { subresources } = version
  const warning = deprecationWarning(spec, version)
  return {
    type: { group, version: version.name, plural, kind, namespaced: scope === 'Namespaced' },
    listKind: names.listKind ?? `${kind}List`,
    singular: names.singular ?? kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    schema: schemaOf(version),
    origin: 'custom',
    storageKey: `${group}/${plural}`,
    storageVersion: versions.find(({ storage }) => storage)?.name ?? version.name,
    hasStatus: subresources?.status !== undefined,
    ...(subresources?.scale === undefined ? {} : { scale: subresources.scale }),
    postSubresources: [],
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    hasGeneration: true,
    columns: printerColumns(version.additionalPrinterColumns),
    strategy: {
      warn: (next, previous) => [...(warning === undefined ? [] : [warning]), ...finalizerWarnings(next, previous)],
    },
  }
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** New finalizers without a domain are taken, but may be another's too. */
function finalizerWarnings(next: KubeObject, previous: KubeObject | undefined): string[] {
  const before = previous?.metadata.finalizers ?? []
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer))
  return [...new Set(added)]
    .sort()
    .filter((finalizer) => !finalizer.includes('/') && !standardFinalizers.has(finalizer))
    .map((finalizer) => {
      const path = finalizer.includes('.') ? ' including a path (/)' : ''
      const better = `prefer a domain-qualified finalizer name${path}`
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: ${better} to avoid accidental conflicts with other finalizer writers`
    })
}

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function schemaOf({ schema }: CustomResourceVersion): Schema {
  return schema?.openAPIV3Schema ?? anything
}

function deprecationWarning(
  { group, names }: CustomResourceDefinition['spec'],
  { name, deprecated, deprecationWarning: own }: CustomResourceVersion,
): string | undefined {
  return deprecated === true ? (own ?? `${group}/${name} ${names.kind} is deprecated`) : undefined
}
