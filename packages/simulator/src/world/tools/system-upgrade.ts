import { createHash } from 'node:crypto'
import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type UpgradePlan, upgradePlans } from '@cofferdam/kubernetes/api/kinds/system-upgrade.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { appliedLabel, buildUpgradeJob, hostnameOf, nodeLabel, planLabel } from './upgrade-job.ts'

/**
 * Rancher's system-upgrade-controller: for each Plan a Job on as many nodes at a time as its concurrency allows. A node whose Job has succeeded is
 * labelled with the hash of the Plan and uncordoned. A Job that fails for good keeps its place until it is removed, and is made anew then.
 */
export function startSystemUpgrade(ports: ActorPorts): Actor {
  const tools = openTools('system-upgrade-controller', ports)
  const planView = tools.views.of(upgradePlans)
  const nodeView = tools.views.of(nodes)
  const jobView = tools.views.of(jobs)
  const queue = tools.queue({ needs: [planView, nodeView, jobView], work: reconcile, concurrency: 1 })

  async function reconcile(key: string): Promise<void> {
    const plan = planView.get(key)
    if (plan === undefined) return
    const resolved = await resolve(plan)
    for (const job of jobsOf(resolved)) await concludeJob(resolved, job)
    const chosen = selectNodes(resolved)
    const applying = chosen.map(hostnameOf)
    // First they are on record, then they run: so there are never more than the Plan allows.
    for (const node of chosen) await keepJob(resolved, node)
    await report(resolved, applying)
  }

  async function resolve(plan: UpgradePlan): Promise<UpgradePlan> {
    const latestVersion = (plan.spec.version ?? '').replaceAll('+', '-')
    const hash = createHash('sha224')
      .update(latestVersion)
      .update(plan.spec.serviceAccountName ?? '')
    const status = { ...plan.status, latestVersion, latestHash: hash.digest('hex') }
    return isSameJson(status, plan.status ?? {}) ? plan : writeStatus(tools, upgradePlans, plan, status)
  }

  function jobsOf({ metadata }: UpgradePlan): Job[] {
    return [...jobView.values()].filter(
      (job) => job.metadata.namespace === metadata.namespace && job.metadata.labels?.[planLabel] === metadata.name,
    )
  }

  function selectNodes(plan: UpgradePlan): Node[] {
    const { nodeSelector = {}, concurrency = 0 } = plan.spec
    const { applying = [], latestHash = '' } = plan.status ?? {}
    const left = [...nodeView.values()].filter(({ metadata }) => {
      const { labels = {} } = metadata
      return isSelected(nodeSelector, labels) && ![latestHash, 'disabled'].includes(labels[appliedLabel(plan)] ?? '')
    })
    const isApplying = (node: Node) => applying.includes(hostnameOf(node))
    const order = (node: Node) =>
      createHash('sha256').update(`${node.metadata.uid}${plan.metadata.uid}${latestHash}`).digest('hex')
    const next = left.filter((node) => !isApplying(node)).sort((a, b) => (order(a) < order(b) ? -1 : 1))
    const running = left.filter(isApplying)
    const chosen = [...running, ...next.slice(0, Math.max(0, concurrency - running.length))]
    return chosen.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  async function keepJob(plan: UpgradePlan, node: Node): Promise<void> {
    const parallelism = plan.status?.applying?.includes(hostnameOf(node)) === true ? 1 : 0
    const wanted = buildUpgradeJob(plan, node, parallelism)
    const job = jobView.get(keyText(keyOf(wanted)))
    if (job === undefined) jobView.record(await tools.api.create(jobs, wanted))
    else if (job.spec.parallelism !== parallelism) {
      const body = { spec: { parallelism } }
      jobView.record(await tools.api.patch(jobs, keyOf(wanted), { type: 'merge', body }))
    }
  }

  async function concludeJob(plan: UpgradePlan, job: Job): Promise<void> {
    const node = nodeView.get(job.metadata.labels?.[nodeLabel] ?? '')
    const hash = job.metadata.labels?.[appliedLabel(plan)] ?? ''
    if (node === undefined || conditionOf(job, 'Complete')?.status !== 'True') return
    if (node.metadata.labels?.[appliedLabel(plan)] === hash) return
    const { unschedulable, ...spec } = node.spec ?? {}
    const isOpened = plan.spec.cordon === true || plan.spec.drain !== undefined
    const labels = { ...node.metadata.labels, [appliedLabel(plan)]: hash }
    const kept = unschedulable === undefined || isOpened ? spec : { ...spec, unschedulable }
    nodeView.record(await tools.api.update(nodes, { ...node, metadata: { ...node.metadata, labels }, spec: kept }))
  }

  async function report(plan: UpgradePlan, applying: readonly string[]): Promise<void> {
    const failed = jobsOf(plan).find((job) => conditionOf(job, 'Failed')?.status === 'True')
    const isOver = applying.length === 0
    const status = isOver ? ('True' as const) : ('False' as const)
    const reason = isOver ? 'Complete' : failed === undefined ? 'SyncJob' : 'JobFailed'
    const lastTransitionTime = timestamp(tools.clock)
    const complete = { type: 'Complete', status, reason, lastTransitionTime }
    const conditions = withCondition(plan.status?.conditions, complete)
    const wanted = { ...plan.status, applying, conditions }
    if (!isSameJson(wanted, plan.status ?? {})) await writeStatus(tools, upgradePlans, plan, wanted)
  }

  const enqueueAll = () => {
    for (const plan of planView.values()) queue.add(keyText(keyOf(plan)))
  }
  tools.onStop(planView.subscribe(({ key }) => queue.add(key)))
  tools.onStop(nodeView.subscribe(enqueueAll))
  tools.onStop(jobView.subscribe(enqueueAll))
  return tools
}
