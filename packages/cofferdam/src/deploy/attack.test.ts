import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  configMaps,
  deployments,
  jobs,
  namespaces,
  podDisruptionBudgets,
  pods,
  secrets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { installOperator } from '../cli/demo/install-operator.ts'

const named = 'rook-ceph'
const foreign = 'shop'
const labels = { app: 'x' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'evil' }] } }
const bodies = {
  deployment: { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector: { matchLabels: labels }, template } },
  job: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
  },
  configMap: { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'evil' } },
  secret: { apiVersion: 'v1', kind: 'Secret' },
  pod: { apiVersion: 'v1', kind: 'Pod', spec: template.spec },
  claim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  budget: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: { maxUnavailable: 0 } },
}

let account: KubeApi

beforeAll(async () => {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  server.start()
  const admin = server.as(clusterAdmin)
  for (const name of [named, foreign]) {
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  account = await installOperator(server, { ceph: [named] })
  for (const [type, body] of [
    [deployments, bodies.deployment],
    [configMaps, bodies.configMap],
    [podDisruptionBudgets, bodies.budget],
  ] as const) {
    await admin.create(type as ResourceType, { ...body, metadata: { namespace: foreign, name: 'there' } } as KubeObject)
  }
})

const create = (type: ResourceType, body: object, namespace: string) => () =>
  account.create(type, { ...body, metadata: { namespace, name: 'new' } } as KubeObject)
const change = (type: ResourceType, namespace: string) => async () => {
  const [object] = (await account.list(type, { namespace })).items
  return account.update(type, { ...object, metadata: { namespace, name: 'there' } } as KubeObject)
}
const remove = (type: ResourceType) => () => account.delete(type, { namespace: foreign, name: 'there' })

const hook: KubeObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'evil' },
}

async function answerTo(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt()
    return 'done'
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return 'refused'
    throw error
  }
}

describe('whoever steals the account of the operator is refused', () => {
  const attempts: Record<string, () => Promise<unknown>> = {
    'a Deployment in a namespace without a named Ceph: it would run anything there': create(
      deployments as ResourceType,
      bodies.deployment,
      foreign,
    ),
    'to change a Deployment there': change(deployments as ResourceType, foreign),
    'to read Deployments there': () => account.list(deployments, { namespace: foreign }),
    'to read the Deployments of all namespaces': () => account.list(deployments),
    'a Job there': create(jobs as ResourceType, bodies.job, foreign),
    'a ConfigMap there': create(configMaps as ResourceType, bodies.configMap, foreign),
    'to read a ConfigMap there': () => account.get(configMaps, { namespace: foreign, name: 'there' }),
    'a volume claim there': create(persistentVolumeClaims as ResourceType, bodies.claim, foreign),
    'to delete a budget there: it would take the protection from any application': remove(
      podDisruptionBudgets as ResourceType,
    ),
    'a budget there: it would hold up any drain': create(podDisruptionBudgets as ResourceType, bodies.budget, foreign),
    'a pod anywhere': create(pods as ResourceType, bodies.pod, named),
    'a Secret of Ceph': () => account.get(secrets, { namespace: named, name: 'rook-ceph-mon' }),
    'a webhook configuration: it would see and refuse every request of the cluster': () =>
      account.create(validatingWebhookConfigurations as ResourceType, hook),
    'to change the webhook configuration of somebody else': () =>
      account.update(validatingWebhookConfigurations as ResourceType, hook),
  }
  it.each(Object.entries(attempts))('%s', async (_, attempt) => {
    expect(await answerTo(attempt)).toBe('refused')
  })
})

describe('and the operator may still do in the namespace of a named Ceph cluster', () => {
  const deeds: Record<string, () => Promise<unknown>> = {
    'what updates need: Deployments': create(deployments as ResourceType, bodies.deployment, named),
    'what growth needs: Jobs': create(jobs as ResourceType, bodies.job, named),
    'its records: ConfigMaps': create(configMaps as ResourceType, bodies.configMap, named),
    'what protects: budgets': create(podDisruptionBudgets as ResourceType, bodies.budget, named),
  }
  it.each(Object.entries(deeds))('%s', async (_, deed) => {
    expect(await answerTo(deed)).toBe('done')
  })
})
