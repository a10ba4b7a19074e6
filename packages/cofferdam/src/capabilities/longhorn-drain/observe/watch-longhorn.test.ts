import { WatchInformers } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, expect, it } from 'vitest'
import { openSharedViews } from '../../../observe/shared-views.ts'
import { type OperatedLonghorn, openOperatedLonghorn } from '../testing/longhorn-operator.ts'
import { watchLonghorn } from './watch-longhorn.ts'

let fixture: OperatedLonghorn
let informers: WatchInformers
afterEach(async () => {
  informers.stop()
  await fixture.close()
})

it('the first question is answered too, and one right after a cordon, so that the first refusal of a drain gives the reason of explain', async () => {
  fixture = await openOperatedLonghorn(
    { settings: { 'node-drain-policy': 'block-for-eviction' }, volumes: [{ name: 'db', placedOn: ['node-1'] }] },
    { nodeCount: 2 },
  )
  const { api, clock } = fixture
  informers = new WatchInformers({ api, clock, random: seededRandom(1), onError() {} })
  const views = openSharedViews({ informers, log: quietLog })
  const longhorn = watchLonghorn({ informers, clock, log: quietLog, views, attendance: async () => ({}) })
  await fixture.cordon('node-1')
  expect(await leaving(longhorn)).toEqual(['node-1'])
  await fixture.cordon('node-2')
  await clock.advance(20)
  expect(await leaving(longhorn)).toEqual(['node-1', 'node-2'])
})

/** Which nodes are answered about, as far as that is known within a tenth of a second. */
async function leaving(longhorn: ReturnType<typeof watchLonghorn>): Promise<readonly string[] | undefined> {
  const asked = longhorn(new AbortController().signal)
  await fixture.clock.advance(100)
  return (await asked)?.decision.nodes.map(({ node }) => node)
}
