import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { type Deeds, openDeeds, smallShape } from './testing/open-deeds.ts'

let deeds: Deeds
afterEach(() => deeds.stage.close())

it('a server that has fallen behind answers both replicas what was before, and then catches up', async () => {
  const behind: string[] = []
  deeds = await openDeeds(smallShape, (api) => ({
    ...api,
    list(type, query) {
      if (query?.resourceVersionMatch === 'Exact') behind.push(type.plural)
      return api.list(type, query)
    },
  }))
  const { clock, hazards } = deeds.stage
  await deeds.perform('a server that has fallen behind answers lists')
  await clock.advance(4_000)
  expect(behind).toEqual(expect.arrayContaining(['nodes', 'poddisruptionbudgets', 'nodedisruptions']))
  await clock.advance((hazards.elder?.untilMs ?? 0) - clock.now())
  behind.length = 0
  await clock.advance(60_000)
  expect(behind).toEqual([])
})

/** By which number the machine is off meanwhile, or runs on. */
const registrations: Readonly<Record<string, { readonly seed: number; readonly isSameBoot: boolean }>> = {
  'a node that registers again at once is another object of the same boot, open and without what was noted on it': {
    seed: 2,
    isSameBoot: true,
  },
  'a node whose machine was off meanwhile is another object of another boot': { seed: 1, isSameBoot: false },
}

it.each(Object.entries(registrations))('%s', async (_, { seed, isSameBoot }) => {
  deeds = await openDeeds()
  const { stage } = deeds
  for (const name of stage.shape.nodes)
    await stage.api.patch(
      nodes,
      { name },
      { type: 'merge', body: { metadata: { annotations: { note: 'a' } }, spec: { unschedulable: true } } },
    )
  const before = new Map((await stage.api.list(nodes)).items.map((node) => [node.metadata.name, node]))
  await deeds.perform('a node is deleted and registers again', seed)
  await stage.clock.advance(200_000)
  const others = (await stage.api.list(nodes)).items.filter(
    ({ metadata }) => before.get(metadata.name)?.metadata.uid !== metadata.uid,
  )
  expect(others).toHaveLength(1)
  const [{ metadata, spec, status }] = others as [(typeof others)[number]]
  expect(metadata.annotations?.['note']).toBeUndefined()
  expect(spec?.unschedulable).toBeUndefined()
  const bootID = before.get(metadata.name)?.status?.nodeInfo?.bootID
  expect(status?.nodeInfo?.bootID === bootID).toBe(isSameBoot)
  expect(stage.world.kubelet.isOn(metadata.name)).toBe(true)
})
