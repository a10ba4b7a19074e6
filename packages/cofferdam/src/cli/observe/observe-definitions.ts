import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'

export interface DefinitionState {
  /** `nodedisruptions.cofferdam.io` */
  readonly name: string
  /** `differs`: it is of another version than this program. */
  readonly state: 'same' | 'differs' | 'missing' | 'unknown'
}

/** Whether the cluster has our CustomResourceDefinitions, and whether their schemas are those of this program. */
export async function observeDefinitions(
  { api, signal }: { readonly api: Pick<KubeApi, 'get'>; readonly signal: AbortSignal },
  notSeen: string[],
): Promise<readonly DefinitionState[]> {
  return Promise.all(
    buildCustomResourceDefinitions().map(async (ours): Promise<DefinitionState> => {
      const { name } = ours.metadata
      const refused: string[] = []
      const read = () => api.get(customResourceDefinitions, { name }, { signal })
      const found = await ifAllowed(`customresourcedefinition ${name}`, refused, read)
      notSeen.push(...refused)
      if (found === undefined) return { name, state: refused.length === 0 ? 'missing' : 'unknown' }
      return { name, state: isSameDefinition(found, ours) ? 'same' : 'differs' }
    }),
  )
}

/** Compares what objects are checked and printed by; servers add defaults to the rest. */
export function isSameDefinition(found: KubeObject, ours: KubeObject): boolean {
  return comparable(versionsOf(found)) === comparable(versionsOf(ours))
}

function versionsOf(definition: KubeObject): unknown {
  const { versions = [] } = (definition as { readonly spec?: { readonly versions?: readonly Version[] } }).spec ?? {}
  return versions.map(({ name, schema, additionalPrinterColumns = [] }) => [name, schema, additionalPrinterColumns])
}

interface Version {
  readonly name?: unknown
  readonly schema?: unknown
  readonly additionalPrinterColumns?: unknown
}

/** The same text for the same content: keys are sorted, and what servers leave out because it says nothing is left out. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    const fields = Object.entries(part).filter(([, field]) => field !== false && field !== '' && field !== null)
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
