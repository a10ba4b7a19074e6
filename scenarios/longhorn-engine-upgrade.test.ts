import { surplusAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }
/** Doubles have names of chance: of six volumes some live replica sorts behind its double, whatever the seed. */
const solos = [1, 2, 3, 4, 5, 6].map((number) => ({
  name: `solo-${number}`,
  numberOfReplicas: 1,
  placedOn: ['node-1'],
  ...data,
}))
const trio = { name: 'trio', numberOfReplicas: 3, ...data }
const all = [...solos.map(({ name }) => name), 'trio']
const nextImage = 'longhornio/longhorn-engine:v1.13.0'

it('an engine upgrade doubles every replica for a while: with surplus copies to be removed, no live replica is deleted and no volume loses its data', async () => {
  fixture = await openLonghornFixture(
    { volumes: [...solos, trio] },
    { policy: 'block-if-contains-last-replica', annotations: { [surplusAnnotation]: 'remove' } },
  )
  fixture.operate()
  for (const name of all) await fixture.use(name, 'node-2')
  await fixture.seconds(10)
  for (const name of all) fixture.controls.writeData(name)
  const live = new Map(all.map((name) => [name, fixture.replicasOf(name).map(({ metadata }) => metadata.name)]))

  for (const name of all) await fixture.controls.upgradeEngine(name, nextImage)
  await fixture.seconds(3)
  for (const name of all) {
    const present = fixture.replicasOf(name)
    expect(present).toHaveLength(2 * (live.get(name)?.length ?? 0))
    expect(present.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(live.get(name) ?? []))
    const places = new Set(present.map(({ spec }) => `${spec?.diskID}/${spec?.dataDirectoryName}`))
    expect(places.size).toBe(live.get(name)?.length)
  }

  const isDone = (name: string) => fixture.volume(name).status?.currentImage === nextImage
  await fixture.until('all volumes run with the new image', () => all.every(isDone), 120)
  await fixture.until('the old replicas are gone', () => all.every((name) => copies(name) === wanted(name)), 60)
  expect(all.map((name) => fixture.robustnessOf(name))).toEqual(all.map(() => 'healthy'))
  expect(fixture.isIntact(...all)).toBe(true)
  expect(fixture.oracle.violations).toEqual([])
})

const wanted = (name: string) => (name === 'trio' ? 3 : 1)
const copies = (name: string) => fixture.replicasOf(name).length
