import { configMaps, deployments, namespaces, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { collect, configMap, fixture, inDefault, pod, refusalOf } from './testing/fixture.ts'

const nowText = '2026-01-01T00:00:00Z'

describe('a delete', () => {
  it('without anything that holds the object removes it at once', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a', { x: '1' }))
    const gone = await api.delete(configMaps, inDefault('a'))
    expect(gone).toEqual({ ...made, metadata: { ...made.metadata, resourceVersion: '1006' } })
    expect((await refusalOf(api.get(configMaps, inDefault('a')))).code).toBe(404)
  })

  it('in a dry run answers, and the object stays as it is', async () => {
    const { api, server } = fixture()
    const made = await api.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    const { version } = server
    const answered = await api.delete(configMaps, inDefault('a'), { dryRun: true })
    expect(answered.metadata.deletionTimestamp).toBe(nowText)
    expect(await api.get(configMaps, inDefault('a'))).toBe(made)
    expect(server.version).toBe(version)
  })

  it('whose preconditions do not hold is refused with 409, and the object stays', async () => {
    const { api } = fixture()
    const made = await api.create(configMaps, configMap('a'))
    expect(
      await refusalOf(api.delete(configMaps, inDefault('a'), { preconditions: { uid: 'another' } })),
    ).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (another) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    })
    expect(
      await refusalOf(api.delete(configMaps, inDefault('a'), { preconditions: { resourceVersion: '7' } })),
    ).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (7) does not match the ResourceVersion in record (1005). The object might have been modified',
    })
    expect(await api.get(configMaps, inDefault('a'))).toBe(made)
  })
})

describe('finalizers', () => {
  it('hold a deleted object, marked; the removal of the last one lets it go', async () => {
    const { api, clock } = fixture()
    const held = { finalizers: ['example.com/one', 'example.com/two'] }
    await api.create(configMaps, configMap('a', {}, held))
    const watch = collect(api.watch(configMaps, { resourceVersion: '1005' }))
    const marked = await api.delete(configMaps, inDefault('a'))
    expect(marked.metadata).toMatchObject({ deletionTimestamp: nowText, deletionGracePeriodSeconds: 0, ...held })
    await clock.advance(5_000)
    expect(await api.delete(configMaps, inDefault('a'))).toBe(marked)
    const keep = (finalizers: string[]) =>
      api.patch(configMaps, inDefault('a'), { type: 'merge', body: { metadata: { finalizers } } })
    await keep(['example.com/two'])
    expect((await keep([])).metadata.finalizers).toBeUndefined()
    await clock.advance(0)
    expect(watch.seen).toEqual(['MODIFIED a 1006', 'MODIFIED a 1007', 'DELETED a 1008'])
  })

  it('cannot be added once the object is being deleted: 422', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a', {}, { finalizers: ['example.com/one'] }))
    await api.delete(configMaps, inDefault('a'))
    const body = { metadata: { finalizers: ['example.com/one', 'example.com/late'] } }
    expect(await refusalOf(api.patch(configMaps, inDefault('a'), { type: 'merge', body }))).toMatchObject({
      code: 422,
      message:
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
    })
  })

  it('for the garbage collector follow the policy of the latest request', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    const finalizersAfter = async (propagationPolicy: 'Foreground' | 'Orphan' | 'Background' | undefined) =>
      (await api.delete(configMaps, inDefault('a'), propagationPolicy === undefined ? {} : { propagationPolicy }))
        .metadata.finalizers
    expect(await finalizersAfter('Foreground')).toEqual(['example.com/hold', 'foregroundDeletion'])
    expect(await finalizersAfter(undefined)).toEqual(['example.com/hold', 'foregroundDeletion'])
    expect(await finalizersAfter('Orphan')).toEqual(['example.com/hold', 'orphan'])
    expect(await finalizersAfter('Background')).toEqual(['example.com/hold'])
  })

  it('that the latest request takes away let the object go, and who asked hears that it is gone', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a'))
    const gone: string[] = []
    const onGone = () => gone.push('gone')
    await api.delete(configMaps, inDefault('a'), { propagationPolicy: 'Foreground', onGone })
    expect(gone).toEqual([])
    await api.delete(configMaps, inDefault('a'), { propagationPolicy: 'Background', onGone })
    expect(gone).toEqual(['gone'])
    expect((await refusalOf(api.get(configMaps, inDefault('a')))).code).toBe(404)
  })

  it('make being deleted a new generation, once', async () => {
    const { api } = fixture()
    const template = { metadata: { labels: { app: 'a' } }, spec: pod('x').spec }
    await api.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default', finalizers: ['example.com/hold'] },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    })
    const generations = [
      await api.delete(deployments, inDefault('d')),
      await api.delete(deployments, inDefault('d'), { propagationPolicy: 'Foreground' }),
    ].map(({ metadata }) => metadata.generation)
    expect(generations).toEqual([2, 2])
  })
})

