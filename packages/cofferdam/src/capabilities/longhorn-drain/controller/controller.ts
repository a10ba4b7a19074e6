import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { isBudgetNews } from '../../../ceph/reader/follow-clusters.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { LonghornLook } from '../apply/apply.ts'
import { type AppliedGuidance, applyLonghornGuidance, longhornGuidePermissions, StuckTeller } from '../apply/guide.ts'
import { applyMovingRecords } from '../apply/moving.ts'
import { applyOwnDecision, type OwnPorts } from '../apply/own.ts'
import { withdrawFromLonghorn } from '../apply/refuse.ts'
import { OwnWriteWatch } from '../apply/reverted.ts'
import { failedEvictions } from '../domain/failed-evictions.ts'
import { hasGuidanceMarks, parseGuidanceMarks } from '../domain/guidance-marks.ts'
import { createLonghornJudge } from '../domain/judge.ts'
import { createLonghornParser } from '../domain/parse-longhorn.ts'
import { isBlipping } from '../domain/parse-node.ts'
import { observeLonghorn } from '../observe/observe.ts'
import { LonghornReporter, type LonghornReports } from '../report/report.ts'

const reading: Permission['verbs'] = ['list', 'watch']
const written = { namespace: longhornNamespace, grantedBy: 'longhorn' } as const

