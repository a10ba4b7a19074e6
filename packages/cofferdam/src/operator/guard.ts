import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { WatchInformers } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { HealthCheck } from '@cofferdam/kubernetes/runtime/health.ts'
import { startStopwatch } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { watchStorage } from '../capabilities/ceph-drain/observe/watch-storage.ts'
import { watchLonghorn } from '../capabilities/longhorn-drain/observe/watch-longhorn.ts'
import { guardService } from '../deploy/guard-manifests.ts'
import type { GuardAddress } from '../eviction-guard/domain/webhook-configuration.ts'
import { type GuardOptions, startGuard } from '../eviction-guard/start-guard.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import { observeOperator } from '../observe/observe-operator.ts'
import { openSharedViews, type SharedViews } from '../observe/shared-views.ts'
import { createStorageExplainer } from '../observe/storage-explainer.ts'
import { attendanceOf } from '../shared/attendance.ts'
import { type CephTrust, trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { informerPorts, type ViewPorts } from './informer-ports.ts'
import { errorText } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface GuardWiring {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** How the API server reaches the guard, given where it listens. */
  readonly addressOf: (port: number) => GuardAddress
  /** The names and addresses under which it is called; its certificate is for them. */
  readonly hosts: readonly string[]
  /** While shutting down it answers for so long: behind a Service it is still called for a while. Default 0. */
  readonly lingerMs?: number
  readonly listen?: GuardOptions['listen']
  /** Whether plain deletions of pods are asked about too, by whoever is no part of Kubernetes itself. Default no. */
  readonly guardsDeletions?: boolean
  readonly clients?: GuardOptions['clients']
}

/** The guard behind its Service, or under a URL where the API server cannot reach Services. */
export function guardAt({ port, url }: { readonly port: number; readonly url?: string }): GuardWiring {
  if (url === undefined) {
    const { namespace, name } = guardService
    const hosts = [`${name}.${namespace}.svc`]
    return { host: '0.0.0.0', port, addressOf: () => ({ service: guardService }), hosts, lingerMs: 5_000 }
  }
  const address = url.replace(/\/+$/, '')
  return { host: '0.0.0.0', port, addressOf: () => ({ url: address }), hosts: [hostOf(address)] }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

export interface GuardPorts extends ViewPorts {
  readonly api: KubeApi
  readonly metrics: Metrics
  readonly policy: AppLockPolicy
  /** Those that run in this process while it leads. */
  readonly controllers: readonly string[]
  readonly trust?: CephTrust
  /** Where it is seen whether an operator leads. */
  readonly lease?: { readonly namespace: string }
}

/** The guard of this process and the views it needs: they live as long as the process, whoever leads. */
export function startGuarding(ports: GuardPorts, wiring: GuardWiring) {
  const { api, clock, log, metrics, policy } = ports
  const { host, port, lingerMs = 0, listen, guardsDeletions = false, clients } = wiring
  const informers = new WatchInformers(informerPorts(ports))
  const views = openSharedViews({ informers, log })
  const onError = (error: unknown) =>
    log.warn({ error: errorText(error) }, 'the eviction guard had a problem and continues')
  const guard = startGuard({
    api,
    clock,
    startStopwatch,
    host,
    port,
    lingerMs,
    ...(listen === undefined ? {} : { listen }),
    guardsDeletions,
    ...(clients === undefined ? {} : { clients }),
    policy,
    views: {
      pods: views.pods(),
      budgets: views.budgets(),
      nodes: views.nodes(),
      ledger: views.parsedLedger(),
      disruptions: views.disruptions(),
    },
    explainStorage: createStorageExplainer({ ...explainerPorts(ports, informers, views), onError }),
    report: (outcome) => metrics.guard.count(outcome),
    onError,
  })
  const health: HealthCheck = {
    name: 'guard',
    kind: 'ready',
    check() {
      const why = guard.whatIsMissing()
      return why === undefined ? { ok: true } : { ok: false, why }
    },
  }
  return {
    informers,
    views,
    health,
    /** What the leader needs to know of it, for the guards of all replicas. */
    registered: {
      hosts: wiring.hosts,
      guardsDeletions,
      address: () => {
        const at = guard.port()
        return at === undefined ? undefined : wiring.addressOf(at)
      },
    },
    async stop() {
      await guard.stop()
      informers.stop()
    },
  }
}

/** What is said of storage needs the rights of the controllers that manage it, so it is said where these run. */
function explainerPorts(ports: GuardPorts, informers: WatchInformers, views: SharedViews) {
  const { api, clock, log, controllers, trust = trustsNone, lease } = ports
  const attendance = async (signal: AbortSignal) => {
    if (lease === undefined) return {}
    const question = { api, leaseNamespace: lease.namespace, now: timestamp(clock), signal }
    return attendanceOf(await observeOperator(question, []))
  }
  return {
    api,
    clock,
    pods: views.pods(),
    ...(controllers.includes('ceph-drain') && { storageIn: watchStorage({ api, clock, trust, attendance }) }),
    ...(controllers.includes('longhorn-drain') && {
      longhorn: watchLonghorn({ informers, clock, log, views, attendance }),
    }),
  }
}
