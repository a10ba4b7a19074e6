import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Removal, Trace, TraceSurroundings } from '../../shared/trace.ts'

/** Something of Cofferdam's that was taken off an object, or would be. */
export interface Removed {
  /** `node/worker-a1` */
  readonly object: string
  readonly what: string
}

export interface SweepPorts {
  readonly api: KubeApi
  readonly signal: AbortSignal
  /** Namespaces of all Ceph clusters. */
  readonly cephNamespaces: readonly string[]
  readonly around: TraceSurroundings
}

/** What these traces would remove now; what may not be read is noted. */
export async function findTraces(ports: SweepPorts, traces: readonly Trace[], notSeen: string[]): Promise<Removed[]> {
  const found: Removed[] = []
  for (const trace of traces) {
    for (const object of await objectsOf(ports, trace, notSeen)) {
      const removal = trace.removal(object, ports.around)
      if (removal !== undefined) found.push(removedOf(trace, object, removal))
    }
  }
  return found
}

const againAfterMs = 500

export interface Swept {
  readonly removed: readonly Removed[]
  /** What was still there when the time was used up. */
  readonly left: readonly Removed[]
}

/**
 * Takes everything off, pass by pass, until a pass finds nothing: what another client has changed in between is read again, and what
 * the API server deletes by and by, as kinds with all their objects, is waited for.
 *
 * Guarantees: decided from what is there alone, so after whatever has interrupted it the next one finishes.
 */
export async function sweepTraces(
  ports: SweepPorts & { readonly clock: Clock; readonly deadlineMs: number },
  traces: readonly Trace[],
): Promise<Swept> {
  const { clock, deadlineMs, signal, around } = ports
  const removed: Removed[] = []
  for (;;) {
    const found: { readonly is: Removed; readonly isDone: boolean }[] = []
    for (const trace of traces) {
      for (const object of await objectsOf(ports, trace, [])) {
        const removal = trace.removal(object, around)
        if (removal === undefined) continue
        const isDone = await isPerformed(ports, { trace, object, removal })
        found.push({ is: removedOf(trace, object, removal), isDone })
      }
    }
    if (found.length === 0) return { removed, left: [] }
    removed.push(...found.filter(({ isDone }) => isDone).map(({ is }) => is))
    if (clock.now() >= deadlineMs || signal.aborted) return { removed, left: found.map(({ is }) => is) }
    if (found.some(({ isDone }) => !isDone)) await sleep(clock, againAfterMs, signal)
  }
}

/** Whether it was written; false: the object has changed since it was read. */
async function isPerformed(
  { api, signal }: SweepPorts,
  {
    trace: { type, subresource },
    object,
    removal,
  }: { readonly trace: Trace; readonly object: KubeObject; readonly removal: Removal },
): Promise<boolean> {
  const { uid, deletionTimestamp } = object.metadata
  try {
    if (removal.verb === 'patch') {
      const options = { fieldManager: 'cofferdam', signal, ...(subresource === undefined ? {} : { subresource }) }
      await api.patch(type, keyOf(object), removal.patch, options)
    } else if (deletionTimestamp === undefined) {
      await api.delete(type, keyOf(object), { signal, ...(uid === undefined ? {} : { preconditions: { uid } }) })
    } else return false
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound', 'Conflict')) return false
    throw error
  }
}

async function objectsOf(
  { api, signal, cephNamespaces }: SweepPorts,
  { type, place = {} }: Trace,
  notSeen: string[],
): Promise<readonly KubeObject[]> {
  const what = `${type.plural}${type.group === '' ? '' : `.${type.group}`}`
  const namespaces = place === 'ceph' ? cephNamespaces : [place.namespace]
  const lists = await Promise.all(
    namespaces.map(async (namespace) => {
      const scope = namespace === undefined ? {} : { namespace }
      const name = place === 'ceph' ? undefined : place.name
      if (name !== undefined) {
        const found = await ifAllowed(`${what} ${name}`, notSeen, () => api.get(type, { ...scope, name }, { signal }))
        return found === undefined ? [] : [found]
      }
      return (await ifAllowed(what, notSeen, () => api.list(type, { ...scope, signal })))?.items ?? []
    }),
  )
  return lists.flat()
}

function removedOf({ type }: Trace, object: KubeObject, { says }: Removal): Removed {
  return { object: `${type.kind.toLowerCase()}/${keyText(keyOf(object))}`, what: says }
}
