import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createWatchCache, type WatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock, startStopwatch } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { HttpsWebhookClient, type WebhookCall } from '@cofferdam/simulator/api-server/admission/webhook-call.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '@cofferdam/simulator/api-server/user-info.ts'
import { nodeDisruptionPermissions } from '../../capabilities/drain-lock/controller/controller.ts'
import { buildAccess } from '../../deploy/access-manifests.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { buildGuardConfigurationManifest } from '../../deploy/guard-manifests.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { defaultAppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { emptyLedger, type LedgerEntry } from '../../ledger/rules/ledger.ts'
import { ledgerStatus, parseLedger } from '../../ledger/rules/parse-ledger.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { createGuardCertificates, guardCertificatesPermissions } from '../controller/guard-certificates.ts'
import { evictionGuardPermissions } from '../controller/guard-permissions.ts'
import { createGuardRegistration, guardRegistrationPermissions } from '../controller/guard-registration.ts'
import { lockedLabel } from '../domain/namespace-labels.ts'
import type { GuardOutcome } from '../eviction-guard.ts'
import { type CertificateSettings, defaultCertificateSettings, planCertificates } from '../guard-certificates.ts'
import { parseGuardedBudget, parseGuardedDisruption, parseGuardedNode, parseGuardedPod } from '../guarded-objects.ts'
import { startGuard } from '../start-guard.ts'

export interface GuardFixtureOptions {
  readonly guardsDeletions?: boolean
  /** Whether the API server opens a new connection for every call, and so looks at the certificate each time. */
  readonly connectsAnew?: boolean
  readonly lingerMs?: number
}

const connectAnew: WebhookCall = async (call) => {
  const client = new HttpsWebhookClient()
  try {
    return await client.call(call)
  } finally {
    await client.close()
  }
}

const clock = realClock
const random = seededRandom(1)

/**
 * An API server that calls the guard over HTTPS, with everything around it as it runs for real: rights, certificates,
 * registration, views.
 */
export async function startGuardFixture(options: GuardFixtureOptions = {}) {
  const { guardsDeletions = false, connectsAnew = false, lingerMs = 0 } = options
  const server = new ApiServer({ clock, random, ...(connectsAnew ? { callWebhook: connectAnew } : {}) })
  server.start()
  const admin = server.as(clusterAdmin)
  const manifests = [
    ...buildCustomResourceDefinitions(),
    ...buildGuardConfigurationManifest(),
    ...buildAccess({
      'guard-certificates': guardCertificatesPermissions,
      'guard-registration': guardRegistrationPermissions,
      'eviction-guard': evictionGuardPermissions,
      'node-disruption': nodeDisruptionPermissions,
    }),
  ] as readonly KubeObject[]
  for (const manifest of manifests) {
    await admin.create(typeOfObject(server.catalogue, manifest) as ResourceType, manifest)
  }
  const api = server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name))
  const errors: unknown[] = []
  const outcomes: GuardOutcome[] = []
  const news: string[] = []
  const base = { api, clock, random, onError: (error: unknown) => errors.push(error) }
  const caches: Pick<WatchCache<unknown>, 'stop'>[] = []
  const own = <C extends Pick<WatchCache<unknown>, 'stop'>>(cache: C): C => {
    caches.push(cache)
    return cache
  }
  const views = {
    pods: own(
      createWatchCache({
        ...base,
        type: pods,
        project: parseGuardedPod,
        indexes: { node: ({ nodeName }) => [nodeName] },
      }),
    ),
    budgets: own(
      createWatchCache({
        ...base,
        type: podDisruptionBudgets,
        project: parseGuardedBudget,
        indexes: { namespace: (budget) => [budget.namespace] },
      }),
    ),
    nodes: own(createWatchCache({ ...base, type: nodes, project: parseGuardedNode })),
    ledger: own(createWatchCache({ ...base, type: disruptionLedgers, project: parseLedger })),
    disruptions: own(
      createWatchCache({
        ...base,
        type: nodeDisruptions,
        project: parseGuardedDisruption,
        indexes: { requestId: ({ requestId }) => [requestId] },
      }),
    ),
  }
  const configurations = own(
    createWatchCache<ValidatingWebhookConfiguration>({ ...base, type: validatingWebhookConfigurations }),
  )
  const marks = own(
    createWatchCache({
      ...base,
      type: namespaces,
      project: ({ metadata }) => ({ name: metadata.name, label: metadata.labels?.[lockedLabel] }),
    }),
  )
  let settings: CertificateSettings = { ...defaultCertificateSettings, settleMs: 20 }
  const startNewGuard = () =>
    startGuard({
      startStopwatch,
      api,
      clock,
      views,
      policy: defaultAppLockPolicy,
      host: '127.0.0.1',
      port: 0,
      guardsDeletions,
      certificateEveryMs: 10,
      lingerMs,
      report: (outcome) => outcomes.push(outcome),
      onError: (error) => errors.push(error),
    })
  let guard = startNewGuard()
  const controllers = [
    createGuardCertificates({
      api,
      clock,
      configurations,
      plan: (seen) => planCertificates({ ...seen, hosts: ['127.0.0.1'], settings }),
      report: ({ step }) => news.push(step),
    }),
    createGuardRegistration({
      api,
      clock,
      settings: {
        address: () => (guard.port() === undefined ? undefined : { url: `https://127.0.0.1:${guard.port()}` }),
        guardsDeletions,
        recheckSeconds: 0.02,
      },
      views: { configurations, namespaces: marks, budgets: views.budgets, ledger: views.ledger },
      policy: defaultAppLockPolicy,
      report: (isThere) => news.push(isThere ? 'registration is back' : 'registration is missing'),
    }),
  ].map((controller) =>
    runController(controller, {
      clock,
      random,
      onOutcome: (outcome) => {
        if (outcome.result === 'failed') errors.push(outcome.error)
      },
    }),
  )

  async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      if (await holds()) return
      await new Promise((resolve) => clock.after(5, () => resolve(undefined)))
    }
    throw new Error(`it never came about that ${what}; errors: ${errors.map(String).join('; ')}`)
  }

  await until('the guard is registered', () => configurations.get('cofferdam-eviction-guard')?.webhooks !== undefined)

  return {
    admin,
    server,
    errors,
    outcomes,
    news,
    until,
    configuration: () => configurations.get('cofferdam-eviction-guard'),
    guard: () => guard,
    setCertificateSettings(change: Partial<CertificateSettings>) {
      settings = { ...settings, ...change }
    },
    restartGuard() {
      guard = startNewGuard()
    },
    markOf: (namespace: string) => marks.get(namespace)?.label,
    seesDisruption: ({ metadata }: KubeObject) => views.disruptions.whenSeen(metadata.resourceVersion ?? ''),
    seesNode: ({ metadata }: KubeObject) => views.nodes.whenSeen(metadata.resourceVersion ?? ''),
    /** A namespace with a budget of one, and running pods on a node. */
    async seed({ namespace, podNames }: { readonly namespace: string; readonly podNames: readonly string[] }) {
      const node = `node-${namespace}`
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
      for (const name of podNames) {
        const pod: Pod = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { namespace, name, labels: { app: 'web' } },
          spec: { nodeName: node, containers: [{ name: 'main', image: 'registry.example/web:1' }] },
        }
        const made = await admin.create(pods, pod)
        const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } as const
        await admin.update(pods, { ...made, status: { ...made.status, ...status } }, { subresource: 'status' })
      }
      const made = await admin.create(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { namespace, name: 'web' },
        spec: { maxUnavailable: podNames.length, selector: { matchLabels: { app: 'web' } } },
      })
      await admin.update(
        podDisruptionBudgets,
        {
          ...made,
          status: {
            observedGeneration: made.metadata.generation ?? 1,
            disruptionsAllowed: podNames.length,
            currentHealthy: podNames.length,
            desiredHealthy: 0,
            expectedPods: podNames.length,
          },
        },
        { subresource: 'status' },
      )
      await until('the guard sees the pods', () =>
        podNames.every((name) => views.pods.get({ namespace, name })?.isReady === true),
      )
      await until('the guard sees the budget', () => views.budgets.get({ namespace, name: 'web' }) !== undefined)
      return { node, uid: made.metadata.uid ?? '' }
    },
    evict: (
      key: { readonly namespace: string; readonly name: string },
      body: JsonObject = {},
      user: UserInfo = clusterAdmin,
    ) =>
      server.as(user).createSubresource(pods, key, 'eviction', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: key.name },
        ...body,
      }),
    /** Writes a ledger in which requests act on these keys, all under epoch 1. */
    async hold(keys: readonly Pick<LedgerEntry, 'key' | 'uid' | 'requestId'>[]) {
      const entries = keys.map((key): LedgerEntry => {
        const since = '2026-01-01T00:00:00Z'
        return { ...key, scope: '', holder: 'operator-1', epoch: 1, state: 'Acting', since, renewSequence: 0 }
      })
      const made = await admin.create(disruptionLedgers, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'DisruptionLedger',
        metadata: { name: 'cluster' },
      })
      const status = ledgerStatus({ ...emptyLedger, nextEpoch: 2, entries })
      const { metadata } = await admin.update(disruptionLedgers, { ...made, status }, { subresource: 'status' })
      await views.ledger.whenSeen(metadata.resourceVersion ?? '')
      return { remove: () => admin.delete(disruptionLedgers, { name: 'cluster' }) }
    },
    async lock(namespace: string, lock: JsonObject | undefined) {
      const annotations = { 'cofferdam.io/lock': lock === undefined ? null : JSON.stringify(lock) }
      const key = { namespace, name: 'web' }
      const written = await admin.patch(podDisruptionBudgets, key, {
        type: 'merge',
        body: { metadata: { annotations } },
      })
      await views.budgets.whenSeen(written.metadata.resourceVersion ?? '')
    },
    async stop() {
      await Promise.all(controllers.map((controller) => controller.stop()))
      await guard.stop()
      await Promise.all(caches.map((cache) => cache.stop()))
      server.stop()
    },
  }
}
