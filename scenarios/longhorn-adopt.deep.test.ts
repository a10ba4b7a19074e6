import {
  longhornInstanceManagers,
  longhornNamespace,
  longhornSettings,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { drainPolicyLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import {
  type GuidedLonghorn,
  openGuidedLonghorn,
} from '@cofferdam/product/capabilities/longhorn-drain/testing/longhorn-guided.ts'
import { writeOperatorLease } from '@cofferdam/product/cli/testing/write-operator-lease.ts'
import { dyingAfter } from '@cofferdam/product/operator/testing/dying-after.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { runHandOver } from './testing/run-hand-over.ts'

const subject = 'longhorn/longhorn-system'
const last = 'block-if-contains-last-replica'
const all = 'block-for-eviction'
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 8 * 1024 ** 2 }
const crawling = { rebuildBytesPerSecond: 512 * 1024 }

let stage: GuidedLonghorn
let stops: (() => Promise<void>)[] = []

afterEach(close)

async function close(): Promise<void> {
  for (const stop of stops) await stop()
  stops = []
  stage.stop()
}

/** A Longhorn whose drains are its own, with the volume attached. */
async function open(description: LonghornDescription = { volumes: [pair], timings: slowly }): Promise<void> {
  stage = await openGuidedLonghorn(description, { manage: null })
  await writeOperatorLease(stage)
  await stage.controls.attach('db', 'node-2')
  await stage.seconds(30)
}

function operate(api?: KubeApi): void {
  stops.push(stage.operate(api))
}

async function stopOperators(): Promise<void> {
  for (const stop of stops) await stop()
  stops = []
}

const run = (line: string, options: Parameters<typeof runHandOver>[2] = {}) =>
  runHandOver(stage, line.split(' '), options)

/** Nodes whose instance managers a budget of ours holds. */
async function holds(namespace = longhornNamespace): Promise<string[]> {
  const { items } = await stage.api.list(podDisruptionBudgets, { namespace })
  const ours = items.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam')
  expect(ours.every(({ metadata }) => metadata.name.startsWith('cofferdam-hold-instance-manager-'))).toBe(true)
  return ours.map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? '').sort()
}

/** Our annotations of the setting, without the prefix. */
async function notes(namespace = longhornNamespace): Promise<Record<string, string>> {
  const setting = await stage.api.get(longhornSettings, { namespace, name: 'node-drain-policy' })
  const ours = Object.entries(setting.metadata.annotations ?? {}).filter(([key]) => key.startsWith('cofferdam.io/'))
  return Object.fromEntries(ours.map(([key, value]) => [key.replace('cofferdam.io/', ''), value]))
}

