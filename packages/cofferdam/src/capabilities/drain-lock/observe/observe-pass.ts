import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { mostQueued } from '../../../ledger/rules/queue.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { PassMemory } from '../apply/apply.ts'
import type { PodEvictor } from '../apply/evict.ts'
import { hasFinalizer, parseRequest } from '../apply/record.ts'
import type { Takeovers } from '../controller/takeovers.ts'
import type { PassSnapshot } from '../domain/pass-snapshot.ts'
import { type ObserveDisruptionPorts, observeDisruption } from './observe.ts'

export interface ObservePassPorts extends ObserveDisruptionPorts {
  readonly evictor: Pick<PodEvictor, 'refusals' | 'granted'>
  readonly takeovers: Pick<Takeovers, 'isReplaced'>
  readonly isDryRun?: boolean
  /** How many requests that have not ended are older. */
  aheadOf(name: string): number
}

/** The request as the API server has it or as this pass last wrote it, and all that its next steps depend on. */
export async function observePass(
  ports: ObservePassPorts,
  name: string,
  { memory, signal }: { readonly memory: PassMemory; readonly signal: AbortSignal },
): Promise<PassSnapshot> {
  const object = memory.current ?? (await getRequest(ports, name, signal))
  memory.current = object
  memory.seen = object
  if (object === undefined) return { state: 'gone' }
  if (!hasFinalizer(object)) {
    const request = parseRequest(object)
    const [ahead, nowMs] = [ports.aheadOf(name), ports.clock.now()]
    const isLate = request.deadlineMs !== undefined && nowMs >= request.deadlineMs
    if (ahead >= mostQueued.tickets && !isLate) return { state: 'far', request, ahead, nowMs }
    return { state: 'unprotected', request }
  }
  const { isFresh } = memory
  const { faults, ...seen } = await observeDisruption(ports, object, { isFresh, signal })
  const { request, holder, ledger } = seen
  const { id } = request
  return {
    state: 'protected',
    seen,
    isFresh,
    isReplaced: ledger.known && ports.takeovers.isReplaced(ledger.value, { id, holder }),
    refusals: ports.evictor.refusals(id),
    granted: ports.evictor.granted(id),
    faults,
    isDryRun: ports.isDryRun === true,
  }
}

async function getRequest(
  { api }: Pick<ObservePassPorts, 'api'>,
  name: string,
  signal: AbortSignal,
): Promise<NodeDisruption | undefined> {
  try {
    return await api.get(nodeDisruptions, { name }, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
