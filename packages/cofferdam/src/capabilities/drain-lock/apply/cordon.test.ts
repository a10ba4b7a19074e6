import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cordonMarkOf } from '../../../shared/cordon-mark.ts'
import { cordonNode, uncordonNode, unmarkNode } from './cordon.ts'

const signal = new AbortController().signal
let scenario: Scenario
let seen = { nodeUid: '', nodeVersion: '' }

beforeEach(async () => {
  scenario = openScenario()
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', labels: { disk: 'ssd' } } }
  const { metadata } = await scenario.api.create(nodes, node)
  seen = { nodeUid: metadata.uid ?? '', nodeVersion: metadata.resourceVersion ?? '' }
})
afterEach(() => scenario.stop())

const order = () => ({ nodeName: 'a', requestId: 'R1', ...seen })
const isCordoned = async () => (await scenario.api.get(nodes, { name: 'a' })).spec?.unschedulable === true

describe('the cordon of a request', () => {
  it('is set on the very version of the node that was seen', async () => {
    expect(await cordonNode(scenario.api, order(), signal)).toBe(true)
    expect(await isCordoned()).toBe(true)
  })

  it('is not set by a process that was stalled: its successor has ended the request, and the node would stay closed for good', async () => {
    await cordonNode(scenario.api, order(), signal)
    await uncordonNode(scenario.api, order(), signal)
    expect(await cordonNode(scenario.api, order(), signal)).toBe(false)
    expect(await isCordoned()).toBe(false)
  })

  it('is forgotten where somebody opened the node; a cordon that they set meanwhile stays, and is no longer taken for ours', async () => {
    await cordonNode(scenario.api, order(), signal)
    await scenario.api.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await scenario.api.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await unmarkNode(scenario.api, order(), signal)
    expect(await isCordoned()).toBe(true)
    expect(cordonMarkOf(await scenario.api.get(nodes, { name: 'a' }))).toBe('')
  })

  it('is not lifted once others have opened the node and closed it again, seen or not: they would work on a node that gets new pods', async () => {
    await cordonNode(scenario.api, order(), signal)
    await scenario.api.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await scenario.api.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await uncordonNode(scenario.api, order(), signal)
    expect(await isCordoned()).toBe(true)
    expect(cordonMarkOf(await scenario.api.get(nodes, { name: 'a' }))).toBe('')
  })

  it('is taken over by the request that holds the node now, and then lifted by that one alone', async () => {
    await cordonNode(scenario.api, order(), signal)
    const { metadata } = await scenario.api.get(nodes, { name: 'a' })
    const other = { ...order(), requestId: 'R2', nodeVersion: metadata.resourceVersion }
    expect(await cordonNode(scenario.api, other, signal)).toBe(true)
    expect(cordonMarkOf(await scenario.api.get(nodes, { name: 'a' }))).toBe('R2')
    await uncordonNode(scenario.api, order(), signal)
    expect(await isCordoned()).toBe(true)
    await uncordonNode(scenario.api, other, signal)
    expect(await isCordoned()).toBe(false)
  })

  it('is not forgotten for another request', async () => {
    await cordonNode(scenario.api, order(), signal)
    await unmarkNode(scenario.api, { ...order(), requestId: 'R2' }, signal)
    expect(cordonMarkOf(await scenario.api.get(nodes, { name: 'a' }))).toBe('R1')
  })
})

/** A node that an administrator has closed, with no mark of ours. */
async function closedByHand() {
  const { api, stop } = openScenario()
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' }, spec: { unschedulable: true } }
  const { metadata } = await api.create(nodes, node)
  const stateNow = async () => {
    const { spec, metadata } = await api.get(nodes, { name: 'b' })
    return { isCordoned: spec?.unschedulable === true, annotations: metadata.annotations ?? {} }
  }
  return { api, stop, stateNow, order: { nodeName: 'b', nodeUid: metadata.uid ?? '', requestId: 'R1' } }
}

describe('a node that an administrator has closed', () => {
  it('stays closed when a request for it ends: new pods would land on its broken disk', async () => {
    const { api, stop, stateNow, order } = await closedByHand()
    await uncordonNode(api, order, signal)
    expect(await stateNow()).toEqual({ isCordoned: true, annotations: {} })
    stop()
  })

  it('gets no mark of a request that was about to close it: the node would be opened when that ends', async () => {
    const { api, stop, stateNow, order } = await closedByHand()
    expect(await cordonNode(api, { ...order, nodeVersion: undefined }, signal)).toBe(true)
    expect(await stateNow()).toEqual({ isCordoned: true, annotations: {} })
    stop()
  })
})
