import type { JsonObject } from './json.ts'
import type { KubeObject } from './kube-object.ts'

export interface ResourceDefinition {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly namespaced?: boolean
  readonly labels?: Readonly<Record<string, string>>
  /** The first is the one that is stored. */
  readonly versions: readonly ResourceVersion[]
}

export interface ResourceVersion {
  readonly name: string
  readonly description: string
  /** Beside `apiVersion`, `kind` and `metadata`. */
  readonly properties: JsonObject
  readonly required?: readonly string[]
  /** `x-kubernetes-validations` of the whole object. */
  readonly rules?: readonly JsonObject[]
  readonly columns: readonly JsonObject[]
  readonly scale?: JsonObject
}

/** On what we install. */
export const partOfUs: Readonly<Record<string, string>> = { 'app.kubernetes.io/part-of': 'cofferdam' }

/** A CustomResourceDefinition, every version with a status of its own. */
export function buildResourceDefinition(definition: ResourceDefinition): KubeObject {
  const { group, kind, plural, shortNames = [], namespaced = true, labels, versions } = definition
  const built = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(labels === undefined ? {} : { labels }) },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames }),
      },
      versions: versions.map((version, index) => buildVersion(version, index === 0)),
    },
  }
  return built
}

function buildVersion(
  { name, description, properties, required, rules, columns, scale }: ResourceVersion,
  storage: boolean,
) {
  const text = { type: 'string' }
  return {
    name,
    served: true,
    storage,
    subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
    additionalPrinterColumns: columns,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description,
        ...(required === undefined ? {} : { required }),
        ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
        properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...properties },
      },
    },
  }
}
