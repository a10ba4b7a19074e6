import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import type { PriorityClass } from '../builtin/class-strategies.ts'
import { fixture, pod, refusalOf } from './testing/fixture.ts'

const priorityClasses: ResourceType<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
}
const urgent = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'urgent' }, value: 7 }

async function priorityOf(spec: Parameters<typeof pod>[1], ...classes: readonly KubeObject[]) {
  const { api } = fixture()
  for (const each of classes) await api.create(priorityClasses, each)
  const made = await api.create(pods, pod('a', spec))
  return [made.spec.priority, made.spec.priorityClassName]
}

describe('the priority of a new pod', () => {
  it('is that of its class, so that the scheduler places it before others', async () => {
    expect(await priorityOf({ priorityClassName: 'urgent' }, urgent)).toEqual([7, 'urgent'])
  })

  it('is that of the default class where the pod names none', async () => {
    expect(
      await priorityOf({}, urgent, { ...urgent, metadata: { name: 'most' }, globalDefault: true } as never),
    ).toEqual([7, 'most'])
  })

  it('is nothing special where there is no class at all', async () => {
    expect(await priorityOf({}, urgent)).toEqual([0, undefined])
  })

  it('is known of classes that every server has', async () => {
    expect(await priorityOf({ priorityClassName: 'system-node-critical' })).toEqual([
      2_000_001_000,
      'system-node-critical',
    ])
  })

  it('of a class that does not exist is refused: a misspelt class would pass every test and no real cluster', async () => {
    const { api } = fixture()
    expect(await refusalOf(api.create(pods, pod('a', { priorityClassName: 'absent' })))).toMatchObject({
      code: 403,
      message: 'pods "a" is forbidden: no PriorityClass with name absent was found',
    })
  })

  it('of a class that does not exist is refused in the name that the pod was sent with', async () => {
    const { api } = fixture()
    const { name: _, ...metadata } = pod('', { priorityClassName: 'absent' }).metadata
    const sent = { ...pod('', { priorityClassName: 'absent' }), metadata: { ...metadata, generateName: 'a-' } } as never
    expect((await refusalOf(api.create(pods, sent))).message).toContain('pods "a-" is forbidden')
  })

  it('of a class that does not exist is refused also where the pod has no name: the refusal would name nothing at all', async () => {
    const { api } = fixture()
    expect(await refusalOf(api.create(pods, pod('', { priorityClassName: 'absent' })))).toMatchObject({
      message: 'pods "Unknown" is forbidden: no PriorityClass with name absent was found',
      details: { name: 'Unknown' },
    })
  })

  it('cannot be chosen beside the class', async () => {
    const { api } = fixture()
    expect(await refusalOf(api.create(pods, pod('a', { priority: 5 })))).toMatchObject({ code: 403 })
  })
})
