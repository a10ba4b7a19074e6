import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  configMaps,
  deployments,
  leases,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { configMap, fixture, inDefault, pod, refusalOf } from './testing/fixture.ts'

function deployment(name: string): Deployment {
  const template = { metadata: { labels: { app: name } }, spec: pod('x').spec }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: inDefault(name),
    spec: { replicas: 2, selector: { matchLabels: { app: name } }, template },
  }
}

const deploymentOf = (name: string, metadata: JsonObject) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
})

function lease(name: string, metadata: Partial<ObjectMeta> = {}): Lease {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...inDefault(name), ...metadata } }
}

describe('what only a real server would have shown: an update', () => {
  it('that changes nothing warns of what is there, by whichever way it was sent; one of the status does not', async () => {
    const { api } = fixture()
    const warnings: string[] = []
    const onWarning = (text: string) => warnings.push(text)
    const services = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true } as const
    const spec = { clusterIP: 'None', sessionAffinity: 'ClientIP' }
    const headless = { apiVersion: 'v1', kind: 'Service', metadata: inDefault('a'), spec }
    const key = { namespace: 'default', name: 'a' }
    const made = await api.create(services, headless as KubeObject)
    await api.update(services, made, { onWarning })
    await api.patch(services, key, { type: 'merge', body: {} }, { onWarning })
    await api.patch(services, key, { type: 'merge', body: { spec } }, { onWarning })
    expect(warnings).toEqual(Array(3).fill('spec.SessionAffinity is ignored for headless services'))
    await api.update(services, made, { subresource: 'status', onWarning })
    expect(warnings).toHaveLength(3)
  })

  it('that brings what is stored, with owners as they were some seconds before, is not stored: watchers would hear of nothing', async () => {
    const { api, clock } = fixture()
    const made = await api.create(configMaps, configMap('a', { one: '1' }))
    await clock.advance(5_000)
    const later = await api.update(configMaps, { ...made, data: { one: '2' } })
    const metadata = { ...made.metadata, resourceVersion: '0' }
    expect(later.metadata.managedFields).not.toEqual(made.metadata.managedFields)
    expect(await api.update(configMaps, { ...made, metadata, data: { one: '2' } })).toEqual(later)
  })

  it('of another kind and a stale state is refused as unreadable, before anybody asks which state it was made of', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a'))
    await api.update(configMaps, { ...made, data: { x: '1' } })
    expect((await refusalOf(api.update(configMaps, { ...made, kind: 'Secret' }))).code).toBe(400)
  })

  it('that is refused still warns of unknown fields: the writer mends both at once', async () => {
    const { api } = fixture()
    const made = await api.create(leases, lease('a'))
    const warnings: string[] = []
    const misspelt = {
      ...made,
      metadata: { ...made.metadata, resourceVersion: '0' },
      spec: { holdr: 'x' },
    } as KubeObject
    const refusal = await refusalOf(api.update(leases, misspelt, { onWarning: (text) => warnings.push(text) }))
    expect([refusal.code, warnings]).toEqual([422, ['unknown field "spec.holdr"']])
  })

  it('that puts another spec into a namespace changes nothing but who owns it: the next apply conflicts', async () => {
    const { api } = fixture()
    const made = await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const body = { spec: { finalizers: ['example.com/late'] } }
    const later = await api.patch(namespaces, { name: 'shop' }, { type: 'merge', body }, { fieldManager: 'late' })
    expect(later.spec).toEqual(made.spec)
    expect(later.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
    expect(later.metadata.managedFields?.find(({ manager }) => manager === 'late')?.fieldsV1).toEqual({
      'f:spec': { 'f:finalizers': {} },
    })
  })

  it('that takes the spec from a namespace takes it from its owner only: the namespace stays held by its content', async () => {
    const { api } = fixture()
    const made = await api.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop' },
      spec: { finalizers: ['kubernetes'] },
    })
    const later = await api.patch(namespaces, { name: 'shop' }, { type: 'merge', body: { spec: null } })
    expect([later.spec, JSON.stringify(later.metadata.managedFields).includes('f:spec')]).toEqual([made.spec, false])
    const emptied = await api.patch(namespaces, { name: 'shop' }, { type: 'merge', body: { spec: null } })
    expect(emptied).toBe(later)
  })

  it('that names a namespace for what lies in none is taken without it', async () => {
    const { api } = fixture()
    const made = await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })
    const body = { metadata: { namespace: 'elsewhere' } }
    expect(await api.patch(nodes, { name: 'a' }, { type: 'strategic', body })).toEqual(made)
  })

  it('that leaves out what admission adds to a pod is a write: the writer owns the list from then on', async () => {
    const { api } = fixture()
    const tolerations = [{ key: 'extra', operator: 'Exists' as const }]
    const made = await api.create(pods, pod('a', { tolerations }), { fieldManager: 'maker' })
    const later = await api.update(pods, { ...made, spec: { ...made.spec, tolerations } }, { fieldManager: 'writer' })
    expect(later.spec).toEqual(made.spec)
    expect(later.metadata.managedFields?.map(({ manager }) => manager)).toContain('writer')
  })

  it('that applies nothing any more leaves no owner behind, whom the next apply would have to conflict with', async () => {
    const { api } = fixture()
    const options = { fieldManager: 'one' }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const full = { ...body, data: { one: 'applied' } }
    await api.patch(configMaps, inDefault('a'), { type: 'apply', body: full }, options)
    const emptied = await api.patch(configMaps, inDefault('a'), { type: 'apply', body }, options)
    expect([emptied.data, emptied.metadata.managedFields]).toEqual([undefined, undefined])
  })

  it('of the status by the first apply conflicts with nobody over counts that were never written', async () => {
    const { api } = fixture()
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'a' } }
    const made = { ...budget, metadata: inDefault('a'), spec: {} } as KubeObject
    await api.create(podDisruptionBudgets, made as PodDisruptionBudget)
    const body = { ...budget, status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 } }
    const options = { fieldManager: 'one', subresource: 'status' } as const
    const counted = await api.patch(podDisruptionBudgets, inDefault('a'), { type: 'apply', body }, options)
    expect(counted.status?.disruptionsAllowed).toBe(1)
  })

  it('that names another time of deletion leaves the time, and the object is one version older', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    const leaving = await api.delete(configMaps, inDefault('a'))
    const metadata = { ...leaving.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' }
    const later = await api.update(configMaps, { ...leaving, metadata })
    expect(later.metadata.deletionTimestamp).toBe(leaving.metadata.deletionTimestamp)
    expect(later.metadata.resourceVersion).not.toBe(leaving.metadata.resourceVersion)
  })

  it('that leaves out the time of deletion takes it from its owner: an applier would be told of a conflict with one who gave it up', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a', { x: '1' }, { finalizers: ['example.com/hold'] }))
    const leaving = await api.delete(configMaps, inDefault('a'))
    const metadata = { ...leaving.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' }
    const owned = await api.update(configMaps, { ...leaving, metadata }, { fieldManager: 'writer' })
    const managersOf = ({ metadata: { managedFields } }: KubeObject) => managedFields?.map(({ manager }) => manager)
    expect(managersOf(owned)).toContain('writer')
    const { deletionTimestamp: _, ...rest } = owned.metadata
    const later: KubeObject = await api.update(configMaps, { ...owned, metadata: rest })
    expect(managersOf(later)).not.toContain('writer')
    expect(later.metadata.deletionTimestamp).toBe(leaving.metadata.deletionTimestamp)
    // Where nobody owns it there is nothing to take, and so nothing to write.
    const { deletionTimestamp: __, ...again } = later.metadata
    expect(await api.update(configMaps, { ...later, metadata: again })).toBe(later)
  })

  it('that forgets owners which nobody noted is not a write', async () => {
    const { api } = fixture()
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const made = await api.patch(configMaps, inDefault('a'), { type: 'apply', body }, { fieldManager: 'one' })
    const metadata = { ...made.metadata, managedFields: [{}] }
    expect(await api.update(configMaps, { ...made, metadata } as KubeObject)).toBe(made)
  })

  it('of the status that names another uid is refused: it is meant for another object', async () => {
    const { api } = fixture()
    await api.create(deployments, deployment('web'))
    const body = { ...deploymentOf('web', { uid: 'another' }), status: { replicas: 1 } }
    const call = api.patch(
      deployments,
      inDefault('web'),
      { type: 'apply', body },
      { subresource: 'status', fieldManager: 'one' },
    )
    expect(await refusalOf(call)).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.uid' }] } })
  })

  it('of the status by apply leaves spec and labels to their owners, without a conflict', async () => {
    const { api } = fixture()
    await api.create(deployments, deployment('web'))
    const body = {
      ...deploymentOf('web', { labels: { app: 'other' } }),
      spec: { replicas: 9 },
      status: { replicas: 1 },
    }
    const done = await api.patch(
      deployments,
      inDefault('web'),
      { type: 'apply', body },
      { subresource: 'status', fieldManager: 'one' },
    )
    expect([done.status, done.metadata.labels?.['app'], done.spec.replicas]).toEqual([{ replicas: 1 }, undefined, 2])
  })

  it('of the status by apply that says nothing notes nobody: who watches would be told of a change that is none', async () => {
    const { api } = fixture()
    await api.create(deployments, { ...deployment('web'), metadata: { ...inDefault('web'), labels: { app: 'web' } } })
    const forget = { type: 'merge', body: { metadata: { managedFields: [{}] } } } as const
    const forgotten = await api.patch(deployments, inDefault('web'), forget)
    const options = { subresource: 'status', fieldManager: 'one' } as const
    const body = deploymentOf('web', { labels: { app: 'other' } })
    expect(await api.patch(deployments, inDefault('web'), { type: 'apply', body }, options)).toBe(forgotten)
  })

  it('that puts features into a lease which are off drops them', async () => {
    const { api } = fixture()
    const spec = { holderIdentity: 'a', strategy: 'OldestEmulationVersion', preferredHolder: 'b' }
    expect((await api.create(leases, { ...lease('a'), spec } as Lease)).spec).toEqual({ holderIdentity: 'a' })
  })

  it('that makes a lease keeps its time of deletion, and is refused a version that is no number', async () => {
    const { api } = fixture()
    const made = await api.update(leases, lease('a', { deletionTimestamp: '2020-01-01T00:00:00Z' }))
    expect(made.metadata.deletionTimestamp).toBe('2020-01-01T00:00:00Z')
    expect((await refusalOf(api.update(leases, lease('b', { resourceVersion: 'letters' })))).code).toBe(500)
    const tried = await api.update(leases, lease('c', { resourceVersion: '7' }), { dryRun: true })
    expect(tried.metadata.resourceVersion).toBe('7')
  })
})

describe('admission plugins', () => {
  it('taint a new node, whose taints are nobody’s, and leave a pod without an account, as the real server they are set for', async () => {
    const { api } = fixture({ plugins: { taintNodesByCondition: true, serviceAccount: false } })
    const labels = { rack: 'r1' }
    const node = await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } })
    expect(node.spec?.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }])
    const taints = [{ key: 'own', effect: 'NoSchedule' }]
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { taints } }
    await api.patch(nodes, { name: 'n1' }, { type: 'apply', body }, { fieldManager: 'one', dryRun: true })
    const untainted = await api.update(nodes, { ...node, spec: {} })
    expect(untainted.spec?.taints).toBeUndefined()
    expect((await api.create(pods, pod('a'))).spec.serviceAccountName).toBeUndefined()
  })

  it('are off for nodes and on for accounts unless asked otherwise: the world taints nodes itself', async () => {
    const { api } = fixture()
    const node = await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    expect(node.spec?.taints).toBeUndefined()
    expect((await api.create(pods, pod('a'))).spec.serviceAccountName).toBe('default')
  })
})
