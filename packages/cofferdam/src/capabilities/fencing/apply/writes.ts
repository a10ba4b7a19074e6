import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineDisruptionBudgetStatus,
  machineDisruptionBudgets,
  medik8sLeaseNamespace,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { KindView } from '../../kind-view.ts'
import type { GateChange, LabelChange } from '../domain/decision.ts'
import { buildGatePatch } from '../domain/gate-patch.ts'
import { buildLabelPatch } from '../domain/label-patch.ts'
import { marks } from '../domain/marks.ts'
import { buildNodeLease, nodeLeaseName } from '../domain/node-lease.ts'
import { marksOf } from '../domain/parse-machine.ts'
import type { OutageNote } from '../domain/planned-outages.ts'
import type { FencingViews } from '../observe/observe.ts'

export interface FencingWritePorts {
  readonly api: Pick<KubeApi, 'create' | 'update' | 'patch' | 'delete'>
  readonly clock: Clock
  readonly views: FencingViews
}

export interface RefusedWrite {
  readonly object: string
  readonly error: unknown
}

/**
 * The writes of one pass. Each goes against the version that was seen, or that an earlier write of the same pass answered with;
 * one that is refused is noted and stops no other.
 */
export class FencingWrites {
  readonly refused: RefusedWrite[] = []
  readonly #ports: FencingWritePorts
  readonly #signal: AbortSignal
  /** As the server answered last, by view and key. */
  readonly #latest = new Map<unknown, Map<string, KubeObject>>()

  constructor(ports: FencingWritePorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
  }

