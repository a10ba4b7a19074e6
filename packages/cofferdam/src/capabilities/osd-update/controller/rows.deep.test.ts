import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

/** A calm operator that may update so many at a time: two is a whole zone. */
async function open(atOnce: string, change: (api: KubeApi) => KubeApi = (api) => api): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': atOnce } } })
  fixture.operate({ controllers: ['osd-update'], api: change(fixture.api) })
  await fixture.seconds(30)
}

/** Those that have the new image, by id. */
async function updated(): Promise<number[]> {
  const osds = (await fixture.osds()).filter((osd) => osdImage(osd) === newImage)
  return osds.map(({ metadata }) => Number(metadata.labels?.['ceph-osd-id'])).sort()
}

const until = (ids: readonly number[], seconds = 900) =>
  fixture.until(async () => (await updated()).join() === ids.join(), seconds)
const writes = () => fixture.written.filter((write) => write.startsWith('update deployments/'))
const onceEach = (ids: readonly number[]) => ids.map((id) => `update deployments/rook-ceph-osd-${id}`)
/** Whom Ceph was asked about together, each question once; before the first it is asked one that it has to refuse. */
const askedTogether = () => {
  const sets = fixture.questions
    .filter(({ prefix }) => prefix === 'osd ok-to-stop')
    .map(({ ids }) => (ids as readonly string[]).join())
  return [...new Set(sets)].slice(1)
}
const osdName = (id: number) => `rook-ceph-osd-${id}`
const patchOsd = (id: number, body: Parameters<KubeApi['patch']>[2]['body']) =>
  fixture.api.patch(deployments, { namespace, name: osdName(id) }, { type: 'merge', body } as Parameters<
    KubeApi['patch']
  >[2])
const all = [0, 1, 2, 3, 4, 5]
const away = () => new ApiError('InternalError', 'the database is away')

function brokenWatch(): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(away()) }) }
}

describe('who is updated together', () => {
  it('one at a time when no more is allowed, each once; no queue says who is next, but what the data can spare (42)', async () => {
    await open('1')
    await fixture.wantImage(newImage)
    expect(await until(all)).toBe(true)
    await fixture.seconds(60)
    expect([fixture.mostDown() <= 1, writes().sort(), askedTogether().sort(), fixture.broken]).toEqual([
      true,
      onceEach(all),
      ['0', '1', '2', '3', '4', '5'],
      [],
    ])
  })

  it('a whole failure domain goes at once where it may, the others after it, and Ceph is asked by explicit ids, so an OSD that is done is never stopped again (43, 44)', async () => {
    await open('2')
    await fixture.wantImage(newImage)
    expect(await until(all)).toBe(true)
    await fixture.seconds(60)
    const asked = askedTogether().sort()
    // The last domain may follow one by one, as those of the one before it are back.
    expect([asked.slice(0, 2), asked.join().split(',').map(Number), writes().sort(), fixture.broken]).toEqual([
      ['0,1', '2,3'],
      all,
      onceEach(all),
      [],
    ])
  })

  it('only Deployments that differ are written: three that have the image already cost no restart (59, 60)', async () => {
    fixture = await openOsdUpdateFixture()
    const containers = [{ name: 'osd', image: newImage }]
    for (const id of [1, 3, 5]) {
      const [had] = (await fixture.osds()).filter(({ metadata }) => metadata.name === osdName(id))
      const others = had?.spec.template.spec.containers.filter(({ name }) => name !== 'osd') ?? []
      const [osd] = had?.spec.template.spec.containers.filter(({ name }) => name === 'osd') ?? []
      await patchOsd(id, {
        spec: { template: { spec: { containers: [{ ...osd, ...containers[0] }, ...others] } } },
      } as never)
    }
    await fixture.seconds(60)
    await fixture.wantImage(newImage)
    fixture.operate({ controllers: ['osd-update'] })
    expect(await until(all)).toBe(true)
    await fixture.seconds(60)
    expect(writes().sort()).toEqual(onceEach([0, 2, 4]))
  })

  it('an OSD that Ceph knows and that has no Deployment is neither stopped nor made by an update (45)', async () => {
    await open('2')
    await fixture.ceph.commands.run({ prefix: 'osd out', ids: ['5'] })
    await fixture.seconds(120)
    await fixture.api.delete(deployments, { namespace, name: osdName(5) })
    await fixture.seconds(30)
    await fixture.wantImage(newImage)
    expect(await until([0, 1, 2, 3, 4])).toBe(true)
    await fixture.seconds(60)
    expect([askedTogether().filter((ids) => ids.split(',').includes('5')), (await fixture.osds()).length]).toEqual([
      [],
      5,
    ])
    expect((await fixture.told()).at(-1)).toBe('Normal OsdsUpToDate')
  })
})

describe('what holds an update back', () => {
  it('with upgradeOSDRequiresHealthyPGs nothing starts, nor is Ceph asked what may stop, while a placement group is unclean; clean again, all are updated (47, 48)', async () => {
    await open('2')
    await fixture.patchCluster({ spec: { upgradeOSDRequiresHealthyPGs: true } })
    await fixture.cordon('node-z')
    await fixture.evictOsd(5)
    await fixture.seconds(30)
    fixture.questions.length = 0
    await fixture.wantImage(newImage)
    await fixture.seconds(120)
    const before = [await updated(), askedTogether(), await fixture.told()]
    await fixture.cordon('node-z', false)
    expect(await until(all)).toBe(true)
    // Nor does the one that is down while its node is cordoned: it could not start again.
    expect(before).toEqual([[], [], ['Warning PgsNotClean']])
  })

  it("against Ceph's no nothing goes for a minute; with continueUpgradeAfterChecksEvenIfNotHealthy OSDs go then, one at a time and each with a warning (49)", async () => {
    await open('2')
    await fixture.patchCluster({ spec: { continueUpgradeAfterChecksEvenIfNotHealthy: true } })
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.wantImage(newImage)
    await fixture.seconds(55)
    expect([await updated(), (await fixture.told()).includes('Warning CephDisagrees')]).toEqual([[], true])
    expect(await until(all)).toBe(true)
    const warnings = (await fixture.told()).filter((one) => one === 'Warning UpdateChecksOverridden')
    expect([warnings.length, fixture.mostDown()]).toEqual([6, 1])
  })

  it("against Ceph's no nothing goes at all where no flag is set", async () => {
    await open('2')
    fixture.ceph.controls.lieOkToStop('no')
    await fixture.wantImage(newImage)
    await fixture.seconds(300)
    expect([await updated(), (await fixture.told()).includes('Warning CephDisagrees')]).toEqual([[], true])
  })

  it('while the Deployments cannot be listed nothing is asked and nothing is written, and the update begins when they can (55)', async () => {
    let isBroken = true
    await open('2', (api) =>
      changedApi(api, {
        watch: (type, options) =>
          isBroken && type.plural === deployments.plural ? brokenWatch() : api.watch(type, options),
        list: (type, options) =>
          isBroken && type.plural === deployments.plural ? Promise.reject(away()) : api.list(type, options),
      }),
    )
    await fixture.wantImage(newImage)
    await fixture.seconds(120)
    expect([fixture.asked, fixture.written, await updated()]).toEqual([[], [], []])
    isBroken = false
    expect(await until(all)).toBe(true)
  })
})
