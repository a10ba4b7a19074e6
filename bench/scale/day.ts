import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  addApplicationPod,
  addNode,
  applicationKey,
  applicationPodKey,
  type ClusterSize,
  copiesPerApplication,
  placesOf,
  zoneOf,
} from './fill-cluster.ts'

export const hoursOfDay = 24
/** Some thirty times as many as a day of that length has: an operator is to keep up with it, and its memory to stay what it needs in peace. */
const writesPerSecond = 200

/**
 * What an hour of a busy day does to a cluster, in two minutes. In a day every application is rolled out once, pod by pod, while its budget
 * counts along; every node without storage gives way to a new one of its name; every node reports each hour.
 * Returns how many writes it took.
 */
export async function playHour(api: KubeApi, size: ClusterSize, hour: number): Promise<number> {
  const began = performance.now()
  let writes = 0
  const wrote = async (count: number) => {
    writes += count
    const earlyMs = (writes / writesPerSecond) * 1_000 - (performance.now() - began)
    if (earlyMs > 10) await new Promise((resolve) => setTimeout(resolve, earlyMs))
  }
  const ofThisHour = (count: number) =>
    Array.from({ length: count }, (_, at) => at).filter((at) => at % hoursOfDay === hour % hoursOfDay)
  const { all, ofApplicationsOnly } = placesOf(size)
  for (const [at, name] of all.entries()) {
    const body = {
      status: { conditions: [readyAfter(hour)], nodeInfo: { bootID: name, kubeletVersion: `v1.36.${at % 9}` } },
    }
    await api.patch(nodes, { name }, { type: 'merge', body }, { subresource: 'status' })
    await wrote(1)
  }
  for (const at of ofThisHour(ofApplicationsOnly.length)) {
    const name = ofApplicationsOnly[at] as string
    await api.delete(nodes, { name })
    await addNode(api, name, zoneOf(all.indexOf(name)))
    await wrote(3)
  }
  for (const at of ofThisHour(size.budgets))
    await rollOut(api, size, { at, revision: Math.floor(hour / hoursOfDay), wrote })
  return writes
}

async function rollOut(
  api: KubeApi,
  size: ClusterSize,
  {
    at,
    revision,
    wrote,
  }: { readonly at: number; readonly revision: number; readonly wrote: (count: number) => Promise<void> },
): Promise<void> {
  const expectedPods = copiesPerApplication(size)
  const count = (currentHealthy: number) => {
    const body = { status: { currentHealthy, disruptionsAllowed: Math.max(0, currentHealthy - expectedPods + 1) } }
    return api.patch(podDisruptionBudgets, applicationKey(at), { type: 'merge', body }, { subresource: 'status' })
  }
  await count(expectedPods - 1)
  for (let copy = 0; copy < expectedPods; copy += 1) {
    await api.delete(pods, applicationPodKey({ at, copy, revision }), { gracePeriodSeconds: 0 }).catch(unlessEvicted)
    await addApplicationPod(api, size, { at, copy, revision: revision + 1 })
    await wrote(3)
  }
  await count(expectedPods)
  await wrote(2)
}

function unlessEvicted(error: unknown): void {
  if (!hasReason(error, 'NotFound')) throw error
}

function readyAfter(hour: number) {
  const heard = new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000).toISOString().replace('.000', '')
  return { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', lastHeartbeatTime: heard }
}
