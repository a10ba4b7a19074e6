import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { buildSafetyIndex } from '../../../safety/safety-index.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { createRollingWindow } from './next-starts.ts'
import { planRounds } from './plan-rounds.ts'
import { randomCluster } from './testing/random-cluster.ts'

const map = exampleMap({
  pgs: [
    { pg: '1.0', acting: [0, 2, 4] },
    { pg: '1.1', acting: [1, 3, 5] },
  ],
})
const targets = [0, 1, 2, 3, 4, 5]
const hypergraph = buildSlackHypergraph({ map, targets })
const plan = {
  rounds: [
    [0, 1],
    [2, 3],
    [4, 5],
  ],
}

describe('an update without barrier', () => {
  it('starts what may be down together, and nothing more until one is back', () => {
    const window = createRollingWindow({ hypergraph, plan, maxParallel: 6 })
    expect([window.start(), window.start()]).toEqual([[0, 1], []])
  })

  it('starts the next in line as soon as the one that held it back has returned, while others still run', () => {
    const window = createRollingWindow({ hypergraph, plan, maxParallel: 6 })
    window.start()
    window.returned(1)
    expect([window.start(), window.runningCount, window.waitingCount]).toEqual([[3], 2, 3])
  })

  it('never runs more than the limit, and takes up those that only the limit held back', () => {
    const window = createRollingWindow({ hypergraph, plan, maxParallel: 1 })
    const first = window.start()
    window.returned(0)
    expect([first, window.start()]).toEqual([[0], [1]])
  })

  it('runs canary rounds one by one, however much room there is', () => {
    const ramped = { rounds: [[0], [1], [2, 3], [4, 5]] }
    const window = createRollingWindow({ hypergraph, plan: ramped, maxParallel: 6, barrierRounds: 2 })
    const first = window.start()
    window.returned(0)
    const second = window.start()
    const early = window.start()
    window.returned(1)
    expect([first, second, early, window.start()]).toEqual([[0], [1], [], [2, 3]])
  })

  it('takes no notice of a return that it did not wait for', () => {
    const window = createRollingWindow({ hypergraph, plan, maxParallel: 6 })
    window.start()
    window.returned(4)
    window.returned(99)
    window.returned(0)
    window.returned(0)
    expect([window.start(), window.runningCount]).toEqual([[2], 2])
  })

  it('on random clusters updates every OSD once, and what is down is always what the safety index allows', () => {
    const random = seededRandom(3)
    const problems: string[] = []
    for (let at = 0; at < 100; at += 1) {
      const cluster = randomCluster(() => random.next())
      const all = cluster.osds.map(({ id }) => id)
      const maxParallel = 1 + Math.floor(random.next() * all.length)
      const rounds = planRounds({ map: cluster, targets: all, maxParallel })
      const graph = buildSlackHypergraph({ map: cluster, targets: all })
      const window = createRollingWindow({ hypergraph: graph, plan: rounds, maxParallel })
      const index = buildSafetyIndex(cluster)
      const done: number[] = []
      let running = [...window.start()]
      while (running.length > 0) {
        if (index.mayStop(running).may !== 'yes') problems.push(`cluster ${at}: ${running.join()} must not be down`)
        if (running.length > maxParallel) problems.push(`cluster ${at}: ${running.length} at once`)
        const back = running[Math.floor(random.next() * running.length)] as number
        window.returned(back)
        done.push(back)
        running = [...running.filter((id) => id !== back), ...window.start()]
      }
      const wanted = rounds.rounds.flat().sort((a, b) => a - b)
      if (done.sort((a, b) => a - b).join() !== wanted.join()) problems.push(`cluster ${at}: not every OSD once`)
    }
    expect(problems).toEqual([])
  })
})
