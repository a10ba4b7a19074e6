import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { isRetired } from '@cofferdam/product/capabilities/ceph-drain/domain/retire-budget.ts'
import { cordonMarkOf } from '@cofferdam/product/shared/cordon-mark.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { DeedPorts } from './deeds/deed-kind.ts'
import { observeNoout } from './observe-noout.ts'
import type { Stage } from './stage/open-stage.ts'

const over = ['Completed', 'Rejected']

/** Where people have set `noout`, and where it may be theirs or the operator's. */
export type NooutByHand = Pick<DeedPorts, 'handSet' | 'contested'>

/** What keeps a cluster from being as it should once everybody has gone home; empty: it is. */
export async function observeLeftovers(stage: Stage, flags: NooutByHand): Promise<string[]> {
  const { views, processes, kured, shape } = stage
  const open = [...views.of(nodeDisruptions).values()].filter(({ status }) => !over.includes(status?.phase ?? ''))
  const cordoned = [...views.of(nodes).values()].filter(({ spec }) => spec?.unschedulable === true)
  const signed = [...views.of(nodes).values()].filter((node) => cordonMarkOf(node) !== '')
  const held = [...views.of(disruptionLedgers).values()].flatMap(({ status }) => status?.entries ?? [])
  const marked = [...views.of(podDisruptionBudgets).values()].filter(
    ({ metadata }) => metadata.annotations?.['cofferdam.io/held-by'] !== undefined,
  )
  return [
    ...(processes.running.length < 2 ? ['a replica of the operator is missing'] : []),
    ...open.map(({ metadata, spec, status }) => {
      const waits = (status?.blockedBy ?? []).map(({ object, reason }) => `${reason} of ${object}`)
      return `${metadata.name} for ${spec.nodeName} is ${status?.phase ?? 'new'}: ${waits.join(', ') || 'no reason'}`
    }),
    ...shape.nodes.filter((name) => kured?.isRebootRequired(name)).map((name) => `kured has still to reboot ${name}`),
    ...observeMachineConfigs(stage, open.length > 0),
    ...cordoned.map(({ metadata }) => `${metadata.name} is cordoned`),
    ...signed.map((node) => `${node.metadata.name} says that ${cordonMarkOf(node)} cordoned it`),
    ...held.map(({ key, holder }) => `${key} is held by ${holder}`),
    ...marked.map(({ metadata }) => `the budget ${metadata.name} is marked as held`),
    ...(await observeCephLeftovers(stage, flags)),
  ]
}

/** A pool that is paused for a request chooses no node; what was chosen before goes on. Without one the operator is about to resume it. */
function observeMachineConfigs({ machineConfigs }: Stage, isAnyOpen: boolean): string[] {
  if (machineConfigs === undefined) return []
  if (!isAnyOpen && machineConfigs.pause() === 'paused by cofferdam') return ['a pool is paused for no request']
  const { spec } = machineConfigs.pool()
  const done = spec?.paused === true ? ' Done ' : ` Done ${spec?.configuration?.name}`
  return machineConfigs
    .states()
    .filter((state) => !state.includes(done))
    .map((state) => `OpenShift is not done with ${state}`)
}

async function observeCephLeftovers(stage: Stage, { handSet, contested }: NooutByHand): Promise<string[]> {
  const { ceph, views, description, shape } = stage
  if (ceph === undefined || description.ceph === undefined) return []
  const { namespace, name } = description.ceph
  const budgets = [...views.of(podDisruptionBudgets).values()]
    .filter((budget) => budget.metadata.namespace === namespace && !isRetired(budget))
    .map(({ metadata }) => metadata.name)
  const blocking = budgets.filter((budget) => budget.startsWith('rook-ceph-osd-'))
  const { groups, serving } = ceph.controls.truth()
  const unclean = groups.filter(({ acting, whole }) => whole.length < acting.length).length
  const noout = await observeNoout(stage).catch(() => undefined)
  if (noout === undefined) return ['Ceph does not answer']
  const wanted = views.of(cephClusters).get(`${namespace}/${name}`)?.spec?.cephVersion?.image
  const old = [...views.of(deployments).values()].filter(
    ({ metadata, spec }) =>
      /^rook-ceph-osd-\d+$/.test(metadata.name) &&
      wanted !== undefined &&
      // The disk of a machine that was replaced is in one that spec.storage does not name: its OSD is left alone.
      shape.nodes.includes(spec.template.spec?.nodeSelector?.['kubernetes.io/hostname'] ?? '') &&
      spec.template.spec?.containers.some((container) => container.name === 'osd' && container.image !== wanted),
  )
  return [
    ...(budgets.includes('rook-ceph-osd') ? [] : ['OSDs have no budget']),
    ...blocking.map((budget) => `the budget ${budget} still blocks`),
    ...(serving.size < description.ceph.osds.length ? ['not all OSDs are up'] : []),
    ...(unclean > 0 ? [`${unclean} placement groups are not clean`] : []),
    ...noout
      .filter((bucket) => !handSet.has(bucket) && !contested.has(bucket))
      .map((bucket) => `noout is set on ${bucket}`),
    ...[...handSet]
      .filter((bucket) => !noout.includes(bucket))
      .map((bucket) => `noout of an admin on ${bucket} is gone`),
    ...(old.length > 0 ? [`${old.length} OSDs run an old image`] : []),
  ]
}
