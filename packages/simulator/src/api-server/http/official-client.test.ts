import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node'
import { describe, expect, it } from 'vitest'
import { configMapNamed, faceForTest, podNamed } from './testing/face.ts'

async function clientForTest() {
  const { face, ...rest } = await faceForTest()
  const config = new KubeConfig()
  // The client refuses plain HTTP unless it is told that nothing is to be verified.
  config.loadFromOptions({
    clusters: [{ name: 'c', server: face.url, skipTLSVerify: true }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  })
  return { config, core: config.makeApiClient(CoreV1Api), ...rest }
}

describe('the official JavaScript client', () => {
  it('creates, reads, lists, patches and deletes', async () => {
    const { core } = await clientForTest()
    const namespace = 'default'
    const created = await core.createNamespacedConfigMap({ namespace, body: configMapNamed('a', { x: '1' }) })
    expect(created.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect((await core.readNamespacedConfigMap({ namespace, name: 'a' })).data).toEqual({ x: '1' })
    const patched = await core.patchNamespacedConfigMap(
      { namespace, name: 'a', body: { data: { y: '2' } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    )
    expect(patched.data).toEqual({ x: '1', y: '2' })
    expect((await core.listNamespacedConfigMap({ namespace })).items.length).toBe(1)
    expect((await core.deleteNamespacedConfigMap({ namespace, name: 'a' })).status).toBe('Success')
    await expect(core.readNamespacedConfigMap({ namespace, name: 'a' })).rejects.toMatchObject({ code: 404 })
  })

  it('replaces with the version it has read, and is refused with 409 when that is stale', async () => {
    const { core } = await clientForTest()
    const namespace = 'default'
    const first = await core.createNamespacedConfigMap({ namespace, body: configMapNamed('a') })
    const replace = (x: string) =>
      core.replaceNamespacedConfigMap({ namespace, name: 'a', body: Object.assign(first, { data: { x } }) })
    await replace('1')
    const stale = replace('2')
    await expect(stale).rejects.toMatchObject({ code: 409 })
  })

  it('evicts, and is refused with 429 while a budget holds the pod', async () => {
    const { core, config } = await clientForTest()
    const namespace = 'default'
    const body = podNamed('p', { labels: { app: 'web' }, nodeName: 'n1' })
    await core.createNamespacedPod({ namespace, body })
    const conditions = [{ type: 'Ready', status: 'True' }]
    await core.patchNamespacedPodStatus(
      { namespace, name: 'p', body: { status: { phase: 'Running', conditions } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    )
    const policy = config.makeApiClient(PolicyV1Api)
    const budget = { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } }
    await policy.createNamespacedPodDisruptionBudget({ namespace, body: budget })
    const evict = () =>
      core.createNamespacedPodEviction({ namespace, name: 'p', body: { metadata: { name: 'p', namespace } } })
    await expect(evict()).rejects.toMatchObject({ code: 429 })
    await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: 'b' })
    await evict()
    expect((await core.readNamespacedPod({ namespace, name: 'p' })).metadata?.deletionTimestamp).toBeDefined()
  })

  it('watches', async () => {
    const { core, config } = await clientForTest()
    const seen: string[] = []
    const enough = new Promise<AbortController>((resolve, reject) => {
      const path = '/api/v1/namespaces/default/configmaps'
      const opened = new Watch(config).watch(
        path,
        {},
        (phase, object: V1ConfigMap) => {
          seen.push(`${phase} ${object.metadata?.name}`)
          if (seen.length === 2) resolve(opened)
        },
        () => reject(new Error('the watch ended early')),
      )
    })
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMapNamed('a') })
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'a' })
    ;(await enough).abort()
    expect(seen).toEqual(['ADDED a', 'DELETED a'])
  })

  it('keeps an informer up to date', async () => {
    const { core, config } = await clientForTest()
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMapNamed('old') })
    const path = '/api/v1/namespaces/default/configmaps'
    const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace: 'default' }))
    const names: string[] = []
    const both = new Promise<void>((resolve) => {
      informer.on('add', ({ metadata }) => {
        names.push(metadata?.name ?? '')
        if (names.length === 2) resolve()
      })
    })
    await informer.start()
    await core.createNamespacedConfigMap({ namespace: 'default', body: configMapNamed('new') })
    await both
    await informer.stop()
    expect(names).toEqual(['old', 'new'])
  })

  it('reaches kinds it has never heard of', async () => {
    const { config } = await clientForTest()
    const listed = await config.makeApiClient(CustomObjectsApi).listNamespacedCustomObject({
      group: 'policy',
      version: 'v1',
      namespace: 'default',
      plural: 'poddisruptionbudgets',
    })
    expect(listed.kind).toBe('PodDisruptionBudgetList')
  })
})
