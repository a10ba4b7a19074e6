import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease, Namespace } from '@cofferdam/kubernetes/api/core.ts'
import { leases, namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { changedApi, node, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { installDefinitions } from '../../ledger/store/testing/ledger-fixture.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { inProcess, runUntil } from '../testing/run-command.ts'
import { createDrainCommand } from './drain.ts'
import type { DrainResult } from './drain-result.ts'
import { createUncordonCommand } from './uncordon.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = openScenario()
  await installDefinitions(scenario.api)
  await scenario.api.create(nodes, node(1))
  await scenario.api.create<Namespace>(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: operatorAccount.namespace },
  })
  await scenario.api.create<Lease>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...operatorAccount },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 36_000, renewTime: '2026-01-01T00:00:00.000000Z' },
  })
})
afterEach(() => scenario.stop())

interface Running {
  /** Ctrl-C. */
  interrupt(): void
  readonly ended: Promise<{ code: number; out: string; err: string }>
}

function start(name: 'drain' | 'uncordon', argv: readonly string[], api: KubeApi = scenario.api): Running {
  const { connect } = inProcess(api)
  const ports = { connect, clock: scenario.clock, requester: () => 'ann@desk' }
  const command = name === 'drain' ? createDrainCommand(ports) : createUncordonCommand(ports)
  const ending = new AbortController()
  const ended = runUntil(ending.signal, command as never, name, ...argv)
  return { interrupt: () => ending.abort(), ended }
}
const drain = (...argv: string[]) => start('drain', argv)
const uncordon = (...argv: string[]) => start('uncordon', argv)

type Status = NonNullable<NodeDisruption['status']>

/** Plays the operator: the one request there is comes to have this status. */
async function record(status: Status, name?: string): Promise<void> {
  await scenario.seconds(1)
  const all = await scenario.list(nodeDisruptions)
  const disruption = name === undefined ? all.at(-1) : all.find(({ metadata }) => metadata.name === name)
  if (disruption === undefined) throw new Error('there is no request')
  await scenario.api.update(nodeDisruptions, { ...disruption, status }, { subresource: 'status' })
  await scenario.seconds(2)
}

const web = { namespace: 'shop', name: 'web-1', uid: 'u-1' }
const orders = { namespace: 'shop', name: 'orders-0', uid: 'u-2' }
const blocker = {
  object: 'pdb/shop/orders',
  holder: 'op-1 for nodedisruption/other',
  since: '2026-01-01T00:00:00Z',
  reason: 'HeldByRequest',
  wayOut: 'It is free when the node of that request is back.',
}

