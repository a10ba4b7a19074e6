import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { osdOf } from '../../scenarios/testing/fencing-truth.ts'
import { isOsd } from '../../scenarios/testing/osd-update-oracle.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

/** How long labels may lag behind what runs: evidence is at most a minute old. */
const noticedMs = 75_000

/**
 * S7: a machine carries the label of a Ceph cluster exactly while one of its OSDs runs there. Without it a machine with data may be
 * fenced at any time; with it a dead one is never fenced.
 */
export function watchLabels(
  { ceph, clock, description, views }: Stage,
  { blame }: Blame,
  excuses: Excuses,
): { look(): void } | undefined {
  const { machines } = description
  if (ceph === undefined || description.ceph === undefined || machines === undefined || machines.api === 'none')
    return undefined
  const { namespace, name } = description.ceph
  const labels = [name, `${name}.${namespace}`].map((cluster) => `${fenceLabelPrefix}${cluster}`)
  const machineView = views.of(machineKinds(machines.api).machines)
  /** What is wrong now, and since when. */
  const since = new Map<string, number>()

  /** Kubernetes and Ceph agree on it, or nothing is known. */
  function runsOn(node: string, serving: ReadonlySet<number>): boolean | undefined {
    const osds = [...views.of(pods).values()].filter((pod) => isOsd(pod, namespace) && pod.spec.nodeName === node)
    if (osds.some((pod) => isActive(pod) && isReady(pod) && serving.has(osdOf(pod)))) return true
    return osds.some((pod) => (isActive(pod) && isReady(pod)) || serving.has(osdOf(pod))) ? undefined : false
  }

  function lookAt(sentence: string, isWrong: boolean): void {
    if (!isWrong) {
      since.delete(sentence)
      return
    }
    const atMs = since.get(sentence) ?? clock.now()
    since.set(sentence, atMs)
    if (clock.now() - atMs < noticedMs) return
    blame('S7', sentence)
    since.delete(sentence)
  }

  return {
    look() {
      const isJudged =
        excuses.isAttendedFor(noticedMs) && !['etcd', 'nodes', 'storage'].some((what) => excuses.isMeddledWith(what))
      const { serving } = ceph.controls.truth()
      for (const { metadata, status } of machineView.values()) {
        const runs = runsOn(status?.nodeRef?.name ?? '', serving)
        const carries = labels.some((label) => metadata.labels?.[label] === 'true')
        const isCounted = isJudged && metadata.deletionTimestamp === undefined && status?.nodeRef !== undefined
        lookAt(`${metadata.name} lacks its label while an OSD runs there`, isCounted && runs === true && !carries)
        lookAt(`${metadata.name} has its label while no OSD runs there`, isCounted && runs === false && carries)
      }
    },
  }
}
