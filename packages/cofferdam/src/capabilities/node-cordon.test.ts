import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, node, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cordonMarkOf } from '../shared/cordon-mark.ts'
import { changeCordon } from './node-cordon.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = openScenario()
  await scenario.api.create(nodes, node(1))
})
afterEach(() => scenario.stop())

const { signal } = new AbortController()
const order = { nodeName: 'node-1', nodeUid: '' }
const cordon = { isCordoned: true, mark: 'for-this' }
const seen = async () => {
  const found = await scenario.api.get(nodes, { name: 'node-1' })
  return [found.spec?.unschedulable === true, cordonMarkOf(found)]
}

/** Somebody else changes the node between the first reads and their writes. */
function disturbed(times: number): KubeApi {
  let left = times
  const { api } = scenario
  return changedApi(api, {
    async patch(type, key, patch, options) {
      if (left > 0) {
        left -= 1
        await api.patch(
          nodes,
          { name: 'node-1' },
          { type: 'merge', body: { metadata: { labels: { at: String(left) } } } },
        )
      }
      return api.patch(type, key, patch, options)
    },
  })
}

it('cordon and mark are set and taken away in one write each', async () => {
  await changeCordon(scenario.api, order, () => cordon, signal)
  expect(await seen()).toEqual([true, 'for-this'])
  await changeCordon(scenario.api, order, () => ({ isCordoned: false, mark: null }), signal)
  expect(await seen()).toEqual([false, ''])
})

it('a node that another client changed meanwhile is decided about again: else a cordon of that client would get our mark', async () => {
  let decisions = 0
  const decide = () => {
    decisions += 1
    return decisions < 3 ? cordon : undefined
  }
  expect(await changeCordon(disturbed(2), order, decide, signal)).toBeUndefined()
  expect([decisions, await seen()]).toEqual([3, [false, '']])
})

it('a cordon that somebody sets between the look and the write is not undone: the write names the version that was looked at', async () => {
  const bodies: unknown[] = []
  const api: Pick<KubeApi, 'get' | 'patch'> = {
    get: scenario.api.get.bind(scenario.api),
    patch: (type, key, patch) => {
      bodies.push(patch.body)
      return scenario.api.get(type, key)
    },
  }
  const { metadata } = await scenario.api.get(nodes, { name: 'node-1' })
  await changeCordon(api, order, () => ({ isCordoned: false, mark: null }), signal)
  expect(bodies).toMatchObject([{ metadata: { resourceVersion: metadata.resourceVersion } }])
})

it('what always conflicts is given up, and fails', async () => {
  await expect(changeCordon(disturbed(20), order, () => cordon, signal)).rejects.toThrow('modified')
})

it('a mark alone changes without touching the cordon', async () => {
  await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
  await changeCordon(scenario.api, order, () => ({ mark: 'noted' }), signal)
  expect(await seen()).toEqual([true, 'noted'])
})

it('another node of the same name is left alone, and so is one that is gone', async () => {
  expect(await changeCordon(scenario.api, { ...order, nodeUid: 'another' }, () => cordon, signal)).toBeUndefined()
  expect(await seen()).toEqual([false, ''])
  expect(await changeCordon(scenario.api, { nodeName: 'node-9', nodeUid: '' }, () => cordon, signal)).toBeUndefined()
})
