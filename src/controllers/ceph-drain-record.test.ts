import { describe, expect, it } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'

async function notesOf(stage: CephStage): Promise<{ type: string | undefined; domains: unknown }> {
  const { annotations = {} } = (await stage.record()).metadata
  const text = annotations['cofferdam.io/domains']
  return {
    type: annotations['cofferdam.io/failure-domain-type'],
    domains: text === undefined ? undefined : JSON.parse(text),
  }
}

describe('what is on record about each failure domain', () => {
  it('follows a drain: who may go, who waits, and for whom; and nothing once the cluster is handed back', async () => {
    const stage = await openCephStage()
    stage.operate()
    await stage.seconds(90)
    const answer = (zone: string, osds: number[], mayDrain: boolean, reason: string, explanation: string) => ({
      domain: zone,
      osds,
      nodes: [`node-${zone}`],
      mayDrain,
      reason,
      explanation,
    })
    const safe = (zone: string, osds: number[]) =>
      answer(zone, osds, true, 'SafeToDrain', `zone ${zone} may be drained now.`)
    expect(await notesOf(stage)).toEqual({
      type: 'zone',
      domains: { total: 3, held: 0, answers: [safe('x', [0, 1]), safe('y', [2, 3]), safe('z', [4, 5])] },
    })

    await stage.cordon('node-x')
    await stage.evictOsd(0)
    await stage.seconds(30)
    const waits = (zone: string, osds: number[]) =>
      answer(zone, osds, false, 'OtherDomainDown', `zone ${zone} waits until x is back and all data is clean.`)
    expect(await notesOf(stage)).toEqual({
      type: 'zone',
      domains: {
        total: 3,
        held: 2,
        answers: [
          answer('x', [0, 1], true, 'DomainReleased', 'zone x may be drained: it is the one chosen to be down.'),
          waits('y', [2, 3]),
          waits('z', [4, 5]),
        ],
      },
    })

    await stage.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await stage.seconds(10)
    expect(await notesOf(stage)).toEqual({ type: undefined, domains: undefined })
    await stage.close()
  })
})