describe('drain', () => {
  it('makes a request, tells how it goes, and ends with 0 when the node may be rebooted', async () => {
    const running = drain('node-1', '--reason', 'kernel')
    await record({ phase: 'Waiting', blockedBy: [blocker] })
    await record({ phase: 'Draining', skippedPods: [orders], evictedPods: [web], blockedBy: [] })
    await record({
      phase: 'Drained',
      skippedPods: [orders],
      evictedPods: [web],
      blockedBy: [{ ...blocker, object: 'node/node-1', reason: 'NodeMayGo' }],
      warnings: [{ object: 'node/node-1', says: 'its kubelet ends pods within 30 s' }],
    })
    expect(await running.ended).toEqual({
      code: 0,
      err: [
        'NodeDisruption node-1-20260101-000000 created',
        'Waiting    Request for node-1 is queued. It holds nothing while it waits.',
        '           waits for pdb/shop/orders (HeldByRequest), held by op-1 for nodedisruption/other for 2s. It is free when the node of that request is back.',
        'Draining   node-1 is being drained: its pods are evicted.',
        '           shop/orders-0 stays on the node',
        '           evicted: shop/web-1',
        'Drained    node-1 is drained and can be rebooted now.',
        '           warning: node/node-1 its kubelet ends pods within 30 s',
        '',
      ].join('\n'),
      out: [
        'node/node-1  drained: node-1 is drained and can be rebooted now.',
        '  request   nodedisruption/node-1-20260101-000000',
        '  stay      shop/orders-0',
        '  evicted   shop/web-1',
        '  warning: node/node-1 its kubelet ends pods within 30 s',
        '  node-1 is drained and can be rebooted now; run `cofferdam uncordon node-1` if you do not reboot it',
        '',
      ].join('\n'),
    })
    const [made] = await scenario.list(nodeDisruptions)
    expect(made?.spec).toEqual({
      nodeName: 'node-1',
      intent: 'Reboot',
      requester: 'ann@desk',
      reason: 'kernel',
      honourSkipDrain: true,
      force: false,
      deleteEmptyDirData: false,
    })
  })

  it('carries every wish into the request', async () => {
    const argv = ['--intent', 'remove', '--requester', 'upgrade-bot', '--fallback-after', '90m', '--deadline', '2h']
    const glass = [
      '--no-skip-drain',
      '--force',
      '--delete-emptydir-data',
      '--break-glass',
      '--reason',
      'fire',
      '--for',
      '30m',
    ]
    const { code, out } = await drain('node/node-1', ...argv, ...glass, '--no-wait', '-o', 'json').ended
    expect(code).toBe(0)
    const [made] = await scenario.list(nodeDisruptions)
    expect(made?.spec).toEqual({
      nodeName: 'node-1',
      intent: 'Remove',
      requester: 'upgrade-bot',
      reason: 'fire',
      honourSkipDrain: false,
      force: true,
      deleteEmptyDirData: true,
      fallbackAfter: '1h30m',
      deadline: '2026-01-01T02:00:00Z',
    })
    expect(made?.metadata.annotations).toEqual({
      'cofferdam.io/break-glass': '{"by":"upgrade-bot","reason":"fire","until":"2026-01-01T00:30:00Z"}',
    })
    expect(JSON.parse(out) as DrainResult).toEqual({
      outcome: 'requested',
      isJoined: false,
      observedAt: '2026-01-01T00:00:00Z',
      disruption: {
        request: 'node-1-20260101-000000',
        node: 'node-1',
        intent: 'Remove',
        requester: 'upgrade-bot',
        purpose: 'fire',
        phase: 'Pending',
        since: '2026-01-01T00:00:00Z',
        explanation: 'Request for node-1 is not picked up yet. Is the operator running? (cofferdam status)',
        isBlocked: false,
        blockedBy: [],
        warnings: [],
        stays: [],
        evicted: [],
        locked: [],
        hasFallenBack: false,
        fallbackAfter: '1h30m',
        deadline: '2026-01-01T02:00:00Z',
        breakGlass: { by: 'upgrade-bot', reason: 'fire', until: '2026-01-01T00:30:00Z' },
        isCancelled: false,
      },
      next: [
        'the request stays, and continues by itself',
        'watch it:  kubectl get nodedisruption node-1-20260101-000000 -w, or cofferdam explain nodedisruption/node-1-20260101-000000',
        'cancel it: cofferdam uncordon node-1',
      ],
    })
  })

  it('follows the request that is under way instead of making a second one, and breaks glass on it', async () => {
    await drain('node-1', '--intent', 'remove', '--no-wait').ended
    await scenario.seconds(5)
    const { err } = await drain('node-1', '--no-wait').ended
    expect(err).toContain('NodeDisruption node-1-20260101-000000 is already in progress and is followed')
    expect(err).toContain('warning: the request is for intent Remove, and that does not change')
    await drain('node-1', '--break-glass', '--reason', 'fire', '--for', '30m', '--no-wait').ended
    const made = await scenario.list(nodeDisruptions)
    expect(made.map(({ metadata }) => metadata.annotations?.['cofferdam.io/break-glass'])).toEqual([
      '{"by":"ann@desk","reason":"fire","until":"2026-01-01T00:30:05Z"}',
    ])
  })

  it('does not follow one that asks for less, and breaks no glass on it: its end would be taken for what was asked', async () => {
    await drain('node-1', '--no-wait').ended
    const glass = ['--break-glass', '--reason', 'fire', '--for', '30m']
    expect(await drain('node-1', '--intent', 'remove', '--no-wait', ...glass).ended).toEqual({
      code: 1,
      out: '',
      err: [
        'error: nodedisruption/node-1-20260101-000000 is in progress for node-1 and does not cover what was asked: intent is Reboot, asked for Remove',
        'hint: nothing was changed. Wait until it has ended (kubectl get nodedisruption node-1-20260101-000000 -w), or cancel it (cofferdam uncordon node-1), then try again',
        '',
      ].join('\n'),
    })
    const [made] = await scenario.list(nodeDisruptions)
    expect(made?.metadata.annotations).toBeUndefined()
  })

  it('leaves it to the operator to hold the request where pods may not be listed', async () => {
    const api = changedApi(scenario.api, {
      list: (type, query) =>
        type.plural === 'pods'
          ? Promise.reject(new ApiError('Forbidden', 'pods are not yours'))
          : scenario.api.list(type, query),
    })
    expect((await start('drain', ['node-1', '--no-wait'], api).ended).code).toBe(0)
    expect(await scenario.list(nodeDisruptions)).toHaveLength(1)
  })

  it('ends with 3 when the deadline passes, not with 0 while the node is given back with its pods on it', async () => {
    const running = drain('node-1', '--deadline', '5m')
    await record({ phase: 'Draining', evictedPods: [web] })
    await record({ phase: 'Recovering', evictedPods: [web] })
    await record({ phase: 'Rejected', evictedPods: [web] })
    const { code, out } = await running.ended
    expect([code, out]).toEqual([3, expect.stringContaining('node/node-1  rejected')])
  })

  it('makes another request once the last one is over', async () => {
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Completed' })
    await drain('node-1', '--no-wait').ended
    expect(await scenario.list(nodeDisruptions)).toHaveLength(2)
  })

  it('waits behind a request whose node is back: it ended with 1, so a Job that was tried again failed', async () => {
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Recovering' })
    const running = drain('node-1')
    await scenario.seconds(1)
    const [old, young] = await scenario.list(nodeDisruptions)
    await record({ phase: 'Waiting', blockedBy: [{ ...blocker, object: 'node/node-1' }] }, young?.metadata.name)
    await record({ phase: 'Completed' }, old?.metadata.name)
    await record({ phase: 'Drained' }, young?.metadata.name)
    const { code, err } = await running.ended
    expect(code).toBe(0)
    expect(err).toContain(
      `nodedisruption/${old?.metadata.name} is Recovering: node-1 is drained again when nothing is held for it`,
    )
    expect(err).toContain('waits for node/node-1 (HeldByRequest)')
  })

  it('joins the one that waits behind it: every try would have made one more, and drained the node once more', async () => {
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Recovering' })
    const first = drain('node-1', '--fail-if-blocked')
    await record({ phase: 'Waiting', blockedBy: [blocker] }, 'node-1-20260101-000003')
    expect((await first.ended).code).toBe(3)
    const { code, err } = await drain('node-1', '--no-wait').ended
    expect(code).toBe(0)
    expect(err).toContain('NodeDisruption node-1-20260101-000003 is already in progress and is followed')
    expect(await scenario.list(nodeDisruptions)).toHaveLength(2)
  })

  it('does not take Drained of the boot before for an answer: the node is up, and would be rebooted with its pods on it', async () => {
    const boots = (bootID: string) =>
      scenario.api.patch(
        nodes,
        { name: 'node-1' },
        { type: 'merge', body: { status: { nodeInfo: { bootID } } } },
        { subresource: 'status' },
      )
    await boots('boot-1')
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Drained', bootIDBefore: 'boot-1' })
    expect((await drain('node-1').ended).code).toBe(0)
    await boots('boot-2')
    const { err } = await drain('node-1', '--no-wait').ended
    expect(err).toContain('nodedisruption/node-1-20260101-000000 was for a reboot that has taken place')
    expect(await scenario.list(nodeDisruptions)).toHaveLength(2)
  })

  it('in the second of a request that is being cancelled takes another name: it would have followed the end of that one', async () => {
    await drain('node-1', '--no-wait').ended
    const name = 'node-1-20260101-000000'
    const kept = { type: 'merge', body: { metadata: { finalizers: ['cofferdam.io/held'] } } } as const
    await scenario.api.patch(nodeDisruptions, { name }, kept)
    await scenario.api.delete(nodeDisruptions, { name })
    const { code, err } = await drain('node-1', '--no-wait').ended
    expect(code).toBe(0)
    expect(err).toContain('NodeDisruption node-1-20260101-000001 created')
    expect(err).toContain(`nodedisruption/${name} is being cancelled`)
  })

  it('without patience ends with 3 when it is blocked, says by what, and leaves the request', async () => {
    const running = drain('node-1', '--fail-if-blocked')
    await record({ phase: 'Waiting', blockedBy: [blocker] })
    const { code, out } = await running.ended
    expect(code).toBe(3)
    expect(out).toContain('node/node-1  blocked: ')
    expect(out).toContain('waits for pdb/shop/orders (HeldByRequest), held by op-1 for nodedisruption/other')
    expect(out).toContain('the request stays, and continues by itself')
    expect(await scenario.list(nodeDisruptions)).toHaveLength(1)
  })

  it('that was rejected ends with 3 and the reason', async () => {
    const running = drain('node-1', '--deadline', '1m')
    const condition = {
      type: 'Ended',
      status: 'True' as const,
      reason: 'DeadlinePassed',
      message: 'It missed its deadline then.',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    }
    await record({ phase: 'Rejected', conditions: [condition] })
    const { code, out } = await running.ended
    expect(code).toBe(3)
    expect(out).toContain('node/node-1  rejected: It missed its deadline then.')
  })

  it('that is not done in time ends with 4, and says how to watch and how to cancel', async () => {
    const running = drain('node-1', '--timeout', '1m')
    await record({ phase: 'Draining', evictedPods: [web] })
    await scenario.seconds(60)
    const { code, out } = await running.ended
    expect(code).toBe(4)
    expect(out).toContain('node/node-1  not done yet: node-1 is being drained: its pods are evicted.')
    expect(out).toContain('watch it:  kubectl get nodedisruption node-1-20260101-000000 -w')
    expect(out).toContain('cancel it: cofferdam uncordon node-1')
  })

  it('left with Ctrl-C leaves the request and says so', async () => {
    const running = drain('node-1')
    await record({ phase: 'Draining' })
    running.interrupt()
    const { code, out } = await running.ended
    expect(code).toBe(4)
    expect(out).toContain('node/node-1  left alone: ')
    expect(out).toContain('the request stays, and continues by itself')
    expect(await scenario.list(nodeDisruptions)).toHaveLength(1)
  })

  it('whose request somebody deletes ends with 3', async () => {
    const running = drain('node-1')
    await record({ phase: 'Waiting' })
    await scenario.api.delete(nodeDisruptions, { name: 'node-1-20260101-000000' })
    await scenario.seconds(2)
    const { code, out } = await running.ended
    expect(code).toBe(3)
    expect(out).toContain('cancelled: nodedisruption/node-1-20260101-000000 was deleted meanwhile.')
  })

  it('goes on when the API is silent for a while, and tells it once', async () => {
    let isSilent = false
    const api = changedApi(scenario.api, {
      get: ((...request: Parameters<KubeApi['get']>) =>
        isSilent
          ? Promise.reject(new CofferdamError('API_UNREACHABLE', 'the Kubernetes API did not answer'))
          : scenario.api.get(...request)) as KubeApi['get'],
    })
    const running = start('drain', ['node-1'], api)
    await record({ phase: 'Draining' })
    isSilent = true
    await scenario.seconds(5)
    isSilent = false
    await record({ phase: 'Drained' })
    const { code, err } = await running.ended
    expect(code).toBe(0)
    expect(err.match(/did not answer/g)).toHaveLength(1)
  })

  it('where no operator runs says that nobody works on it', async () => {
    await scenario.api.delete(leases, operatorAccount)
    const { err } = await drain('node-1', '--no-wait').ended
    expect(err).toContain('warning: no operator is running, so the request waits')
  })

  const misused: Record<string, { given: string[]; says: string }> = {
    'glass is not broken without a reason': {
      given: ['node-1', '--break-glass', '--for', '30m'],
      says: '--break-glass needs a --reason',
    },
    'glass is not broken without an end': {
      given: ['node-1', '--break-glass', '--reason', 'x'],
      says: '--break-glass must end',
    },
    'glass is not broken for a day': {
      given: ['node-1', '--break-glass', '--reason', 'x', '--for', '24h'],
      says: 'a break-glass override lasts 1h at most',
    },
    'a time without broken glass means nothing': {
      given: ['node-1', '--for', '30m'],
      says: 'use it with --break-glass',
    },
    'an intent that nobody knows is refused': { given: ['node-1', '--intent', 'explode'], says: 'Allowed choices' },
  }
  it.each(Object.entries(misused))('%s, and no request is made', async (_, { given, says }) => {
    const { code, err } = await drain(...given).ended
    expect(code).toBe(2)
    expect(err).toContain(says)
    expect(await scenario.list(nodeDisruptions)).toEqual([])
  })

  it('of a node that is not there is an error with the closest name, and no request is made', async () => {
    const { code, err } = await drain('node-11').ended
    expect(code).toBe(1)
    expect(err).toContain('did you mean node-1?')
    expect(await scenario.list(nodeDisruptions)).toEqual([])
  })

  it('in a cluster without Cofferdam says how to install it', async () => {
    const bare = openScenario()
    await bare.api.create(nodes, node(1))
    const { code, err } = await start('drain', ['node-1'], bare.api).ended
    expect(code).toBe(1)
    expect(err).toContain('kubectl apply -k deploy/')
    bare.stop()
  })
})

