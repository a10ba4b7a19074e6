import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { selfSubjectAccessReviews } from '@cofferdam/kubernetes/api/authorization.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { operatorAccount, operatorLabels } from '../../deploy/operator-manifests.ts'
import { guardConfigurationName } from '../../eviction-guard/domain/webhook-configuration.ts'
import { productVersion } from '../../ledger/store/product-version.ts'
import { openReader, type Reader } from '../../observe/reader.ts'
import { permissionsOf } from '../../operator/controller-names.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import { reviewRights } from '../adopt/review-rights.ts'
import type { ClusterLink } from '../connect.ts'
import { observeVersions } from '../version/version-observe.ts'
import type { CephFacts, DoctorSnapshot, GuardFacts, LonghornFacts } from './doctor-snapshot.ts'
import { type GuardTrialQuestion, tryGuard } from './try-guard.ts'

export interface DoctorQuestion {
  readonly clock: Clock
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

export async function observeDoctor(link: ClusterLink, question: DoctorQuestion): Promise<DoctorSnapshot> {
  const versions = await observeVersions(link, question)
  const read = await openReader({ ...question, api: link.api })
  const { leaseNamespace: namespace } = question
  const [found, userLacks, operatorLacks, guard, ceph, longhorn] = await Promise.all([
    readable(() => link.api.list(nodes, { signal: question.signal })),
    observeUserRights(read),
    reviewRights({
      ...read,
      account: { namespace, name: operatorAccount.name },
      namespace,
      rights: Object.values(permissionsOf)
        .flat()
        .filter(({ grantedBy }) => grantedBy === undefined),
    }),
    observeGuardFacts(read, {
      ...question,
      api: link.api,
      namespace,
      word: `doctor at ${question.clock.now()}`,
    }),
    observeCeph(read),
    observeLonghornFacts(read),
  ])
  return {
    client: productVersion,
    versions,
    nodes: found.known ? known(found.value.items.length) : found,
    userLacks,
    operatorLacks,
    guard,
    named: read.settings.trust?.named,
    ceph,
    longhorn,
  }
}

async function readable<T>(read: () => Promise<T>): Promise<Observed<T>> {
  const notSeen: string[] = []
  const value = await ifAllowed('it', notSeen, read)
  return value === undefined ? unknown(notSeen[0] ?? 'it is not there') : known(value)
}

/** What commands need: to read, to ask for a drain, to lock. */
const userRights = [
  ['', 'nodes', 'list'],
  ['', 'pods', 'list'],
  ['policy', 'poddisruptionbudgets', 'list'],
  ['policy', 'poddisruptionbudgets', 'patch'],
  ['cofferdam.io', 'nodedisruptions', 'list'],
  ['cofferdam.io', 'nodedisruptions', 'create'],
  ['cofferdam.io', 'disruptionledgers', 'get'],
] as const

async function observeUserRights({ api, signal }: Reader): Promise<Observed<readonly string[]>> {
  try {
    const answers = await Promise.all(
      userRights.map(async ([group, resource, verb]) => {
        const review = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          metadata: { name: '' },
          spec: { resourceAttributes: { group, resource, verb } },
        }
        const { status } = await api.create(selfSubjectAccessReviews, review, { signal })
        return status?.allowed === true ? [] : [`${verb} ${resource}`]
      }),
    )
    return known(answers.flat())
  } catch (error) {
    if (hasReason(error, 'Forbidden') || hasReason(error, 'NotFound')) return unknown(error.message)
    throw error
  }
}

async function observeGuardFacts(
  { api, signal }: Reader,
  question: GuardTrialQuestion,
): Promise<Observed<GuardFacts | undefined>> {
  const { namespace } = question
  const refused: string[] = []
  const found = await ifAllowed('its registration', refused, () =>
    api.get(validatingWebhookConfigurations, { name: guardConfigurationName }, { signal }),
  )
  if (refused[0] !== undefined) return unknown(refused[0])
  if (found === undefined) return known(undefined)
  const { webhooks = [] } = found
  const labelSelector = Object.entries(operatorLabels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
  const isByService = webhooks.some(({ clientConfig }) => clientConfig.service !== undefined)
  const answering = isByService ? await readable(() => api.list(pods, { namespace, labelSelector, signal })) : undefined
  const hasCertificate = webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '')
  const canAnswer = webhooks.length > 0 && hasCertificate
  return known({
    webhooks: webhooks.length,
    hasCertificate,
    trial: canAnswer ? await tryGuard(question) : unknown('it is not registered in full'),
    readyPods: answering?.known === true ? known(answering.value.items.filter(isReady).length) : answering,
  })
}

async function observeCeph(read: Reader): Promise<readonly CephFacts[]> {
  const { api, notSeen, signal } = read
  const budgets = await ifAllowed('poddisruptionbudgets', notSeen, () => api.list(podDisruptionBudgets, { signal }))
  const storage = await readStorage(read, budgets?.items ?? [])
  const labelled = async (labelSelector: string) =>
    (await ifAllowed('pods', notSeen, () => api.list(pods, { labelSelector, signal })))?.items ?? []
  if (storage.length === 0) return []
  const [rooks, toolboxes] = await Promise.all([labelled(rookOperatorSelector), labelled('app=rook-ceph-tools')])
  return storage.map((view) => ({
    view,
    rook: imageTag(rooks[0]),
    hasToolbox: toolboxes.some((pod) => pod.metadata.namespace === view.namespace && isReady(pod)),
  }))
}

async function observeLonghornFacts(read: Reader): Promise<LonghornFacts | undefined> {
  const longhorn = await readLonghorn(read)
  if (longhorn === undefined) return undefined
  const { api, notSeen, signal } = read
  const managers = await ifAllowed('pods', notSeen, () =>
    api.list(pods, { labelSelector: 'app=longhorn-manager', signal }),
  )
  const { settings, unreadable } = longhorn.snapshot
  return {
    mode: settings.mode,
    policy: settings.policy.known ? settings.policy.value : undefined,
    version: imageTag(managers?.items[0]),
    problems: unreadable.length,
  }
}

function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True'
}

/** `v1.18.8` of `docker.io/rook/ceph:v1.18.8`. */
function imageTag(pod: Pod | undefined): string | undefined {
  const [, tag] = /:([^:/@]+)(?:@.*)?$/.exec(pod?.spec.containers?.[0]?.image ?? '') ?? []
  return tag
}
