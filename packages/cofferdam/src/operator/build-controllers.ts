import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { WatchInformers } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { defaultKured } from '../capabilities/kured/domain/kured-name.ts'
import { type Answers, routeQuestions } from '../capabilities/questions.ts'
import { openCephViews } from '../ceph/views/ceph-views.ts'
import { defaultAppLockPolicy } from '../ledger/rules/app-lock.ts'
import { defaultDrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import { createLedgerStore } from '../ledger/store/ledger-store.ts'
import { openSharedViews, type SharedViews } from '../observe/shared-views.ts'
import { trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { once } from '../shared/once.ts'
import { buildCephPorts } from './ceph.ts'
import { createEventRecorder } from './event-recorder.ts'
import type { startGuarding } from './guard.ts'
import { informerPorts } from './informer-ports.ts'
import type { OperatorOptions } from './options.ts'
import type { CapabilityPorts } from './ports.ts'

/** As `api` lets this process act only while it leads, so do all of them. */
export interface LeadingPorts {
  readonly api: KubeApi
  readonly mayAct: () => boolean
  /** The guard of this process, whose views are shared. */
  readonly guarding: ReturnType<typeof startGuarding> | undefined
}

/** Puts the controllers together that run, from the list of capabilities. */
export function buildControllers(
  options: OperatorOptions,
  leading: LeadingPorts,
): { readonly controllers: readonly Controller[]; readonly informers: WatchInformers } {
  const informers = new WatchInformers(informerPorts({ ...options, api: leading.api }))
  const answers: Answers[] = []
  const ports = buildPorts(options, { ...leading, informers, answers })
  const makers: Record<string, () => Controller> = {}
  for (const { controllers, open } of options.metrics.installed) {
    if (!controllers.some(({ name }) => ports.runs(name))) continue
    const opened = open({ ...ports, informers: informers.usedBy(controllers.map(({ name }) => name)) })
    if (opened.answers !== undefined) answers.push(opened.answers)
    Object.assign(makers, opened.controllers)
  }
  return { informers, controllers: options.controllers.flatMap((name) => makers[name]?.() ?? []) }
}

function buildPorts(
  options: OperatorOptions,
  {
    api,
    mayAct,
    guarding,
    informers,
    answers,
  }: LeadingPorts & { readonly informers: WatchInformers; readonly answers: readonly Answers[] },
): CapabilityPorts {
  const { clock, random, log, metrics, dryRun, trust = trustsNone, appLocks = defaultAppLockPolicy } = options
  const runs = (name: string) => options.controllers.includes(name)
  const views = guarding?.views ?? openSharedViews({ informers, log })
  const drainLock = { ...defaultDrainLockSettings, ...options.drainLock }
  const store = once(() => createLedgerStore({ api, clock, highestEpoch: () => highestEpoch(views) }))
  const usesLedger = runs('node-disruption') || runs('disruption-ledger')
  return {
    api,
    clock,
    random,
    log,
    dryRun,
    trust,
    appLocks,
    drainLock,
    kured: options.kured ?? defaultKured,
    informers,
    views,
    runs,
    store,
    ask: routeQuestions(answers),
    events: createEventRecorder({ ...options, api }),
    ceph: buildCephPorts({ ...options, mayAct, counts: metrics.ceph }),
    cephCounts: metrics.ceph,
    cephViews: openCephViews({ ...options, informers, trust }),
    ledger: () => (usesLedger ? { view: views.ledgers(), store: store(), renewMs: drainLock.renewMs } : undefined),
    identity: () => options.lease?.identity ?? `operator-${randomSuffix(random.stream('identity'), 8)}`,
    guard: guarding?.registered,
  }
}

/** No epoch that stands on a record or a budget is given out again, though the ledger be lost. */
function highestEpoch(views: Pick<SharedViews, 'disruptions' | 'budgets'>): number {
  let highest = 0
  for (const { status } of views.disruptions().list()) highest = Math.max(highest, status?.epoch ?? 0)
  for (const { hold } of views.budgets().list()) highest = Math.max(highest, hold?.epoch ?? 0)
  return highest
}
