import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import { createUncordonCommand } from '@cofferdam/product/cli/drain/uncordon.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
beforeEach(async () => {
  fixture = await openLockFixture()
})
afterEach(() => fixture.close())

async function run(name: 'drain' | 'uncordon', ...argv: string[]) {
  const ports = { connect: inProcess(fixture.api).connect, clock: fixture.clock, requester: () => 'ann@desk' }
  const command = name === 'drain' ? createDrainCommand(ports) : createUncordonCommand(ports)
  let isDone = false
  const ended = runCommand(command as never, name, ...argv).finally(() => {
    isDone = true
  })
  await fixture.until(`${name} has ended`, () => isDone, 900)
  return ended
}

const bare: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'migration' },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/migration:1' }] },
}
const onNode1 = (app: string) => fixture.podsOn('node-1').filter((name) => name.startsWith(app))
const requests = async () => (await fixture.api.list(nodeDisruptions)).items.map(({ metadata }) => metadata.name)
const noController = 'pod/shop/migration PodHasNoController'

/** Three pods that write to an emptyDir, one on each node. */
async function addCaches(): Promise<void> {
  const spread = { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'kubernetes.io/hostname' }
  const pod = {
    volumes: [{ name: 'scratch', emptyDir: {} }],
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [spread] } },
  }
  const made = deployment('cache', { pod })
  await fixture.api.create(deployments, { ...made, metadata: { name: 'cache', namespace: 'shop' } })
  await fixture.seconds(10)
}

describe('a request that does not ask to lose anything', () => {
  it('made by kubectl apply, waits with the bare pod named and destroys nothing; it goes on when somebody says so', async () => {
    await fixture.addLeaving('web', { replicas: 3 })
    await fixture.api.create(pods, bare)
    fixture.operate()
    await fixture.seconds(5)
    const before = fixture.podsOn('node-1')
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.seconds(3_600)
    expect([fixture.phaseOf('reboot-1'), fixture.blockersOf('reboot-1')]).toEqual(['Waiting', [noController]])
    expect([fixture.podsOn('node-1'), fixture.isCordoned('node-1'), fixture.heldKeys()]).toEqual([before, false, []])

    const body = { spec: { force: true } }
    await fixture.api.patch(nodeDisruptions, { name: 'reboot-1' }, { type: 'merge', body })
    await fixture.reach('reboot-1', 'Drained')
    expect(fixture.podsOn('node-1')).toEqual([])
  })

  it('waits for pods with emptyDir data too, and lets others take the node’s turn meanwhile', async () => {
    await addCaches()
    fixture.operate()
    await fixture.seconds(5)
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.seconds(60)
    const [cache] = onNode1('cache')
    expect([fixture.phaseOf('reboot-1'), fixture.blockersOf('reboot-1')]).toEqual([
      'Waiting',
      [`pod/shop/${cache} PodHasEmptyDirData`],
    ])
    await fixture.request('reboot-2', { nodeName: 'node-2', deleteEmptyDirData: true })
    await fixture.reach('reboot-2', 'Drained')
    expect(onNode1('cache')).toEqual([cache])
  })

  it('does not evict a bare pod that comes when the drain has begun: it is named, and the node may not go', async () => {
    await fixture.addStaying('db')
    await fixture.addLeaving('web', { replicas: 3 })
    fixture.operate()
    await fixture.seconds(5)
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('it has begun', () => fixture.phaseOf('reboot-1') === 'Draining')
    await fixture.api.create(pods, bare)
    await fixture.seconds(600)
    expect([fixture.phaseOf('reboot-1'), fixture.blockersOf('reboot-1')[0]]).toEqual(['Draining', noController])
    expect(onNode1('migration')).toEqual(['migration'])

    await fixture.api.delete(pods, { namespace: 'shop', name: 'migration' })
    await fixture.reach('reboot-1', 'Drained')
    expect(fixture.oracle.violations).toEqual([])
  })
})

describe('cofferdam drain', () => {
  it('refuses, as kubectl does, to destroy a bare pod and emptyDir data until asked for both, and makes no request', async () => {
    await fixture.api.create(pods, bare)
    await addCaches()
    fixture.operate()
    await fixture.seconds(5)
    const [cache] = onNode1('cache')
    const refused = await run('drain', 'node-1')
    expect([refused.code, await requests()]).toEqual([3, []])
    expect(refused.out).toBe(
      [
        'node/node-1  refused: evicting these pods deletes them or their data for good; no request was created',
        '  --force                 pod/shop/migration: no controller creates them again',
        `  --delete-emptydir-data  pod/shop/${cache}: the data in their emptyDir volumes would be deleted`,
        '  set the flags to continue, or move the pods first',
        '',
      ].join('\n'),
    )
    const half = await run('drain', 'node-1', '--force', '--no-wait')
    expect([half.code, await requests()]).toEqual([3, []])
    expect(half.out).not.toContain('migration')
    expect(fixture.podsOn('node-1')).toEqual([cache, 'migration'])

    const drained = await run('drain', 'node-1', '--force', '--delete-emptydir-data')
    expect([drained.code, fixture.podsOn('node-1')]).toEqual([0, []])
  })

  it('for a removal does not join a reboot under way: with exit code 0 the machine would be terminated with its pod', async () => {
    await fixture.addStaying('db')
    fixture.operate()
    await fixture.seconds(5)
    const [stays] = onNode1('db')
    expect((await run('drain', 'node-1')).code).toBe(0)
    const [request] = await requests()
    const removal = ['node-1', '--intent', 'remove', '--no-skip-drain']
    const wrong = await run('drain', ...removal)
    expect([wrong.code, wrong.out, onNode1('db')]).toEqual([1, '', [stays]])
    expect(wrong.err).toContain(
      `nodedisruption/${request} is in progress for node-1 and does not cover what was asked: intent is Reboot, asked for Remove; honourSkipDrain is true, asked for false`,
    )
    expect(wrong.err).toContain('cofferdam uncordon node-1')
    expect((await run('drain', ...removal, '--dry-run')).code).toBe(1)

    expect((await run('uncordon', 'node-1')).code).toBe(0)
    const right = await run('drain', ...removal)
    expect([right.code, onNode1('db')]).toEqual([0, []])
  })
})