export const longhornDrainPermissions: readonly Permission[] = [
  ...longhornGuidePermissions,
  // Read everywhere: whether Longhorn is here at all must be known before anybody grants rights in its namespace.
  { group: 'longhorn.io', resource: 'settings', verbs: reading },
  { group: 'longhorn.io', resource: 'nodes', verbs: reading },
  { group: 'longhorn.io', resource: 'nodes/status', ...written, verbs: ['patch'] },
  { group: 'longhorn.io', resource: 'volumes', verbs: reading },
  { group: 'longhorn.io', resource: 'replicas', verbs: reading },
  { group: 'longhorn.io', resource: 'replicas', ...written, verbs: ['patch', 'delete'] },
  { group: 'longhorn.io', resource: 'engines', verbs: reading },
  { group: 'longhorn.io', resource: 'instancemanagers', verbs: reading },
  { group: 'longhorn.io', resource: 'volumeattachments', verbs: reading },
  { group: 'longhorn.io', resource: 'volumeattachments', ...written, verbs: ['patch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: reading },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: reading },
  { group: '', resource: 'persistentvolumes', verbs: reading },
  { group: '', resource: 'nodes', verbs: reading },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: reading },
  { group: 'policy', resource: 'poddisruptionbudgets', ...written, verbs: ['create', 'delete'] },
  { group: 'apps', resource: 'deployments', ...written, verbs: reading },
  // Also before the rights in its namespace are granted: whether a manager of Longhorn's runs decides who may own drains.
  { group: 'apps', resource: 'daemonsets', verbs: reading },
  { group: '', resource: 'pods', verbs: reading },
  { group: '', resource: 'events', verbs: ['create'] },
]

export type LonghornDrainPorts = Omit<OwnPorts, 'reporter' | 'watch'> & { readonly reports: LonghornReports }

/** Nodes answer for each other, so all of Longhorn is one key, and is decided about by one at a time. */
const everything = longhornNamespace

/** How soon a kubelet that fell silent is looked at again: by then it is more than a blip. */
const blipRecheckSeconds = 15

/** Keeps the budgets of Longhorn's instance managers and moves replicas as the drain policy says, where it is put in charge. */
export function createLonghornDrain(ports: LonghornDrainPorts): Controller {
  const { clock, views } = ports
  const parse = createLonghornParser()
  const judge = createLonghornJudge()
  const reporter = new LonghornReporter(ports.reports)
  const watch = new OwnWriteWatch(ports)
  const owned: OwnPorts = {
    ...ports,
    reporter,
    watch,
    applyBudgets(writes, signal) {
      watch.noteBudgets(writes)
      return ports.applyBudgets(writes, signal)
    },
  }
  const stuck = new StuckTeller(ports.reports)

  return {
    name: 'longhorn-drain',

    async start(enqueue, signal) {
      const follow = <V>(view: WatchView<V>, isNews: (change: ViewChange<V>) => boolean = () => true) => {
        const end = view.subscribe((change) => {
          if (isNews(change)) enqueue(everything)
        })
        signal.addEventListener('abort', end, { once: true })
      }
      const { budgets, ...others } = views
      follow(budgets, (change) => isLonghorns(change) && isBudgetNews(change))
      for (const view of Object.values(others) as WatchView<unknown>[]) follow(view)
      await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
      enqueue(everything)
    },

    async reconcile(_, signal) {
      const objects = observeLonghorn(views, clock.now())
      const snapshot = parse(objects)
      const { mode, refused } = snapshot.settings
      const isGuided = mode === 'guide' || hasGuidanceMarks(parseGuidanceMarks(objects))
      if (mode !== 'guide') stuck.forget()
      if (mode !== 'owner') watch.forget()
      if (mode === 'observe') reporter.forget()
      if (refused === undefined) reporter.forgetOwnerRefused()
      else await reporter.reportOwnerRefused(objects, refused)
      if (mode === 'observe' && !isGuided && refused === undefined) return undefined
      const look = { objects, snapshot, decision: judge.decide(snapshot) }
      const failures: unknown[] = []
      const reverted = mode === 'owner' ? watch.look(look) : []
      if (reverted.length > 0) await watch.tell(objects, reverted, signal)
      if (refused !== undefined) {
        failures.push(...((await attempt(failures, signal, () => withdrawFromLonghorn(ports, look, signal))) ?? []))
      }
      const own =
        mode === 'owner' ? await attempt(failures, signal, () => applyOwnDecision(owned, look, signal)) : undefined
      const told = isGuided ? await attempt(failures, signal, () => guide(look, signal)) : undefined
      failures.push(...(own?.failures ?? []), ...(told?.failures ?? []))
      if (mode !== 'observe') {
        const problems = [...look.decision.problems, ...(own?.problems ?? []), ...(told?.problems ?? [])]
        const failed = new Map([...failedEvictions(snapshot), ...(own?.failedEvictions ?? [])])
        const kept = mode === 'owner' ? look.decision.surplusKept : []
        const surplusKept = new Map(kept.map(({ volume, explanation }) => [volume, explanation]))
        await reporter.report({
          objects,
          nodes: look.decision.nodes,
          problems,
          failedEvictions: failed,
          surplusKept,
        })
      }
      const refusals = failures.filter((error) => hasReason(error, 'Forbidden')).map(({ message }) => message)
      await reporter.reportRefusals(objects, refusals)
      if (failures.length > 0) throw failures[0]
      const stuckSeconds = mode === 'guide' ? await stuck.tell(look) : undefined
      const recheckAfterSeconds = objects.kubeNodes.some(isBlipping) ? blipRecheckSeconds : stuckSeconds
      return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
    },
  }

  /**
   * Longhorn decides; what it decides is told in the words of the same decision. Where it is not guided any more, this
   * only takes back what was changed for it.
   */
  async function guide(look: LonghornLook, signal: AbortSignal): Promise<AppliedGuidance> {
    const { failures, problems } = await applyLonghornGuidance(ports, look, signal)
    const isGuide = look.snapshot.settings.mode === 'guide'
    return { problems, failures: [...failures, ...(isGuide ? await applyMovingRecords(ports, look, signal) : [])] }
  }
}

/** What went wrong is told before it is tried again. */
async function attempt<T>(failures: unknown[], signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw error
    failures.push(error)
    return undefined
  }
}

function isLonghorns(change: ViewChange<PodDisruptionBudget>): boolean {
  const { metadata } = change.type === 'removed' ? change.previous : change.value
  return metadata.namespace === longhornNamespace
}