describe('the grace period of a pod', () => {
  it('keeps a pod that runs on a node, marked with the time of its end', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a', { nodeName: 'n1', terminationGracePeriodSeconds: 45 }))
    const marked = await api.delete(pods, inDefault('a'))
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:45Z',
      deletionGracePeriodSeconds: 45,
      generation: 2,
    })
    expect(await api.get(pods, inDefault('a'))).toBe(marked)
  })

  it('can be shortened but never prolonged', async () => {
    const { api, clock } = fixture()
    await api.create(pods, pod('a', { nodeName: 'n1' }))
    const marked = await api.delete(pods, inDefault('a'))
    await clock.advance(4_000)
    expect(await api.delete(pods, inDefault('a'), { gracePeriodSeconds: 60 })).toBe(marked)
    expect(await api.delete(pods, inDefault('a'))).toBe(marked)
    expect((await api.delete(pods, inDefault('a'), { gracePeriodSeconds: 10 })).metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:10Z',
      deletionGracePeriodSeconds: 10,
      generation: 2,
    })
    expect((await api.delete(pods, inDefault('a'), { gracePeriodSeconds: 2 })).metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:04Z',
      deletionGracePeriodSeconds: 1,
    })
  })

  it('of nothing ends the pod at once; watchers see it marked first', async () => {
    const { api, clock } = fixture()
    await api.create(pods, pod('a', { nodeName: 'n1' }))
    const watch = collect(api.watch(pods, { resourceVersion: '1005' }))
    await api.delete(pods, inDefault('a'))
    await api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    await clock.advance(0)
    expect(watch.seen).toEqual(['MODIFIED a 1006', 'MODIFIED a 1007', 'DELETED a 1008'])
    expect((await refusalOf(api.get(pods, inDefault('a')))).code).toBe(404)
  })

  it('is not given to a pod that no node has taken, nor to one that has finished', async () => {
    const { api } = fixture()
    await api.create(pods, pod('pending'))
    const made = await api.create(pods, pod('finished', { nodeName: 'n1' }))
    await api.update(pods, { ...made, status: { phase: 'Succeeded' } }, { subresource: 'status' })
    await api.delete(pods, inDefault('pending'))
    await api.delete(pods, inDefault('finished'))
    expect((await api.list(pods)).items).toEqual([])
  })

  it('of nothing does not end a pod that a finalizer holds', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a', { nodeName: 'n1' }, { finalizers: ['example.com/hold'] }))
    const marked = await api.delete(pods, inDefault('a'), { gracePeriodSeconds: 0 })
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, deletionTimestamp: nowText })
    await api.patch(pods, inDefault('a'), { type: 'json', body: [{ op: 'remove', path: '/metadata/finalizers' }] })
    expect((await api.list(pods)).items).toEqual([])
  })
})

describe('a dry run of a deletion', () => {
  it('shows a pod that would go at once as it would be last seen', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a'))
    const shown = await api.delete(pods, inDefault('a'), { dryRun: true })
    expect(shown.metadata).toMatchObject({ deletionTimestamp: nowText, generation: 2 })
    expect((await api.get(pods, inDefault('a'))).metadata.deletionTimestamp).toBeUndefined()
  })
})

describe('namespaces', () => {
  it('that are deleted are terminating until their finalizers are gone', async () => {
    const { api } = fixture()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const leaving = await api.delete(namespaces, { name: 'shop' })
    expect([leaving.metadata.deletionTimestamp, leaving.status, leaving.spec]).toEqual([
      nowText,
      { phase: 'Terminating' },
      { finalizers: ['kubernetes'] },
    ])
    const kept = await api.update(namespaces, { ...leaving, spec: { finalizers: [] } })
    expect(kept.spec).toEqual({ finalizers: ['kubernetes'] })
    await api.update(namespaces, { ...kept, spec: { finalizers: [] } }, { subresource: 'finalize' })
    expect((await refusalOf(api.get(namespaces, { name: 'shop' }))).code).toBe(404)
  })

  it('that are not the one that is meant are not deleted: 409, in words of their own', async () => {
    const { api } = fixture()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const refusal = await refusalOf(api.delete(namespaces, { name: 'shop' }, { preconditions: { uid: 'another' } }))
    expect(refusal).toMatchObject({ code: 409, details: { kind: 'namespaces' } })
    expect(refusal.message).toContain('Precondition failed: UID in precondition: another, UID in object meta: ')
  })

  it('that the cluster needs cannot be deleted: 403', async () => {
    const { api } = fixture()
    expect(await refusalOf(api.delete(namespaces, { name: 'kube-system' }))).toMatchObject({
      code: 403,
      message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    })
  })
})

describe('the deletion of a collection', () => {
  it('reaches what is selected and nothing else', async () => {
    const { api } = fixture()
    for (const name of ['a', 'b', 'c']) {
      await api.create(configMaps, configMap(name, {}, { labels: { go: name === 'b' ? 'no' : 'yes' } }))
    }
    await api.deleteCollection(configMaps, { namespace: 'default', labelSelector: 'go=yes' })
    expect((await api.list(configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(['b'])
  })
})
