import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, events, jobs, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type DisruptionLedger, disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { CephControls } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { daemonName } from './drainer.ts'
import { isOsd, osdOf, versionOf } from './osd-update-oracle.ts'
import type { Trace } from './trace.ts'

/** What ceph-drain says of failure domains, each time an OSD goes or comes. */
const ofDrains = /may go|must stay|to protect|drained|is held/

/** Tells of what the CephCluster wants, of OSDs, who holds the storage, and what the operator says, in the order of the API server. */
export function recordOsdUpdates(views: Views, namespace: string, { tell }: Pick<Trace, 'tell'>): () => void {
  // A view first tells what it holds already.
  let isRelevant = false
  const each = <T>(say: (before: T | undefined, after: T | undefined) => readonly string[]) => {
    return ({ before, after }: { before: T | undefined; after: T | undefined }) => {
      if (isRelevant) for (const line of say(before, after)) tell(line)
    }
  }
  const ends = [
    views.of(cephClusters).subscribe(each(clusterLines)),
    views.of(deployments).subscribe(each((before, after) => deploymentLines(before, after, namespace))),
    views.of(jobs).subscribe(each(jobLines)),
    views.of(pods).subscribe(each((before, after) => podLines(before, after, namespace))),
    views.of(nodes).subscribe(each(nodeLines)),
    views.of(disruptionLedgers).subscribe(each(ledgerLines)),
    views.of(nodeDisruptions).subscribe(each(disruptionLines)),
    views.of(events).subscribe(each(eventLines)),
  ]
  isRelevant = true
  return () => {
    for (const end of ends) end()
  }
}

/** Tells when Ceph has an OSD up or down, and when placement groups can be reached or not. Call it after each step. */
export function recordCephTruth(ceph: Pick<CephControls, 'truth'>, { tell }: Pick<Trace, 'tell'>): () => void {
  let was = ceph.truth()
  return () => {
    const is = ceph.truth()
    for (const osd of [...was.serving].sort((a, b) => a - b))
      if (!is.serving.has(osd)) tell(`osd.${osd} serves no more`)
    for (const osd of [...is.serving].sort((a, b) => a - b)) if (!was.serving.has(osd)) tell(`osd.${osd} serves`)
    was = is
  }
}

function clusterLines(before: CephCluster | undefined, after: CephCluster | undefined): string[] {
  if (before === undefined) return []
  if (after === undefined) return ['the CephCluster is gone']
  const imageOf = ({ spec }: CephCluster) => spec?.cephVersion?.image ?? ''
  const isNewImage = imageOf(before) !== imageOf(after)
  const isNewDeletion = before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp
  return [
    ...(isNewImage ? [`the CephCluster wants ${imageOf(after).split(':').at(-1)}`] : []),
    ...(isNewDeletion ? ['the CephCluster is being deleted'] : []),
  ]
}

function deploymentLines(before: Deployment | undefined, after: Deployment | undefined, namespace: string): string[] {
  const one = after ?? before
  if (one === undefined || !isOsd(one, namespace)) return []
  const name = `osd.${osdOf(one)}`
  if (before === undefined) return [`${name} is made with ${versionOf(one)}`]
  if (after === undefined) return [`${name} is no more`]
  return versionOf(before) === versionOf(after) ? [] : [`${name} is to run ${versionOf(after)}`]
}

function jobLines(before: Job | undefined, after: Job | undefined): string[] {
  const prefix = 'rook-ceph-osd-prepare-'
  const { name } = (after ?? before)?.metadata ?? { name: '' }
  if (!name.startsWith(prefix)) return []
  return before === undefined ? [`${name.slice(prefix.length)} is being prepared`] : []
}

function podLines(before: Pod | undefined, after: Pod | undefined, namespace: string): string[] {
  const pod = after ?? before
  if (pod === undefined || !isOsd(pod, namespace)) return []
  const name = `the pod of ${daemonName(pod)}`
  if (after === undefined) return []
  if (before !== undefined && isActive(before) && !isActive(after)) return [`${name} is told to go`]
  const [was, is] = [before !== undefined && isReady(before), isReady(after)]
  if (was === is || !isActive(after)) return []
  return [is ? `${name} is ready on ${after.spec.nodeName}` : `${name} is no longer ready`]
}

function nodeLines(before: Node | undefined, after: Node | undefined): string[] {
  if (before === undefined || after === undefined) return []
  const [was, is] = [before.spec?.unschedulable === true, after.spec?.unschedulable === true]
  return was === is ? [] : [`${after.metadata.name} is ${is ? 'cordoned' : 'open again'}`]
}

function ledgerLines(before: DisruptionLedger | undefined, after: DisruptionLedger | undefined): string[] {
  const held = (ledger: DisruptionLedger | undefined) =>
    (ledger?.status?.entries ?? [])
      .filter(({ key }) => key.startsWith('storage/'))
      .map(
        ({ scope, holder, requestId }) => `${scope === '' ? 'all' : scope} of the storage for ${holder || requestId}`,
      )
  const [had, has] = [held(before), held(after)]
  return [
    ...had.filter((line) => !has.includes(line)).map((line) => `given back: ${line}`),
    ...has.filter((line) => !had.includes(line)).map((line) => `held: ${line}`),
  ]
}

function disruptionLines(before: NodeDisruption | undefined, after: NodeDisruption | undefined): string[] {
  const [was, is] = [before?.status?.phase, after?.status?.phase]
  return was === is || is === undefined ? [] : [`the request for ${after?.spec.nodeName} is ${is}`]
}

function eventLines(before: Event | undefined, after: Event | undefined): string[] {
  if (before !== undefined || after?.source?.component !== 'cofferdam') return []
  const { involvedObject, reason, message = '' } = after
  return involvedObject.kind === 'CephCluster' && !ofDrains.test(message) ? [`told: ${reason}, ${message}`] : []
}
