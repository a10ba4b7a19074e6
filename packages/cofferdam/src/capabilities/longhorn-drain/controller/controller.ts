import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { ifReadable } from '@cofferdam/kubernetes/informers/if-readable.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { isRelevantBudgetChange } from '../../../ceph/reader/follow-clusters.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { type LonghornApplyPorts, type LonghornMemory, longhornPerformers, newLonghornMemory } from '../apply/apply.ts'
import { longhornClosingPermissions } from '../apply/closing.ts'
import { longhornGuidePermissions, StuckTeller } from '../apply/guide.ts'
import { OwnWriteWatch } from '../apply/reverted.ts'
import type { SelectingDeployment, Sha512Hex } from '../domain/budget-object.ts'
import { decideLonghornPass, type LonghornPass } from '../domain/decide-pass.ts'
import { decideSeveralLonghorns } from '../domain/decide-several.ts'
import { createLonghornJudge } from '../domain/judge.ts'
import { createLonghornParser } from '../domain/parse-longhorn.ts'
import type { LonghornPassSnapshot, SeveralLonghorns } from '../domain/pass-snapshot.ts'
import { type LonghornViews, observeLonghorn } from '../observe/observe.ts'
import type { LonghornDeploymentViews } from '../observe/views.ts'
import { LonghornReporter } from '../report/report.ts'

const reading: Permission['verbs'] = ['list', 'watch']
/** Granted where Longhorn is: deploy/longhorn names the namespace that its users most often choose. */
const written = { namespace: longhornNamespace, grantedBy: 'longhorn' } as const

export const longhornDrainPermissions: readonly Permission[] = [
  ...longhornGuidePermissions,
  ...longhornClosingPermissions,
  // Read everywhere: whether Longhorn is here at all must be known before anybody grants rights in its namespace.
  { group: 'longhorn.io', resource: 'settings', verbs: reading },
  { group: 'longhorn.io', resource: 'nodes', verbs: reading },
  { group: 'longhorn.io', resource: 'volumes', verbs: reading },
  { group: 'longhorn.io', resource: 'replicas', verbs: reading },
  { group: 'longhorn.io', resource: 'replicas', ...written, verbs: ['delete'] },
  { group: 'longhorn.io', resource: 'engines', verbs: reading },
  { group: 'longhorn.io', resource: 'instancemanagers', verbs: reading },
  { group: 'longhorn.io', resource: 'volumeattachments', verbs: reading },
  { group: 'longhorn.io', resource: 'volumeattachments', ...written, verbs: ['patch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: reading },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: reading },
  { group: '', resource: 'persistentvolumes', verbs: reading },
  { group: '', resource: 'nodes', verbs: reading },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: reading },
  { group: 'policy', resource: 'poddisruptionbudgets', ...written, verbs: ['create', 'update', 'delete'] },
  { group: 'apps', resource: 'deployments', ...written, verbs: reading },
  // Also before the rights in its namespace are granted: without a manager of Longhorn's nothing moves.
  { group: 'apps', resource: 'daemonsets', verbs: reading },
  { group: '', resource: 'pods', verbs: reading },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface LonghornDrainPorts extends Omit<LonghornApplyPorts, 'reporter' | 'watch' | 'stuck' | 'views'> {
  readonly views: LonghornViews
  readonly deploymentsIn: LonghornDeploymentViews
  readonly sha512Hex: Sha512Hex
}

/** Nodes answer for each other, so all of Longhorn is one key, and is decided about by one at a time. */
const everything = 'longhorn'

/** Steers Longhorn's drains by the wanted policy, and holds instance managers that Longhorn would let go too early, where asked. */
export function createLonghornDrain(ports: LonghornDrainPorts): Controller {
  const { clock, views } = ports
  const parse = createLonghornParser()
  const decider = { decide: createLonghornJudge().decide, sha512Hex: ports.sha512Hex }
  const reporter = new LonghornReporter(ports.reports)
  const watch = new OwnWriteWatch(ports)
  const stuck = new StuckTeller(ports.reports)
  const followed = new Set<string>()
  /** Where Longhorn was found last. */
  let place: string | undefined
  let followDeployments: (view: WatchView<SelectingDeployment>) => void = () => {}

  return {
    name: 'longhorn-drain',

    async start(enqueue, signal) {
      const follow = <V>(view: WatchView<V>, isRelevant: (change: ViewChange<V>) => boolean = () => true) => {
        const end = view.subscribe((change) => {
          if (isRelevant(change)) enqueue(everything)
        })
        signal.addEventListener('abort', end, { once: true })
      }
      followed.clear()
      followDeployments = follow
      const { budgets, ...others } = views
      follow(budgets, (change) => namespaceOf(change) === place && isRelevantBudgetChange(change))
      for (const view of Object.values(others) as WatchView<unknown>[]) follow(view)
      await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
      enqueue(everything)
    },

    async reconcile(_, signal) {
      const memory = newLonghornMemory()
      const { decision } = await performPass({
        observe: () => observe(memory, signal),
        decide: (seen: LonghornPassSnapshot | SeveralLonghorns): LonghornPass =>
          'problem' in seen ? decideSeveralLonghorns(seen) : decideLonghornPass(seen, decider),
        perform: longhornPerformers({ ...ports, reporter, watch, stuck }, memory, signal),
        signal,
      })
      const [failure] = memory.failures
      if (failure !== undefined) throw failure
      const { observed } = decision
      const isOurs = observed !== undefined && observed.snapshot.settings.mode !== 'observe'
      const stuckSeconds = isOurs ? await stuck.report(observed) : undefined
      const recheckAfterSeconds = decision.recheckAfterSeconds ?? stuckSeconds
      return recheckAfterSeconds === undefined ? undefined : { recheckAfterSeconds }
    },
  }

  async function observe(
    memory: LonghornMemory,
    signal: AbortSignal,
  ): Promise<LonghornPassSnapshot | SeveralLonghorns> {
    const found = observeLonghorn(views, clock.now())
    memory.objects = found.known ? found.value : undefined
    place = memory.objects?.namespace
    if (!found.known) return { problem: found.why, settings: [...views.settings.list()] }
    const objects = found.value
    const snapshot = parse(objects)
    const isHold = snapshot.settings.mode === 'hold'
    return {
      objects,
      snapshot,
      deployments: isHold ? await observeDeployments(objects.namespace, signal) : undefined,
      written: watch.written,
      afresh: memory.afresh,
      attempted: new Set(memory.attempted),
    }
  }

  /** Undefined where they may not be read. */
  async function observeDeployments(namespace: string, signal: AbortSignal) {
    const view = ports.deploymentsIn(namespace)
    if (!followed.has(namespace)) followDeployments(view)
    followed.add(namespace)
    await view.whenSynced(signal)
    return ifReadable(() => view.byIndex('namespace', namespace))
  }
}

function namespaceOf(change: ViewChange<PodDisruptionBudget>): string | undefined {
  return (change.type === 'removed' ? change.previous : change.value).metadata.namespace
}