const cordoned = { type: 'merge', body: { spec: { unschedulable: true } } } as const
const isCordoned = async () => (await scenario.api.get(nodes, { name: 'node-1' })).spec?.unschedulable === true

describe('uncordon', () => {
  it('gives a drained node back by lifting the cordon, and waits until nothing is held', async () => {
    await drain('node-1', '--no-wait').ended
    await scenario.api.patch(nodes, { name: 'node-1' }, cordoned)
    await record({ phase: 'Drained', cordonedBy: 'nodedisruption/node-1-20260101-000000' })
    const running = uncordon('node-1')
    await scenario.seconds(1)
    expect(await isCordoned()).toBe(false)
    await record({ phase: 'Recovering' })
    await record({ phase: 'Completed' })
    const { code, out, err } = await running.ended
    expect(code).toBe(0)
    expect(out).toBe(
      'node/node-1  released: Nothing is held for it.\n  request   nodedisruption/node-1-20260101-000000\n',
    )
    expect(err).toContain('Recovering ')
    expect(await scenario.list(nodeDisruptions)).toHaveLength(1)
  })

  it('before the node is drained cancels the request, and leaves the cordon to the operator', async () => {
    await drain('node-1', '--no-wait').ended
    await scenario.api.patch(nodes, { name: 'node-1' }, cordoned)
    await record({ phase: 'Draining', cordonedBy: 'nodedisruption/node-1-20260101-000000' })
    const running = uncordon('node-1', '--no-wait')
    const { code, err } = await running.ended
    expect(code).toBe(0)
    expect(err).toContain('nodedisruption/node-1-20260101-000000 is Draining, and is cancelled')
    expect(await isCordoned()).toBe(true)
    expect(await scenario.list(nodeDisruptions)).toEqual([])
  })

  it('leaves a node that somebody else had cordoned, unless forced', async () => {
    await scenario.api.patch(nodes, { name: 'node-1' }, cordoned)
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Drained', cordonedBy: 'another user' })
    const { code, out } = await uncordon('node-1').ended
    expect(code).toBe(3)
    expect(out).toContain('still cordoned: It was cordoned by another user before')
    expect(await isCordoned()).toBe(true)
    expect((await uncordon('node-1', '--force', '--no-wait').ended).code).toBe(0)
    expect(await isCordoned()).toBe(false)
  })

  it('ends with 4 while something is still felt of the drain, and says what', async () => {
    await drain('node-1', '--no-wait').ended
    await record({
      phase: 'Recovering',
      blockedBy: [{ ...blocker, object: 'pod/shop/orders-0', reason: 'PodsRecovering', wayOut: 'It has to run.' }],
    })
    const running = uncordon('node-1', '--timeout', '5s')
    await scenario.seconds(6)
    const { code, out } = await running.ended
    expect(code).toBe(4)
    expect(out).toContain('waits for pod/shop/orders-0 (PodsRecovering), held by')
    expect(out).toContain('It has to run.')
  })

  it('ends all requests of the node, the youngest first: the one that waited would have drained the node when the other ended', async () => {
    await drain('node-1', '--no-wait').ended
    await record({ phase: 'Recovering' })
    await drain('node-1', '--no-wait').ended
    const [old = '', young = ''] = (await scenario.list(nodeDisruptions)).map(({ metadata }) => metadata.name)
    await record({ phase: 'Waiting' }, young)
    const running = uncordon('node-1')
    await scenario.seconds(1)
    expect((await scenario.list(nodeDisruptions)).map(({ metadata }) => metadata.name)).toEqual([old])
    await record({ phase: 'Completed' }, old)
    expect(await running.ended).toEqual({
      code: 0,
      out: `node/node-1  released: Nothing is held for it.\n  request   nodedisruption/${old}, nodedisruption/${young}\n`,
      err: expect.stringContaining(`nodedisruption/${young} is Waiting, and is cancelled`),
    })
  })

  it('of two that wait cancels the younger one first: the other one’s end would have let it begin', async () => {
    const deleted: string[] = []
    const api = changedApi(scenario.api, {
      delete: (type, key, options) => {
        deleted.push(key.name)
        return scenario.api.delete(type, key, options)
      },
    })
    await drain('node-1', '--no-wait').ended
    const [made] = await scenario.list(nodeDisruptions)
    await scenario.seconds(5)
    if (made !== undefined) await scenario.api.create(nodeDisruptions, { ...made, metadata: { name: 'a-younger-one' } })
    expect((await start('uncordon', ['node-1', '--no-wait'], api).ended).code).toBe(0)
    expect(deleted).toEqual(['a-younger-one', 'node-1-20260101-000000'])
  })

  const askers: Record<string, { phase: 'Waiting' | 'Drained' | 'Recovering'; says: string | undefined }> = {
    'says that a tool asks again: the request was back within seconds, and nobody knew why': {
      phase: 'Waiting',
      says: 'nodemaintenance/rack-2 asked for it. The operator creates the request again for as long as nodemaintenance/rack-2 asks for node-1: end it there',
    },
    'says that a tool may ask again for a node that it had got': {
      phase: 'Drained',
      says: 'nodemaintenance/rack-2 asked for it, and may ask for node-1 again: end it there',
    },
    'says nothing of a tool that has had what it asked for': { phase: 'Recovering', says: undefined },
  }
  it.each(Object.entries(askers))('%s', async (_, { phase, says }) => {
    await drain('node-1', '--no-wait').ended
    const annotations = { 'cofferdam.io/asked-by': 'nodemaintenance/rack-2' }
    const [made] = await scenario.list(nodeDisruptions)
    const key = { name: made?.metadata.name ?? '' }
    await scenario.api.patch(nodeDisruptions, key, { type: 'merge', body: { metadata: { annotations } } })
    await record({ phase })
    const { code, out } = await uncordon('node-1', '--no-wait').ended
    expect(code).toBe(0)
    expect(out.split('\n').slice(2, -1)).toEqual(says === undefined ? [] : [`  warning: ${says}`])
  })

  it('without a request does what kubectl uncordon does', async () => {
    await scenario.api.patch(nodes, { name: 'node-1' }, cordoned, { fieldManager: 'kubectl-cordon' })
    expect(await uncordon('node-1').ended).toEqual({
      code: 0,
      err: '',
      out: 'node/node-1  released: It, cordoned with kubectl-cordon, takes new pods again.\n',
    })
    expect(await isCordoned()).toBe(false)
    expect((await uncordon('node-1').ended).out).toContain('node/node-1  not cordoned: ')
  })

  it('names the taint of a tool that still empties the node: it said that the node takes new pods', async () => {
    const spec = { unschedulable: true, taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }] }
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec } })
    const closed = 'closed by taint karpenter.sh/disrupted (Karpenter)'
    expect((await uncordon('node-1').ended).out).toContain(`is uncordoned, but still ${closed}.`)
    expect((await uncordon('node-1').ended).out).toContain(`It is not cordoned, but ${closed}, and it has no request.`)
  })

  it('in a cluster without Cofferdam does what kubectl uncordon does', async () => {
    const bare = openScenario()
    await bare.api.create(nodes, node(1, { unschedulable: true }))
    expect((await start('uncordon', ['node-1'], bare.api).ended).code).toBe(0)
    expect((await bare.api.get(nodes, { name: 'node-1' })).spec?.unschedulable).toBeUndefined()
    bare.stop()
  })
})
