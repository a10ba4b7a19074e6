import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'

/** The same API, but one collection is first read after a while: as after a start, with a server that is busy. */
export function lateApi(
  { api, clock }: { readonly api: KubeApi; readonly clock: Clock },
  late: { readonly type: ResourceType<KubeObject>; readonly labelSelector?: string; readonly seconds: number },
): KubeApi {
  const untilMs = clock.now() + late.seconds * 1_000
  const isLate = (type: ResourceType<KubeObject>, query: { readonly labelSelector?: string } = {}) =>
    type.plural === late.type.plural &&
    type.group === late.type.group &&
    (late.labelSelector === undefined || query.labelSelector === late.labelSelector)
  const wait = (signal?: AbortSignal) => sleep(clock, Math.max(0, untilMs - clock.now()), signal)
  return changedApi(api, {
    async list(type, query) {
      if (isLate(type, query)) await wait(query?.signal)
      return api.list(type, query)
    },
    async *watch(type, query) {
      if (isLate(type, query)) await wait(query?.signal)
      yield* api.watch(type, query)
    },
  })
}
