import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommand } from '@cofferdam/product/ceph/ceph-commands.ts'
import { between, oneOf } from '../story.ts'
import { type DeedPorts, type FaultKind, withCeph } from './deed-kind.ts'

export const pooled = 'replicapool'
/** Until the operator has read what is other than before, and what was let go before is back. */
const knownMs = 150_000
const againMs = 20_000
const mostTries = 50

export const run = ({ stage }: DeedPorts, command: CephCommand) => stage.ceph?.commands.run(command)

/** From now on groups belong elsewhere: what was let go a moment before is nobody's fault. */
export function meddle({ excuses }: DeedPorts): void {
  excuses.meddled('storage', knownMs)
  excuses.broke('the places of copies')
}

export function setPool(ports: DeedPorts, variable: string, val: string) {
  meddle(ports)
  return run(ports, { prefix: 'osd pool set', pool: pooled, var: variable, val })
}

/** Ceph may not answer at that moment, or may have lost its answer: who sets something back asks until it has. */
export function mendLater(ports: DeedPorts, mend: () => Promise<unknown> | undefined): void {
  const { clock } = ports.stage
  let isMended = false
  const insist = async () => {
    for (let tried = 0; tried < mostTries && !isMended; tried += 1) {
      try {
        await mend()
        isMended = true
      } catch {
        await sleep(clock, againMs)
      }
    }
  }
  ports.atHome(() => void insist())
  clock.after(between(ports.random, 60, 300) * 1_000, () => void insist())
}

/** An OSD, and a host with OSDs that it is not on. */
export function drawMove({ stage, random }: Pick<DeedPorts, 'stage' | 'random'>) {
  const osds = stage.description.ceph?.osds ?? []
  const moved = oneOf(random, osds)
  const hosts = [...new Set(osds.map(({ node }) => node))].filter((node) => node !== moved.node)
  return { moved, host: oneOf(random, hosts) }
}

/** What administrators of Ceph change while others drain. */
export const crushFaults: Readonly<Record<string, FaultKind>> = {
  'a pool gets another CRUSH rule': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { stage, random, tell, number } = ports
      const type = oneOf(
        random,
        ['osd', 'host', 'zone'].filter((each) => each !== stage.shape.domain),
      )
      const ofClass = random.next() < 0.3 ? { class: 'ssd' } : {}
      const name = `rule-${number}`
      tell(`${pooled} is to be spread over each ${type}`)
      mendLater(ports, () => setPool(ports, 'crush_rule', pooled))
      await run(ports, { prefix: 'osd crush rule create-replicated', name, root: 'default', type, ...ofClass })
      await setPool(ports, 'crush_rule', name)
    },
  },
  'a pool gets another number of copies': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { stage, random, tell } = ports
      const before = stage.description.ceph?.rados.find(({ name }) => name === pooled)
      if (before === undefined) return
      const size = oneOf(random, [before.size - 1, before.size + 1])
      tell(`${pooled} is to have ${size} copies`)
      mendLater(ports, async () => {
        await setPool(ports, 'size', String(before.size))
        await setPool(ports, 'min_size', String(before.minSize))
      })
      await setPool(ports, 'size', String(size))
    },
  },
  'an OSD is moved to another host of the CRUSH map': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { tell } = ports
      const { moved, host } = drawMove(ports)
      const move = (to: string) => {
        meddle(ports)
        return run(ports, { prefix: 'osd crush move', name: `osd.${moved.id}`, args: [`host=${to}`] })
      }
      tell(`osd.${moved.id} of ${moved.node} is moved to ${host} in the CRUSH map`)
      mendLater(ports, () => move(moved.node))
      await move(host)
    },
  },
}