  /** Whether the machine has its labels now. Those that are to go stay, and stay marked as ours. */
  addLabels(change: LabelChange): Promise<boolean> {
    const key = { namespace: change.namespace, name: change.machine }
    return this.#patch(this.#machines(change.api), key, (seen) => {
      const ours = [...new Set([...change.ours, ...marksOf(seen.metadata.annotations?.[marks.labels])])].sort()
      return buildLabelPatch({ add: change.add, remove: [], ours }, seen)
    })
  }

  async removeLabels(change: LabelChange): Promise<void> {
    const key = { namespace: change.namespace, name: change.machine }
    await this.#patch(this.#machines(change.api), key, (seen) => buildLabelPatch({ ...change, add: {} }, seen))
  }

  async gate(change: GateChange): Promise<void> {
    const { views } = this.#ports
    switch (change.kind) {
      case 'hold-lease':
      case 'free-lease':
        await this.#lease(change.kind, change.node)
        return
      case 'pause':
      case 'resume': {
        const { remediator, remediatorKind } = change
        const [first = '', second] = remediator.split('/')
        const key = second === undefined ? { name: first } : { namespace: first, name: second }
        if (remediatorKind === 'medik8s-nhc') {
          await this.#patch(views.nodeHealthChecks, key, (seen) => buildGatePatch(change, seen))
        } else {
          const view = remediatorKind === 'openshift-mhc' ? views.openshiftHealthChecks : views.clusterApiHealthChecks
          await this.#patch(view, key, (seen) => buildGatePatch(change, seen))
        }
        return
      }
      default: {
        const isOpenshift = change.kind === 'hook-machine' || change.kind === 'unhook-machine'
        const view = this.#machines(isOpenshift ? 'openshift' : 'cluster-api')
        await this.#patch(view, { namespace: change.namespace, name: change.machine }, (seen) =>
          buildGatePatch(change, seen),
        )
      }
    }
  }

  async noteOutage({ request, awaySinceMs }: OutageNote): Promise<void> {
    const awaySince = awaySinceMs === undefined ? null : rfc3339(awaySinceMs)
    await this.#patch(this.#ports.views.requests, { name: request }, ({ metadata: { resourceVersion } }) => ({
      metadata: { resourceVersion, annotations: { [marks.awaySince]: awaySince } },
    }))
  }

  budget(key: { readonly namespace: string; readonly name: string }): MachineDisruptionBudget | undefined {
    return this.#seen(this.#ports.views.budgets, key)
  }

  /** All of them, as they were last written or seen. */
  budgets(): readonly MachineDisruptionBudget[] {
    const { budgets: view } = this.#ports.views
    const listed = [...view.list()].map((budget) => this.#seen(view, keyOf(budget)) ?? budget)
    const made = [...(this.#latest.get(view)?.values() ?? [])].filter((each) => view.get(keyOf(each)) === undefined)
    return made.length === 0 ? listed : [...listed, ...(made as MachineDisruptionBudget[])]
  }

  /** Undefined when it was made, else why not. */
  async createBudget(budget: MachineDisruptionBudget): Promise<string | undefined> {
    const { api, views } = this.#ports
    try {
      this.#note(views.budgets, await api.create(machineDisruptionBudgets, budget, { signal: this.#signal }))
      return undefined
    } catch (error) {
      this.#signal.throwIfAborted()
      this.refused.push({ object: objectText(budget), error })
      return error instanceof Error ? error.message : String(error)
    }
  }

  updateBudget(budget: MachineDisruptionBudget): Promise<boolean> {
    return this.#attempt(this.#ports.views.budgets, budget, () =>
      this.#ports.api.update(machineDisruptionBudgets, budget, { signal: this.#signal }),
    )
  }

  updateBudgetStatus(seen: MachineDisruptionBudget, status: MachineDisruptionBudgetStatus): Promise<boolean> {
    const options = { subresource: 'status', signal: this.#signal }
    return this.#attempt(this.#ports.views.budgets, seen, () =>
      this.#ports.api.update(machineDisruptionBudgets, { ...seen, status }, options),
    )
  }

  /** Whatever else stands there, it allows no disruption from now on. */
  async shutBudget(key: { readonly namespace: string; readonly name: string }): Promise<void> {
    const budget = this.budget(key)
    if (budget === undefined) return
    await this.updateBudget({ ...budget, spec: { ...budget.spec, maxUnavailable: 0 } })
    const seen = this.budget(key)
    if (seen?.status === undefined) return
    const observedGeneration = seen.metadata.generation ?? 0
    await this.updateBudgetStatus(seen, { ...seen.status, observedGeneration, disruptionsAllowed: 0 })
  }

  async deleteBudget(key: { readonly namespace: string; readonly name: string }): Promise<void> {
    const seen = this.budget(key)
    if (seen === undefined) return
    const { api, views } = this.#ports
    await this.#attempt(views.budgets, seen, () =>
      api.delete(machineDisruptionBudgets, key, { preconditions: versionOf(seen), signal: this.#signal }),
    )
  }

  /** Waits until the views have what was written, so that the next pass does not plan it again. */
  async settle(): Promise<void> {
    for (const [view, objects] of this.#latest) {
      for (const { metadata } of objects.values()) {
        if (metadata.resourceVersion === undefined) continue
        await (view as WatchView<KubeObject>).whenSeen(metadata.resourceVersion, this.#signal)
      }
    }
  }

  #machines(api: LabelChange['api']): KindView<Machine> {
    const { views } = this.#ports
    return api === 'openshift' ? views.openshiftMachines : views.clusterApiMachines
  }

  #seen<T extends KubeObject>(
    view: WatchView<T>,
    key: { readonly namespace?: string; readonly name: string },
  ): T | undefined {
    return (this.#latest.get(view)?.get(keyText(key)) as T | undefined) ?? view.get(key)
  }

  async #patch<T extends KubeObject>(
    view: KindView<T>,
    key: { readonly namespace?: string; readonly name: string },
    build: (seen: T) => JsonObject | undefined,
  ): Promise<boolean> {
    const seen = this.#seen(view, key)
    const body = seen === undefined ? undefined : build(seen)
    if (seen === undefined || body === undefined) return true
    const type: ResourceType<T> = view.type()
    return this.#attempt(view, seen, () =>
      this.#ports.api.patch(type, key, { type: 'merge', body }, { signal: this.#signal }),
    )
  }

  async #lease(kind: 'hold-lease' | 'free-lease', node: string): Promise<void> {
    const { api, clock, views } = this.#ports
    const key = { namespace: medik8sLeaseNamespace, name: nodeLeaseName(node) }
    const seen = this.#seen(views.leases, key)
    const signal = this.#signal
    if (kind === 'free-lease') {
      if (seen === undefined) return
      const preconditions = versionOf(seen)
      await this.#attempt(views.leases, seen, () => api.delete(leases, key, { preconditions, signal }))
      return
    }
    const nodeUid = views.nodes.get({ name: node })?.metadata.uid ?? ''
    const lease: Lease = buildNodeLease({ node, nodeUid, nowMs: clock.now(), seen })
    await this.#attempt(views.leases, lease, () =>
      seen === undefined ? api.create(leases, lease, { signal }) : api.update(leases, lease, { signal }),
    )
  }

  async #attempt<T extends KubeObject>(view: WatchView<T>, about: T, write: () => Promise<T>): Promise<boolean> {
    try {
      this.#note(view, await write())
      return true
    } catch (error) {
      this.#signal.throwIfAborted()
      // What is gone needs nothing any more.
      if (hasReason(error, 'NotFound')) return false
      this.refused.push({ object: objectText(about), error })
      return false
    }
  }

  #note(view: unknown, written: KubeObject): void {
    const objects = this.#latest.get(view) ?? new Map<string, KubeObject>()
    objects.set(keyText(keyOf(written)), written)
    this.#latest.set(view, objects)
  }
}

function objectText(object: KubeObject): string {
  return `${object.kind.toLowerCase()}/${keyText(keyOf(object))}`
}

function versionOf({ metadata: { uid, resourceVersion } }: KubeObject) {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) }
}
