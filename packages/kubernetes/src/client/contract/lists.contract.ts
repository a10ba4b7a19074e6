import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/kube-object.ts'
import { configMaps, pods } from '../../api/resources.ts'
import type { ListQuery } from '../kube-api.ts'
import { type ContractFixture, createMap, pod, refusal } from './fixture.contract.ts'

const namesOf = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name)
// Clusters put objects of their own into each namespace; those of these stories carry this label.
const ours = { scenario: 'list' }

/** Reading many objects. */
export function describeLists(fixture: ContractFixture): void {
  async function fill(names: readonly string[], labelsOf: (name: string) => Record<string, string> = () => ({})) {
    const namespace = await fixture.namespace()
    for (const name of names) {
      await createMap(fixture, namespace, name, { metadata: { name, labels: { ...ours, ...labelsOf(name) } } })
    }
    return namespace
  }

  describe('listing', () => {
    it('gives the objects of a namespace in the order of their names, with the version of the whole', async () => {
      const namespace = await fill(['b', 'c', 'a'])
      const list = await fixture.api.list(configMaps, { namespace, labelSelector: 'scenario=list' })
      expect(namesOf(list.items)).toEqual(['a', 'b', 'c'])
      const newest = await fixture.api.get(configMaps, { namespace, name: 'a' })
      expect(BigInt(list.resourceVersion)).toBeGreaterThanOrEqual(BigInt(newest.metadata.resourceVersion ?? ''))
      expect(list.items[0]).toEqual(newest)
    })

    it('an empty namespace, even one that is not there, has an empty list', async () => {
      expect((await fixture.api.list(configMaps, { namespace: 'no-such-namespace' })).items).toEqual([])
    })

    it('reaches over all namespaces when none is named', async () => {
      const one = await fixture.namespace()
      const two = await fixture.namespace()
      for (const namespace of [one, two]) {
        await createMap(fixture, namespace, 'a', { metadata: { name: 'a', labels: { everywhere: one } } })
      }
      const list = await fixture.api.list(configMaps, { labelSelector: `everywhere=${one}` })
      expect(new Set(list.items.map(({ metadata }) => metadata.namespace))).toEqual(new Set([one, two]))
    })

    it('shows an earlier state when asked for exactly that version', async () => {
      const namespace = await fill(['a'])
      const query: ListQuery = { namespace, labelSelector: 'scenario=list' }
      const before = await fixture.api.list(configMaps, query)
      await fixture.api.delete(configMaps, { namespace, name: 'a' })
      const exact = { ...query, resourceVersion: before.resourceVersion, resourceVersionMatch: 'Exact' as const }
      expect(await fixture.api.list(configMaps, exact)).toEqual(before)
      expect((await fixture.api.list(configMaps, query)).items).toEqual([])
    })

    it('a version from the future is not waited for without end', async () => {
      const namespace = await fixture.namespace()
      const call = fixture.api.list(configMaps, {
        namespace,
        resourceVersion: '4000000000000000',
        resourceVersionMatch: 'NotOlderThan',
      })
      expect(await refusal(call)).toMatchObject({ code: 504, reason: 'Timeout' })
    })
  })

  describe('label selectors', () => {
    const labels: Record<string, Record<string, string>> = {
      plain: {},
      front: { tier: 'front' },
      back: { tier: 'back', size: 'big' },
    }
    const selections: Record<string, string[]> = {
      'tier=front': ['front'],
      'tier==front': ['front'],
      'tier!=front': ['back', 'plain'],
      'tier in (front,back)': ['back', 'front'],
      'tier notin (front)': ['back', 'plain'],
      tier: ['back', 'front'],
      '!tier': ['plain'],
      'tier,size=big': ['back'],
      'tier=front,size=big': [],
    }

    it('select by equality, sets and presence, and all parts must hold', async () => {
      const namespace = await fill(Object.keys(labels), (name) => labels[name] ?? {})
      const found: Record<string, string[]> = {}
      for (const labelSelector of Object.keys(selections)) {
        const { items } = await fixture.api.list(configMaps, {
          namespace,
          labelSelector: `scenario=list,${labelSelector}`,
        })
        found[labelSelector] = namesOf(items)
      }
      expect(found).toEqual(selections)
    })

    it('that cannot be read are refused with 400', async () => {
      const namespace = await fixture.namespace()
      for (const labelSelector of ['a in (b', '=x', 'a=b c', 'a=-']) {
        expect(await refusal(fixture.api.list(configMaps, { namespace, labelSelector }))).toMatchObject({
          code: 400,
          reason: 'BadRequest',
        })
      }
    })
  })

  describe('field selectors', () => {
    it('select by name, node and phase', async () => {
      const namespace = await fixture.namespace()
      await fixture.api.create(pods, pod(namespace, 'here', { nodeName: 'contract-node' }))
      await fixture.api.create(pods, pod(namespace, 'there', { nodeName: 'contract-other' }))
      await fixture.api.create(pods, pod(namespace, 'nowhere'))
      const status = { phase: 'Failed' }
      await fixture.api.patch(
        pods,
        { namespace, name: 'there' },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      )
      const found: Record<string, string[]> = {}
      const selections: Record<string, string[]> = {
        'metadata.name=here': ['here'],
        'spec.nodeName=contract-node': ['here'],
        'spec.nodeName=': ['nowhere'],
        'spec.nodeName!=': ['here', 'there'],
        'status.phase!=Failed': ['here', 'nowhere'],
        'status.phase=Failed,spec.nodeName=contract-node': [],
      }
      for (const fieldSelector of Object.keys(selections)) {
        found[fieldSelector] = namesOf((await fixture.api.list(pods, { namespace, fieldSelector })).items)
      }
      expect(found).toEqual(selections)
    })

    it('on a field that cannot be selected by, or without a value, are refused with 400', async () => {
      const namespace = await fixture.namespace()
      for (const fieldSelector of ['spec.containers=x', 'metadata.name']) {
        expect(await refusal(fixture.api.list(pods, { namespace, fieldSelector }))).toMatchObject({
          code: 400,
          reason: 'BadRequest',
        })
      }
    })
  })

  describe('pages', () => {
    it('add up to the list, and say how much is left', async () => {
      const namespace = await fill(['a', 'b', 'c', 'd', 'e'])
      const seen: string[] = []
      const query: ListQuery = { namespace, limit: 2, fieldSelector: 'metadata.name!=kube-root-ca.crt' }
      let page = await fixture.api.list(configMaps, query)
      const { resourceVersion } = page
      for (;;) {
        expect(page.items.length).toBeLessThanOrEqual(2)
        expect(page.resourceVersion).toBe(resourceVersion)
        seen.push(...namesOf(page.items))
        if (page.continueToken === undefined) break
        page = await fixture.api.list(configMaps, { ...query, continueToken: page.continueToken })
      }
      expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'])
    })

    it('tell the number of the remaining objects when nothing is selected', async () => {
      const namespace = await fixture.namespace()
      for (const name of ['a', 'b', 'c']) await fixture.api.create(pods, pod(namespace, name))
      const page = await fixture.api.list(pods, { namespace, limit: 1 })
      expect(namesOf(page.items)).toEqual(['a'])
      expect(page.remainingItemCount).toBe(2)
    })

    it('all show the same moment, whatever is written between them', async () => {
      const namespace = await fill(['a', 'b', 'c', 'd'])
      const query: ListQuery = { namespace, limit: 2, labelSelector: 'scenario=list' }
      const first = await fixture.api.list(configMaps, query)
      await fixture.api.delete(configMaps, { namespace, name: 'c' })
      await createMap(fixture, namespace, 'bb', { metadata: { name: 'bb', labels: ours } })
      await fixture.api.patch(
        configMaps,
        { namespace, name: 'd' },
        { type: 'merge', body: { data: { written: 'between' } } },
      )
      const second = await fixture.api.list(configMaps, { ...query, continueToken: first.continueToken ?? '' })
      expect(namesOf([...first.items, ...second.items])).toEqual(['a', 'b', 'c', 'd'])
      expect(second.items[1]?.data).toBeUndefined()
    })

    it('a token that is no token is refused with 400', async () => {
      const namespace = await fixture.namespace()
      const call = fixture.api.list(configMaps, { namespace, limit: 2, continueToken: 'nonsense' })
      expect(await refusal(call)).toMatchObject({ code: 400, reason: 'BadRequest' })
    })
  })
}