describe('cofferdam adopt and release of a Longhorn', () => {
  it('show the plan, hand drains over, and hand them back as they were', async () => {
    await open()
    operate()
    await stage.seconds(10)
    const planned = await run(`adopt ${subject} --mode guide --policy ${all} --dry-run`)
    expect([planned.code, await notes()]).toEqual([0, {}])
    expect(planned.out).toContain('change    annotation cofferdam.io/manage: guide')
    expect(planned.out).toMatch(
      /preflight warning: 1 of 3 nodes would be held in a drain, 1 only until .* node-2: Volume/,
    )

    const adopted = await run(`adopt ${subject} --mode guide --policy ${all}`)
    expect([adopted.code, await notes()]).toEqual([0, { manage: 'guide', 'wanted-policy': all }])
    expect(adopted.out).toContain('0 moments without protection')
    expect((await run(`adopt ${subject} --mode guide`)).code).toBe(0)

    const released = await run(`release ${subject} -o json`)
    expect([released.code, await notes()]).toEqual([0, { 'wanted-policy': all }])
    expect(JSON.parse(released.out)).toMatchObject({
      object: subject,
      direction: 'release',
      to: 'Longhorn',
      outcome: 'done',
      changes: ['annotation cofferdam.io/manage removed'],
      pending: [],
      protection: { moments: [] },
    })
    expect(await stage.levers()).toEqual([last])
    expect(stage.written).toEqual([])
    expect((await run(`release ${subject}`)).code).toBe(0)
  })

  it('find Longhorn in any namespace; named in another, they say where it is and change nothing', async () => {
    await open({ namespace: 'storage', volumes: [pair], timings: slowly })
    operate()
    await stage.seconds(10)
    const elsewhere = await run(`adopt ${subject} --mode hold`)
    expect([elsewhere.code, await notes('storage')]).toEqual([3, {}])
    expect(elsewhere.out).toContain('cofferdam adopt longhorn/storage')

    const adopted = await run(`adopt longhorn/storage --mode hold --policy ${all}`)
    expect([adopted.code, await notes('storage')]).toEqual([0, { manage: 'hold', 'wanted-policy': all }])
    expect(await holds('storage')).not.toEqual([])

    const released = await run('release longhorn/storage')
    expect([released.code, await notes('storage')]).toEqual([0, { 'wanted-policy': all }])
    expect([await holds('storage'), await stage.levers()]).toEqual([[], [last]])
  })

  it('in the middle of a drain put the policy in force and wait for it; released, the node is let go with a warning', async () => {
    await open()
    operate()
    await stage.cordon('node-1')
    await stage.seconds(5)
    expect(await stage.levers()).toEqual([last])
    const adopted = await run(`adopt ${subject} --mode guide --policy ${all}`)
    expect([adopted.code, await stage.levers()]).toEqual([0, [`${all} restores ${last}`]])
    expect(adopted.out).toMatch(/drains +warning: in progress for node-1\. block-for-eviction is in force/)

    const planned = await run(`release ${subject} --dry-run`)
    expect(planned.out).toMatch(/drains +warning: .*Longhorn releases node-1 under block-if-contains-last-replica/)
    const released = await run(`release ${subject}`)
    expect([released.code, await stage.levers()]).toEqual([0, [last]])
    await stage.until(async () => (await stage.evict('node-1')) === 'going', 60)
    expect(stage.controls.verify('db').isIntact).toBe(true)
  })

  it('released while it has Longhorn empty a node, take that back: its replicas would go for good', async () => {
    const labels = { [drainPolicyLabel]: all }
    await open({ volumes: [{ ...pair, labels }], timings: slowly })
    operate()
    await stage.cordon('node-1')
    await stage.seconds(5)
    expect((await run(`adopt ${subject} --mode guide`)).code).toBe(0)
    expect(await stage.levers()).toEqual([
      last,
      expect.stringMatching(/^node-1 .*"default-disk":{"allowScheduling":true}/),
    ])
    await stage.seconds(10)
    const released = await run(`release ${subject}`)
    expect([released.code, await stage.levers()]).toEqual([0, [last]])
    expect(released.out).toMatch(/drains +warning: .*Replicas stop moving off node-1/)
  })

  it('with hold wait for the budgets of Cofferdam, hold through a drain what Longhorn lets go, and remove them when released', async () => {
    await open()
    operate()
    await stage.seconds(10)
    const adopted = await run(`adopt ${subject} --mode hold --policy ${all}`)
    expect([adopted.code, await holds()]).toEqual([0, ['node-1', 'node-2']])
    expect(adopted.out).toContain('0 moments without protection')
    await stage.cordon('node-1')
    await stage.seconds(3)
    expect([await stage.evict('node-1'), await stage.levers()]).toEqual(['refused', [`${all} restores ${last}`]])
    const released = await run(`release ${subject}`)
    expect([released.code, await holds(), await stage.levers()]).toEqual([0, [], [last]])
    expect(released.err).toMatch(/warning: drains: .*Longhorn releases node-1 under block-if-contains-last-replica/)
    await stage.until(async () => (await stage.evict('node-1')) === 'going', 60)
    expect(stage.controls.verify('db').isIntact).toBe(true)
  })

  it('with hold in the middle of a drain hold again what Longhorn has let go, and end the drain when the data has moved', async () => {
    await open()
    operate()
    await stage.cordon('node-1')
    await stage.seconds(40)
    expect((await run(`adopt ${subject} --mode hold --policy ${all}`)).code).toBe(0)
    expect(await holds()).toContain('node-1')
    expect(await stage.evict('node-1')).toBe('refused')
    await stage.until(async () => (await stage.evict('node-1')) === 'going', 300)
    expect([await stage.placesOf('db'), stage.controls.verify('db').isIntact]).toEqual([['node-2', 'node-3'], true])
    expect((await run(`release ${subject}`)).code).toBe(0)
    expect(await holds()).toEqual([])
  })

  it('go from hold to guide and back, and leave no budget of the other behind', async () => {
    await open()
    operate()
    expect((await run(`adopt ${subject} --mode hold --policy ${all}`)).code).toBe(0)
    expect(await holds()).toEqual(['node-1', 'node-2'])
    expect((await run(`adopt ${subject} --mode guide`)).code).toBe(0)
    expect(await holds()).toEqual([])
    expect((await run(`adopt ${subject} --mode hold`)).code).toBe(0)
    expect(await holds()).toEqual(['node-1', 'node-2'])
  })

  it('report an instance manager whose budget another client deletes meanwhile: its node could be emptied', async () => {
    await open()
    operate()
    const [manager] = await stage.list(longhornInstanceManagers)
    const key = { namespace: longhornNamespace, name: manager?.metadata.name ?? '' }
    let isDeleted = false
    const api = changedApi(stage.api, {
      async patch(type, target, patch, options) {
        const written = await stage.api.patch(type, target, patch, options)
        if (!isDeleted) await stage.api.delete(podDisruptionBudgets, key)
        isDeleted = true
        return written
      },
    })
    const ended = await runHandOver({ ...stage, api }, ['adopt', subject, '--mode', 'guide'])
    expect([ended.code, ended.out]).toEqual([1, expect.stringMatching(/gap .*instance-manager-\w+ on node-\d/)])
    expect(ended.out).toContain('done with a gap: instance managers had no budget in 1 moment.')
  })

  it('released while Cofferdam alone holds the last copy, warn of it first and end with exit code 1', async () => {
    await open({ volumes: [{ ...pair, numberOfReplicas: 1, placedOn: ['node-1'] }] })
    operate()
    expect((await run(`adopt ${subject} --mode hold`)).code).toBe(0)
    await stage.cordon('node-1')
    await stage.seconds(5)
    const [manager] = (await stage.list(longhornInstanceManagers)).filter(({ spec }) => spec?.nodeID === 'node-1')
    await stage.api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: manager?.metadata.name ?? '' })
    await stage.seconds(40)
    expect([await holds(), await stage.evict('node-1')]).toEqual([['node-1'], 'refused'])
    const released = await run(`release ${subject}`)
    expect([released.code, released.out]).toEqual([1, expect.stringMatching(/gap .* on node-1/)])
    expect(released.err).toMatch(
      /warning: drains: .*Longhorn has no budget for node-1, and makes none for a cordoned node/,
    )
  })

  it('change nothing where no operator would follow, and say what to do', async () => {
    stage = await openGuidedLonghorn({ volumes: [pair] }, { manage: null })
    const refused = await run(`adopt ${subject} --mode guide`)
    expect([refused.code, await notes()]).toEqual([3, {}])
    expect(refused.out).toContain('no operator runs')
    const elsewhere = await run('adopt longhorn/storage --mode guide')
    expect([elsewhere.code, elsewhere.out]).toEqual([3, expect.stringContaining(`cofferdam adopt ${subject}`)])
  })

  it('yield to another client that changes the setting at the same time, and plan again', async () => {
    await open()
    operate()
    let isFirst = true
    const api = changedApi(stage.api, {
      async patch(type, key, patch, options) {
        if (isFirst) {
          isFirst = false
          await stage.setting('node-drain-policy', 'always-allow')
        }
        return stage.api.patch(type, key, patch, options)
      },
    })
    const ended = await runHandOver({ ...stage, api }, ['adopt', subject, '--mode', 'guide'])
    expect([ended.code, await notes()]).toEqual([0, { manage: 'guide' }])
    expect(await stage.levers()).toEqual(['always-allow'])
  })

  it('that lose the API server at their write change nothing, and do it when repeated', async () => {
    await open()
    operate()
    const line = dyingAfter(stage.api, 0)
    const lost = await runHandOver({ ...stage, api: line.api }, ['adopt', subject, '--mode', 'hold', '--policy', all])
    expect([lost.code, await notes()]).toEqual([1, {}])
    expect((await run(`adopt ${subject} --mode hold --policy ${all}`)).code).toBe(0)
    expect(await holds()).toEqual(['node-1', 'node-2'])
  })

  it.each(['guide', 'hold'])(
    'in mode %s interrupted, or with an operator that dies after any of its writes, go on when repeated, and leave nothing behind',
    async (mode) => {
      const labels = { [drainPolicyLabel]: all }
      let deaths = 0
      for (let writes = 0; writes < 14; writes += 1) {
        await open({ volumes: [{ ...pair, labels }], timings: crawling })
        await stage.cordon('node-1')
        await stage.seconds(5)
        const line = dyingAfter(stage.api, writes)
        operate(line.api)
        const adopt = `adopt ${subject} --mode ${mode} --policy block-for-eviction-if-contains-last-replica`
        expect([0, 4]).toContain((await run(adopt, { seconds: 12 })).code)
        await stopOperators()
        operate()
        expect((await run(adopt)).code).toBe(0)
        expect((await stage.levers()).length).toBe(2)
        expect((await holds()).includes('node-1')).toBe(mode === 'hold')
        await stopOperators()
        const other = dyingAfter(stage.api, writes)
        operate(other.api)
        expect([0, 4]).toContain((await run(`release ${subject}`, { seconds: 12 })).code)
        await stopOperators()
        operate()
        expect([(await run(`release ${subject}`)).code, await stage.levers(), await holds()]).toEqual([0, [last], []])
        expect(stage.controls.verify('db').isIntact).toBe(true)
        deaths += [line, other].filter((each) => each.died()).length
        if (!line.died() && !other.died()) break
        await close()
      }
      expect(deaths).toBeGreaterThan(4)
    },
  )
})
