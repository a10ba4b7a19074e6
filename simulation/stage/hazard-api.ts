import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, ListQuery, WatchEvent, WatchQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { elderOf, listBehind, watchBehind } from './elder-server.ts'
import { hazardWatch } from './hazard-watch.ts'
import { type HazardPorts, isHit, refusalOf, unreachable } from './hazards.ts'
import { asWrittenBy } from './other-version.ts'

/** The API as a process reaches it while these hazards are in force. */
export function hazardApi(api: KubeApi, ports: HazardPorts): KubeApi {
  const read = async <T>(call: () => Promise<T>): Promise<T> => {
    const refusal = refusalOf(ports)
    if (refusal !== undefined) throw refusal
    const answer = await call()
    if (ports.hazards.some(({ isDead }) => isDead)) throw unreachable()
    return answer
  }
  const write = async <T>(type: ResourceType, call: () => Promise<T>, isChange = false): Promise<T> => {
    const refusal = refusalOf(ports)
    if (refusal !== undefined) throw refusal
    if (isChange && ports.hazards.some(({ conflicts }) => isHit(conflicts, ports)))
      throw new ApiError('Conflict', 'the object has been modified; please apply your changes to the latest version')
    // Who leads is written every other second: a process would die at nothing else.
    const crash = type.plural === 'leases' ? undefined : crashingAt(ports)
    if (crash === 'before') throw unreachable()
    const answer = await call()
    if (crash === 'committed') throw unreachable()
    if (ports.hazards.some(({ lostReplies }) => isHit(lostReplies, ports))) throw unreachable()
    return answer
  }
  return {
    get: (...args) => read(() => api.get(...args)),
    list: <T extends KubeObject>(type: ResourceType<T>, query?: ListQuery) =>
      read(() => {
        const elder = elderOf(ports)
        return elder === undefined ? api.list(type, query) : listBehind(api, { type, query, elder })
      }),
    watch: <T extends KubeObject>(type: ResourceType<T>, query?: WatchQuery) =>
      hazardWatch((): AsyncIterable<WatchEvent<T>> => {
        const elder = elderOf(ports)
        if (elder === undefined) return api.watch(type, query)
        return watchBehind(api, { type, query, elder, clock: ports.clock })
      }, ports),
    create: (...args) => write(args[0], () => api.create(...args)),
    createSubresource: (...args) => write(args[0], () => api.createSubresource(...args)),
    update: (type, object, options) =>
      write(type as ResourceType, () => api.update(type, asWrittenBy(versionOf(ports), type, object), options), true),
    patch: (...args) => write(args[0], () => api.patch(...args), true),
    delete: (...args) => write(args[0], () => api.delete(...args)),
    deleteCollection: (...args) => write(args[0], () => api.deleteCollection(...args)),
  }
}

function versionOf({ hazards }: HazardPorts) {
  return hazards.map(({ version }) => version).find((version) => version !== undefined)
}

/** Whether the process dies at this write, and where. From then on it is dead. */
function crashingAt({ hazards }: HazardPorts): 'before' | 'committed' | undefined {
  for (const hazard of hazards) {
    const { crash } = hazard
    if (crash === undefined) continue
    if (crash.writesLeft > 0) {
      crash.writesLeft -= 1
      continue
    }
    hazard.crash = undefined
    hazard.isDead = true
    return crash.position
  }
  return undefined
}
